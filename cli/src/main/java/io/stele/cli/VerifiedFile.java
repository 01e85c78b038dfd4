package io.stele.cli;

import io.stele.files.NotDurableException;
import io.stele.files.WriteLeases;
import io.stele.log.LogInspector;
import io.stele.model.SteleException;
import io.stele.runtime.Futures;
import io.stele.sstable.SSTableDump;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.AccessControlException;

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
    /** An SSTable that is being written: it is neither whole nor as long as it will be. */
    UNFINISHED("unfinished"),
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
   * @throws SteleException RETRY_LATER if no file can be read now
   */
  static VerifiedFile of(FileSystem fs, Path file, boolean log) throws IOException {
    try {
      FileStatus before = fs.getFileStatus(file);
      VerifiedFile found = check(fs, file, log);
      boolean faulty = found.outcome() == Outcome.DAMAGED || found.outcome() == Outcome.UNREADABLE;
      return faulty && !log && isBeingWritten(fs, before) ? without(Outcome.UNFINISHED) : found;
    } catch (FileNotFoundException e) {
      return without(Outcome.GONE);
    } catch (IOException e) {
      requireOtherFiles(fs, file, e);
      return unreadable(e);
    }
  }

  private static VerifiedFile check(FileSystem fs, Path file, boolean log) throws IOException {
    try {
      return log ? ofLog(LogInspector.verify(fs, file)) : ofSSTable(SSTableDump.verify(fs, file));
    } catch (FileNotFoundException e) {
      throw e;
    } catch (SteleException e) {
      return unreadable(e);
    } catch (IOException e) {
      requireOtherFiles(fs, file, e);
      return unreadable(e);
    }
  }

  /**
   * Whether somebody writes a file, or has since {@code before}. Until it is closed, HDFS gives its
   * length without its last block.
   *
   * @throws FileNotFoundException if it was deleted
   */
  static boolean isBeingWritten(FileSystem fs, FileStatus before) throws IOException {
    Path file = before.getPath();
    FileStatus now = fs.getFileStatus(file);
    if (now.getLen() != before.getLen()
        || now.getModificationTime() != before.getModificationTime()) {
      return true;
    }
    try {
      return !WriteLeases.in(fs, file.getParent()).isClosed(file.getName());
    } catch (NotDurableException e) {
      return false; // It has no such leases: this is not where a cluster writes.
    }
  }

  /** Ends the check if what failed for a file would fail for all others, too. */
  private static void requireOtherFiles(FileSystem fs, Path file, IOException failure)
      throws IOException {
    if (Futures.isInterruption(failure)) {
      throw failure;
    }
    try {
      fs.getFileStatus(file.getParent());
      if (fs.getStatus(file.getParent()).getCapacity() == 0) {
        throw new SteleException(
            SteleException.Code.RETRY_LATER,
            "no DataNode is alive: no file of " + fs.getUri() + " can be read now",
            failure);
      }
    } catch (FileNotFoundException | AccessControlException e) {
      // That is an answer.
    } catch (IOException e) {
      if (Futures.isInterruption(e)) {
        throw e;
      }
      throw new SteleException(
          SteleException.Code.RETRY_LATER, fs.getUri() + " does not answer: " + text(e), e);
    }
  }

  private static VerifiedFile without(Outcome outcome) {
    return new VerifiedFile(outcome, "", List.of());
  }

  private static VerifiedFile unreadable(Exception failure) {
    return new VerifiedFile(Outcome.UNREADABLE, "", List.of(text(failure)));
  }

  private static String text(Exception failure) {
    String why = failure.getMessage() == null ? failure.toString() : failure.getMessage();
    return why.lines().findFirst().orElse(why);
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
