package io.stele.tablet;

import java.time.Duration;

/**
 * The settings of all tablets of a server.
 *
 * @param valueBytesMax the largest value of one cell
 * @param operationsWindow a client silent for this long is forgotten: its retries are then refused
 * @param merging which files merging compactions take
 * @param page where a page of a read ends
 * @param replicasMin on how many DataNodes a new SSTable must be; if files here have fewer
 *     replicas, that number
 */
public record TabletOptions(
    long valueBytesMax, Duration operationsWindow, Merging merging, Page page, int replicasMin) {
  /** 100 MiB values, an hour, 4 to 10 files, 20 files, pages of 4 MiB or 100 ms, one replica. */
  public static final TabletOptions DEFAULT =
      new TabletOptions(
          100L << 20,
          Duration.ofHours(1),
          new Merging(4, 10, 20),
          new Page(4L << 20, Duration.ofMillis(100)),
          1);

  /**
   * The files that merging compactions take.
   *
   * @param filesMin at least this many files of similar size
   * @param filesMax at most this many
   * @param stackMax with more files than this in a tablet, files of different sizes too
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

  /**
   * The end of a page of a read.
   *
   * @param bytesMax the page ends at the row at which it has this much, if the read names no limit
   * @param timeMax the page ends at the row at which this time has passed, so that others get the
   *     handler
   */
  public record Page(long bytesMax, Duration timeMax) {
    public Page {
      if (bytesMax < 1) {
        throw new IllegalArgumentException("a page must have 1 byte or more: " + bytesMax);
      }
    }
  }

  public TabletOptions {
    if (valueBytesMax < 1) {
      throw new IllegalArgumentException("a value must have 1 byte or more: " + valueBytesMax);
    }
  }

  /** These options, with another limit on values. */
  public TabletOptions withValueBytesMax(long bytes) {
    return new TabletOptions(bytes, operationsWindow, merging, page, replicasMin);
  }

  /** These options, with another time after which silent clients are forgotten. */
  public TabletOptions withOperationsWindow(Duration window) {
    return new TabletOptions(valueBytesMax, window, merging, page, replicasMin);
  }

  /** These options, with other page limits. */
  public TabletOptions withPage(Page other) {
    return new TabletOptions(valueBytesMax, operationsWindow, merging, other, replicasMin);
  }

  /** These options, with another number of replicas that a new SSTable must have. */
  public TabletOptions withReplicasMin(int replicas) {
    return new TabletOptions(valueBytesMax, operationsWindow, merging, page, replicas);
  }
}
