package io.stele.tablet;

import java.io.IOException;

/**
 * How fast merging and major compactions may go, so that those who read and write meanwhile hardly
 * notice. Safe for use by any number of threads.
 */
@FunctionalInterface
public interface CompactionPace {
  /** As fast as they can. */
  CompactionPace UNLIMITED = bytes -> {};

  /**
   * Returns when a compaction that has gone through {@code bytes} more may go on.
   *
   * @throws IOException where it should not: the server stops
   */
  void passed(long bytes) throws IOException;
}
