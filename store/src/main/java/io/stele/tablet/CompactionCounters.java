package io.stele.tablet;

import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the compactions of the tablets that a server serves, or has served, and what they wrote.
 * The counts only grow. Safe for use by any number of threads.
 */
public final class CompactionCounters {
  private final Counter minor = new Counter();
  private final Counter rewriting = new Counter();

  /** Minor compactions. */
  public Counter minor() {
    return minor;
  }

  /** Merging and major compactions, which read SSTables to write new ones. */
  public Counter rewriting() {
    return rewriting;
  }

  /** Counts one sort. */
  public static final class Counter {
    private final LongAdder compactions = new LongAdder();
    private final LongAdder bytes = new LongAdder();

    private Counter() {}

    void add(List<TabletFile> written) {
      compactions.increment();
      bytes.add(written.stream().mapToLong(file -> file.ref().length()).sum());
    }

    /** How many succeeded. */
    public long compactions() {
      return compactions.sum();
    }

    /** How long the SSTables are that they wrote, in bytes. */
    public long bytes() {
      return bytes.sum();
    }
  }
}
