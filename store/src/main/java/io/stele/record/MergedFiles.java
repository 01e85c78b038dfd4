package io.stele.record;

import java.util.ArrayList;
import java.util.List;

/**
 * The files of a tablet that was merged from two neighbours.
 *
 * <p>Each keeps its bounds and sequence numbers: of one row all files are from the same neighbour.
 * A file that both had stays as two references. The merged tablet's own time continues from the
 * later of both. So the operations that the other tablet remembers are shifted to that time, and
 * keep their ages.
 */
public final class MergedFiles {
  private MergedFiles() {}

  /** The files of both. */
  public static List<FileRef> of(List<FileRef> lower, List<FileRef> upper) {
    long lowerMicros = micros(lower);
    long upperMicros = micros(upper);
    long micros = Math.max(lowerMicros, upperMicros);
    List<FileRef> all = new ArrayList<>();
    lower.forEach(file -> all.add(file.merged(micros - lowerMicros)));
    upper.forEach(file -> all.add(file.merged(micros - upperMicros)));
    return all;
  }

  /** The tablet's own time, as far as its files tell. */
  private static long micros(List<FileRef> files) {
    return files.stream().mapToLong(FileRef::operationsMicros).max().orElse(0);
  }
}
