package io.stele.record;

import io.stele.model.RowRange;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * An SSTable that a job has written: it becomes the tablet's if the job commits, and is discarded
 * if it does not. Until then nobody reads it.
 *
 * <p>Its cells have no sequence numbers of their own ({@link #UNNUMBERED}): the tablet gives the
 * file one when it takes it, and all its cells have that.
 *
 * @param job whose file it is
 * @param file where it is, and which of its rows and families are the tablet's
 */
public record PendingFile(String job, FileRef file) implements Pending {
  /** The sequence number that cells have in the file: no tablet ever gives it to an operation. */
  public static final long UNNUMBERED = 0;

  private static final String DIRECTORY = "bulk/";

  public PendingFile {
    String directory = directory(job) + "/";
    if (!file.path().startsWith(directory) || leaves(file.path().substring(directory.length()))) {
      throw new IllegalArgumentException(
          "file " + file.path() + " is not in " + directory(job) + ", as those of job " + job);
    }
  }

  /**
   * Whether a path below a directory may lead out of it, or be written otherwise: nobody would see
   * that two such names are of one file.
   */
  private static boolean leaves(String path) {
    return Arrays.stream(path.split("/", -1))
        .anyMatch(part -> part.isEmpty() || part.equals(".") || part.equals(".."));
  }

  /** A job's file of {@code length} bytes that has {@code families} of {@code rows}. */
  public static FileRef unnumbered(
      String path, long length, RowRange rows, Collection<String> families) {
    return FileRef.builder(path, length, rows)
        .sequences(UNNUMBERED, UNNUMBERED)
        .families(families)
        .build();
  }

  /** Where a job's files are, relative to the root directory. */
  public static String directory(String job) {
    return DIRECTORY + job;
  }

  /** Whether a job has written the file: its cells have the number that its reference has. */
  public static boolean isOfJob(FileRef file) {
    return isOfJob(file.path());
  }

  /** Whether a job has written the file at that path, relative to the root directory. */
  public static boolean isOfJob(String path) {
    return path.startsWith(DIRECTORY);
  }

  /** What the files of one writer have in common: what it did to a row may be in several. */
  public String writer() {
    return file.path().substring(0, Math.max(0, file.path().lastIndexOf('-')));
  }

  /**
   * The changes of a job as they are taken when the table has {@code families}. A job deletes whole
   * rows, but its files name only the families that the table had when they were written. So of
   * each writer that has deleted rows, one file gets the families that none has.
   *
   * @param deletes whether a file has the deletion of a row
   */
  public static List<Pending> withFamilies(
      List<Pending> waiting, Set<String> families, Predicate<PendingFile> deletes) {
    Map<String, Set<String>> missing = new HashMap<>(); // By writer.
    for (Pending one : waiting) {
      if (one instanceof PendingFile file) {
        missing
            .computeIfAbsent(file.writer(), writer -> new TreeSet<>(families))
            .removeAll(file.file().families());
      }
    }
    List<Pending> whole = new ArrayList<>();
    for (Pending one : waiting) {
      if (one instanceof PendingFile file && deletes.test(file)) {
        Set<String> more = missing.getOrDefault(file.writer(), Set.of());
        missing.put(file.writer(), Set.of()); // The others need not have them too.
        whole.add(more.isEmpty() ? file : file.with(more));
      } else {
        whole.add(one);
      }
    }
    return whole;
  }

  private PendingFile with(Set<String> more) {
    Set<String> all = new TreeSet<>(file.families());
    all.addAll(more);
    return new PendingFile(job, unnumbered(file.path(), file.length(), file.bounds(), all));
  }

  /** The file as one of the tablet's, all of whose cells have a sequence number. */
  FileRef numbered(long sequence, long nowMicros) {
    return FileRef.builder(file.path(), file.length(), file.bounds())
        .sequences(sequence, sequence)
        .families(file.families())
        .collectedMicros(nowMicros)
        .build();
  }

  @Override
  public RowRange rows() {
    return file.bounds();
  }

  @Override
  public PendingFile clipped(RowRange other) {
    return new PendingFile(job, file.clipped(other));
  }
}
