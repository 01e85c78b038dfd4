package io.stele.record;

import io.stele.model.RowRange;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/**
 * The effect on a tablet's file references of taking a job's files, deleting rows or erasing
 * families ({@link ErasedFiles}). To delete rows is to replace them by nothing.
 *
 * @param removed the references that are removed
 * @param added the references that are added
 * @param clearedAt the number of the operation that clears the rows which are replaced; 0 where no
 *     rows are cleared
 * @param countsAt the number of the file that the tablet writes to say how many versions counted
 *     before; 0 if it writes none for this alone
 * @param upTo the highest number that this takes
 */
public record FileReplacement(
    List<FileRef> removed, List<FileRef> added, long clearedAt, long countsAt, long upTo) {
  private static final Comparator<PendingFile> BY_WRITER =
      Comparator.comparingInt((PendingFile file) -> file.writer().length())
          .thenComparing(PendingFile::writer)
          .thenComparing(file -> file.file().path());

  public FileReplacement {
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
  public static FileReplacement of(
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
    FileReplacement cleared = cleared(rows, files, before, pins);
    List<FileRef> added = new ArrayList<>(cleared.added);
    written.sort(BY_WRITER);
    long upTo = cleared.upTo;
    String writer = "";
    for (PendingFile file : written) {
      upTo += file.writer().equals(writer) ? 0 : 1;
      writer = file.writer();
      added.add(file.numbered(upTo, nowMicros));
    }
    return new FileReplacement(cleared.removed, added, cleared.clearedAt, 0, upTo);
  }

  /**
   * Clears rows of {@code files}, as the operation above {@code before}, if there is anything to
   * clear.
   *
   * @param rows ranges that do not meet
   */
  public static FileReplacement cleared(
      List<RowRange> rows, List<FileRef> files, long before, List<Pin> pins) {
    List<RowRange> ascending = rows.stream().sorted(Comparator.comparing(RowRange::start)).toList();
    List<FileRef> removed = new ArrayList<>();
    List<FileRef> added = new ArrayList<>();
    for (FileRef file : files) {
      List<FileRef> parts = parts(file, ascending, before + 1, pins);
      if (!parts.equals(List.of(file))) {
        removed.add(file);
        added.addAll(parts);
      }
    }
    return removed.isEmpty()
        ? new FileReplacement(List.of(), List.of(), 0, 0, before)
        : new FileReplacement(removed, added, before + 1, 0, before + 1);
  }

  /** What is left of a file when ranges are cleared. */
  private static List<FileRef> parts(
      FileRef file, List<RowRange> ascending, long sequence, List<Pin> pins) {
    List<FileRef> parts = new ArrayList<>(List.of(file));
    for (RowRange range : ascending) {
      if (parts.isEmpty()) {
        break;
      }
      // No other part reaches as far as this range.
      FileRef last = parts.get(parts.size() - 1);
      ClearedFiles cleared = ClearedFiles.of(List.of(last), range, sequence, pins);
      if (!cleared.removed().isEmpty()) {
        parts.remove(parts.size() - 1);
        cleared.added().stream().filter(FileRef::isCleared).forEach(parts::add);
        cleared.added().stream().filter(part -> !part.isCleared()).forEach(parts::add);
      }
    }
    return parts;
  }

  /**
   * How many references a tablet has at most while {@code waiting} waits and when it is taken. Each
   * range that a job replaces divides every file that it meets, but those of the same job, in two,
   * and pins keep the part inside.
   */
  public static long entriesMax(List<FileRef> files, Collection<Pending> waiting, boolean hasPins) {
    List<Pending> replaced = waiting.stream().filter(one -> !(one instanceof PendingFile)).toList();
    long divisions = 0;
    for (FileRef file : files) {
      divisions += replaced.stream().filter(one -> meet(one, file.bounds())).count();
    }
    for (Pending file : waiting) {
      if (file instanceof PendingFile) {
        divisions +=
            replaced.stream()
                .filter(one -> !one.job().equals(file.job()) && meet(one, file.rows()))
                .count();
      }
    }
    return files.size() + waiting.size() + divisions * (hasPins ? 2 : 1);
  }

  /**
   * How large a change of the record is at most that takes {@code waiting}, or splits the tablet
   * while it waits or afterwards, at a row no longer than the bounds of its files. It grows as
   * {@link #entriesMax}.
   */
  public static RecordChangeSize sizeMax(
      RowRange extent, List<FileRef> files, Collection<Pending> waiting, boolean hasPins) {
    RecordChangeSize size = new RecordChangeSize(extent);
    List<Pending> replaced = waiting.stream().filter(one -> !(one instanceof PendingFile)).toList();
    for (FileRef file : files) {
      size.remove(file);
      size.put(file);
      cut(size, file, replaced, hasPins);
    }
    for (Pending one : waiting) {
      size.remove(one);
      if (one instanceof PendingFile pending) {
        size.put(pending.file());
        List<Pending> ofOthers =
            replaced.stream().filter(other -> !other.job().equals(one.job())).toList();
        cut(size, pending.file(), ofOthers, hasPins);
      } else {
        size.put(one);
      }
    }
    return size;
  }

  private static void cut(
      RecordChangeSize size, FileRef file, List<Pending> replaced, boolean hasPins) {
    for (Pending one : replaced) {
      if (meet(one, file.bounds())) {
        size.cut(file, one.rows(), hasPins);
      }
    }
  }

  private static boolean meet(Pending replaced, RowRange rows) {
    return replaced.rows().intersection(rows).isPresent();
  }

  /** The same, with a number above all others for a file of the tablet's own. */
  public FileReplacement withCounts() {
    return new FileReplacement(removed, added, clearedAt, upTo + 1, upTo + 1);
  }

  /** Whether it clears anything. */
  public boolean clears() {
    return clearedAt > 0;
  }
}
