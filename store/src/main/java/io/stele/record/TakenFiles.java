package io.stele.record;

import io.stele.model.RowRange;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/**
 * What becomes of a tablet's files when it takes those of a job that has committed, when rows of it
 * are cleared, which is to replace them by nothing, or when families are erased ({@link
 * ErasedFiles}).
 *
 * @param removed the references that are removed
 * @param added the references that are added
 * @param clearedAt the number of the operation that clears the rows which are replaced; 0 where no
 *     rows are cleared
 * @param upTo the highest number that this takes
 */
public record TakenFiles(List<FileRef> removed, List<FileRef> added, long clearedAt, long upTo) {
  private static final Comparator<PendingFile> BY_WRITER =
      Comparator.comparingInt((PendingFile file) -> file.writer().length())
          .thenComparing(PendingFile::writer)
          .thenComparing(file -> file.file().path());

  public TakenFiles {
    removed = List.copyOf(removed);
    added = List.copyOf(added);
  }

  /**
   * Takes what waits for a job. Rows are cleared first; above that the files of each writer get a
   * number, in the order of their names, so that those of two may have cells of the same columns. A
   * longer name is the later one: its task's number has more digits than the names reserve.
   *
   * @param waiting all that waits for the job
   * @param files the tablet's, which have all that was written to it
   * @param before the highest sequence number by now
   * @param pins the tablet's: they still see what they saw
   * @param nowMicros the tablet's own time
   */
  public static TakenFiles of(
      List<Pending> waiting, List<FileRef> files, long before, List<Pin> pins, long nowMicros) {
    List<RowRange> rows = new ArrayList<>();
    List<PendingFile> written = new ArrayList<>();
    for (Pending one : waiting) {
      if (one instanceof PendingFile file) {
        written.add(file);
      } else {
        rows.add(one.rows());
      }
    }
    TakenFiles cleared = cleared(rows, files, before, pins);
    List<FileRef> added = new ArrayList<>(cleared.added);
    written.sort(BY_WRITER);
    long upTo = cleared.upTo;
    String writer = "";
    for (PendingFile file : written) {
      upTo += file.writer().equals(writer) ? 0 : 1;
      writer = file.writer();
      added.add(file.numbered(upTo, nowMicros));
    }
    return new TakenFiles(cleared.removed, added, cleared.clearedAt, upTo);
  }

  /**
   * Clears rows of {@code files}, as the operation above {@code before}, if there is anything to
   * clear.
   *
   * @param rows ranges that do not meet
   */
  public static TakenFiles cleared(
      List<RowRange> rows, List<FileRef> files, long before, List<Pin> pins) {
    List<FileRef> left = new ArrayList<>(files);
    for (RowRange range : rows) {
      ClearedFiles cleared = ClearedFiles.of(left, range, before + 1, pins);
      left.removeAll(cleared.removed());
      left.addAll(cleared.added());
    }
    List<FileRef> removed = new ArrayList<>(files);
    removed.removeAll(left);
    left.removeAll(files);
    return removed.isEmpty()
        ? new TakenFiles(List.of(), List.of(), 0, before)
        : new TakenFiles(removed, left, before + 1, before + 1);
  }

  /**
   * How many references a tablet has at most while {@code waiting} waits and when it is taken. Each
   * range that is replaced divides every file that it meets in two, and pins keep the part inside.
   */
  public static long entriesMax(List<FileRef> files, Collection<Pending> waiting, boolean hasPins) {
    List<FileRef> all = new ArrayList<>(files);
    List<RowRange> replaced = new ArrayList<>();
    for (Pending one : waiting) {
      if (one instanceof PendingFile file) {
        all.add(file.file());
      } else {
        replaced.add(one.rows());
      }
    }
    long divisions = 0;
    for (FileRef file : all) {
      for (RowRange range : replaced) {
        divisions += file.bounds().intersection(range).isPresent() ? 1 : 0;
      }
    }
    return all.size() + replaced.size() + divisions * (hasPins ? 2 : 1);
  }

  /** Whether it clears anything. */
  public boolean clears() {
    return clearedAt > 0;
  }
}
