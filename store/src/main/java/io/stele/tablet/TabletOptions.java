package io.stele.tablet;

import java.time.Duration;

/**
 * The settings of all tablets of a server.
 *
 * @param valueBytesMax largest value of one cell
 * @param operationsWindow a client silent this long is forgotten: its retries are then refused
 * @param merging what merging compactions take
 * @param pageBytesMax a read that names no limit of its own ends at the row at which it has
 *     returned this much
 * @param replicasMin on how many DataNodes a new SSTable must be; fewer where a file has fewer
 */
public record TabletOptions(
    long valueBytesMax,
    Duration operationsWindow,
    Merging merging,
    long pageBytesMax,
    int replicasMin) {
  /** 100 MiB values, an hour, 4 to 10 files, 20 files, 4 MiB pages. */
  public static final TabletOptions DEFAULT =
      new TabletOptions(100L << 20, Duration.ofHours(1), 4, 10, 20, 4L << 20);

  /**
   * What merging compactions take.
   *
   * @param filesMin at least this many files of similar size
   * @param filesMax at most this many
   * @param stackMax with more files than this in a tablet, they take unlike ones too
   */
  public record Merging(int filesMin, int filesMax, int stackMax) {
    public Merging {
      if (filesMin < 2 || filesMax < filesMin || stackMax < filesMin) {
        throw new IllegalArgumentException(
            "a compaction must merge 2 files or more: "
                + filesMin
                + " to "
                + filesMax
                + ", at most "
                + stackMax
                + " in all");
      }
    }
  }

  /** Options for SSTables of which one replica will do. */
  public TabletOptions(
      long valueBytesMax,
      Duration operationsWindow,
      int mergeFilesMin,
      int mergeFilesMax,
      int filesMax,
      long pageBytesMax) {
    this(
        valueBytesMax,
        operationsWindow,
        new Merging(mergeFilesMin, mergeFilesMax, filesMax),
        pageBytesMax,
        1);
  }

  public TabletOptions {
    if (valueBytesMax < 1 || pageBytesMax < 1) {
      throw new IllegalArgumentException("sizes must be 1 byte or more");
    }
  }

  /** With another limit on values. */
  public TabletOptions withValueBytesMax(long bytes) {
    return new TabletOptions(bytes, operationsWindow, merging, pageBytesMax, replicasMin);
  }

  /** With another time after which silent clients are forgotten. */
  public TabletOptions withOperationsWindow(Duration window) {
    return new TabletOptions(valueBytesMax, window, merging, pageBytesMax, replicasMin);
  }

  /** With another number of replicas that a new SSTable must have. */
  public TabletOptions withReplicasMin(int replicas) {
    return new TabletOptions(valueBytesMax, operationsWindow, merging, pageBytesMax, replicas);
  }
}
