package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.model.RowRange;
import io.stele.runtime.ProcessRuntime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Wakes the master's loop, and collects what it must read then. Safe for use by any number of
 * threads.
 */
final class LoopSignal {
  private static final int RANGES_MAX = 1000;

  private final ProcessRuntime runtime;

  @GuardedBy("this")
  private CompletableFuture<Void> called = new CompletableFuture<>();

  @GuardedBy("this")
  private boolean all = true;

  @GuardedBy("this")
  private final Set<RowRange> ranges = new LinkedHashSet<>();

  LoopSignal(ProcessRuntime runtime) {
    this.runtime = runtime;
  }

  /** Something may have changed: look soon. */
  void wakeUp() {
    CompletableFuture<Void> waiting;
    synchronized (this) {
      waiting = called;
    }
    waiting.complete(null);
  }

  /** Any record may have changed: read all of them, soon. */
  void rereadAllSoon() {
    synchronized (this) {
      all = true;
    }
    wakeUp();
  }

  /** Records in {@code rows} of METADATA may have changed: read them, soon. */
  void rereadSoon(RowRange rows) {
    synchronized (this) {
      if (ranges.size() < RANGES_MAX) {
        ranges.add(rows);
      } else {
        all = true;
      }
    }
    wakeUp();
  }

  /** Whether all records must be read; the caller must then read them. */
  synchronized boolean takeAll() {
    boolean taken = all;
    all = false;
    return taken;
  }

  /** The rows that must be read; the caller must then read them. */
  synchronized List<RowRange> takeRanges() {
    List<RowRange> taken = new ArrayList<>(ranges);
    ranges.clear();
    return taken;
  }

  /** Waits until called, or until {@code pause} has passed. For the one thread of the loop. */
  void await(Duration pause) throws InterruptedException {
    CompletableFuture<Void> waiting;
    synchronized (this) {
      waiting = called;
    }
    if (runtime.await(waiting, pause)) {
      synchronized (this) {
        called = new CompletableFuture<>();
      }
    }
  }
}
