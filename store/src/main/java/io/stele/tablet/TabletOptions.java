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
 */
public record TabletOptions(
    long valueBytesMax,
    Duration operationsWindow,
    int mergeFilesMin,
    int mergeFilesMax,
    int filesMax,
    long pageBytesMax) {
  /** 100 MiB values, an hour, 4 to 10 files, 20 files, 4 MiB pages. */
  public static final TabletOptions DEFAULT =
      new TabletOptions(100L << 20, Duration.ofHours(1), 4, 10, 20, 4L << 20);

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
        bytes, operationsWindow, mergeFilesMin, mergeFilesMax, filesMax, pageBytesMax);
  }

  /** With another time after which silent clients are forgotten. */
  public TabletOptions withOperationsWindow(Duration window) {
    return new TabletOptions(
        valueBytesMax, window, mergeFilesMin, mergeFilesMax, filesMax, pageBytesMax);
  }
}
