package io.stele.tablet;

import java.time.Duration;

/**
 * The settings of all tablets of a server.
 *
 * @param valueBytesMax largest value of one cell
 * @param operationsWindow a client silent this long is forgotten: its retries are then refused
 * @param mergeFilesMin a merging compaction takes at least this many files of similar size
 * @param mergeFilesMax ... and at most this many
 * @param filesMax with more files than this, a merging compaction takes unlike ones too
 * @param pageBytesMax a read that names no limit of its own ends at the row at which it has
 *     returned this much
 * @param replicasMin on how many DataNodes a new SSTable must be; fewer where a file has fewer
 */
public record TabletOptions(
    long valueBytesMax,
    Duration operationsWindow,
    int mergeFilesMin,
    int mergeFilesMax,
    int filesMax,
    long pageBytesMax,
    int replicasMin) {
  /** 100 MiB values, an hour, 4 to 10 files, 20 files, 4 MiB pages. */
  public static final TabletOptions DEFAULT =
      new TabletOptions(100L << 20, Duration.ofHours(1), 4, 10, 20, 4L << 20);

  /** Options for SSTables of which one replica will do. */
  public TabletOptions(
      long valueBytesMax,
      Duration operationsWindow,
      int mergeFilesMin,
      int mergeFilesMax,
      int filesMax,
      long pageBytesMax) {
    this(valueBytesMax, operationsWindow, mergeFilesMin, mergeFilesMax, filesMax, pageBytesMax, 1);
  }

  public TabletOptions {
    if (valueBytesMax < 1 || pageBytesMax < 1) {
      throw new IllegalArgumentException("sizes must be 1 byte or more");
    }
    if (mergeFilesMin < 2 || mergeFilesMax < mergeFilesMin || filesMax < mergeFilesMin) {
      throw new IllegalArgumentException(
          "a compaction must merge 2 files or more: "
              + mergeFilesMin
              + " to "
              + mergeFilesMax
              + ", at most "
              + filesMax
              + " in all");
    }
  }

  /** With another limit on values. */
  public TabletOptions withValueBytesMax(long bytes) {
    return new TabletOptions(
        bytes, operationsWindow, mergeFilesMin, mergeFilesMax, filesMax, pageBytesMax, replicasMin);
  }

  /** With another time after which silent clients are forgotten. */
  public TabletOptions withOperationsWindow(Duration window) {
    return new TabletOptions(
        valueBytesMax, window, mergeFilesMin, mergeFilesMax, filesMax, pageBytesMax, replicasMin);
  }

  /** With another number of replicas that a new SSTable must have. */
  public TabletOptions withReplicasMin(int replicas) {
    return new TabletOptions(
        valueBytesMax,
        operationsWindow,
        mergeFilesMin,
        mergeFilesMax,
        filesMax,
        pageBytesMax,
        replicas);
  }
}
