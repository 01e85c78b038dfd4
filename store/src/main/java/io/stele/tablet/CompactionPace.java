package io.stele.tablet;

import java.io.IOException;

/**
 * Limits how fast merging and major compactions run, so that they hardly slow reads and writes.
 * Safe for use by any number of threads.
 */
@FunctionalInterface
public interface CompactionPace {
  /** The pace of compactions that run as fast as they can. */
  CompactionPace UNLIMITED = bytes -> {};

  /**
   * Returns when a compaction that has read {@code bytes} more may continue.
   *
   * @throws IOException if it should not: the server stops
   */
  void passed(long bytes) throws IOException;
}
