package io.stele.cli;

import io.stele.log.LogInspector;
import io.stele.model.SteleException;
import io.stele.runtime.Futures;
import io.stele.sstable.SSTableDump;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * What came of the check of one file. A file that cannot be checked must not hide what others are
 * like.
 *
 * @param note about a sound file; may be empty
 * @param problems what is wrong with it
 */
record VerifiedFile(Outcome outcome, String note, List<String> problems) {
  /** How a file is. */
  enum Outcome {
    SOUND("sound"),
    DAMAGED("DAMAGED"),
    /** Not, or not wholly: a block is missing, or it is of a newer version. */
    UNREADABLE("UNREADABLE"),
    /** Deleted since it was listed: compactions and the master's sweep delete files at any time. */
    GONE("gone");

    private final String text;

    Outcome(String text) {
      this.text = text;
    }

    @Override
    public String toString() {
      return text;
    }
  }

  /**
   * Checks every checksum of a file.
   *
   * @param log whether it is a segment of a commit log; otherwise it is an SSTable
   * @throws IOException only if the thread was interrupted
   */
  static VerifiedFile of(FileSystem fs, Path file, boolean log) throws IOException {
    try {
      return log ? ofLog(LogInspector.verify(fs, file)) : ofSSTable(SSTableDump.verify(fs, file));
    } catch (FileNotFoundException e) {
      return new VerifiedFile(Outcome.GONE, "", List.of());
    } catch (SteleException e) {
      return unreadable(e);
    } catch (IOException e) {
      if (Futures.isInterruption(e)) {
        throw e;
      }
      return unreadable(e);
    }
  }

  private static VerifiedFile unreadable(Exception failure) {
    String why = failure.getMessage() == null ? failure.toString() : failure.getMessage();
    return new VerifiedFile(Outcome.UNREADABLE, "", List.of(why.lines().findFirst().orElse(why)));
  }

  private static VerifiedFile ofSSTable(List<SSTableDump.Problem> problems) {
    return of(
        "",
        problems.stream()
            .map(problem -> "offset " + problem.offset() + ": " + problem.detail())
            .toList());
  }

  private static VerifiedFile ofLog(LogInspector.Report report) {
    return of(
        ", "
            + report.records()
            + " records"
            + (report.tornBytes() > 0 ? ", torn tail of " + report.tornBytes() + " bytes" : ""),
        report.damage().stream()
            .map(damage -> "offset " + damage.offset() + ": " + damage.getMessage())
            .toList());
  }

  private static VerifiedFile of(String note, List<String> problems) {
    return new VerifiedFile(problems.isEmpty() ? Outcome.SOUND : Outcome.DAMAGED, note, problems);
  }
}
