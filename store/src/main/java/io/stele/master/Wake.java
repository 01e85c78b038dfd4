package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.RequestGuard;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.runtime.ProcessRuntime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/**
 * Wakes the master's loop, and keeps its requests from waiting for what only its next step does.
 * Safe for use by any number of threads.
 */
final class Wake implements RequestGuard {
  private static final int RANGES_MAX = 1000;

  private final ProcessRuntime runtime;

  @GuardedBy("this")
  private CompletableFuture<Void> called = new CompletableFuture<>();

  @GuardedBy("this")
  private CompletableFuture<Void> overtaken = new CompletableFuture<>();

  @GuardedBy("this")
  private Predicate<Bytes> served = row -> true;

  @GuardedBy("this")
  private boolean all = true;

  @GuardedBy("this")
  private final Set<RowRange> ranges = new LinkedHashSet<>();

  Wake(ProcessRuntime runtime) {
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

  /**
   * A server was lost, or a tablet of METADATA changed: the step under way gives up its requests to
   * METADATA, which may wait for what only the next step does, and the loop looks soon.
   */
  void overtake() {
    overtaken().complete(null);
    wakeUp();
  }

  /** The step that begins now sees everything that has happened so far. */
  synchronized CompletableFuture<Void> beginStep() {
    if (overtaken.isDone()) {
      overtaken = new CompletableFuture<>();
    }
    return overtaken;
  }

  /** This much of METADATA can be read and written in the step that has begun. */
  synchronized void reaches(ServedMetadata metadata) {
    served = row -> metadata.home(row).isPresent();
  }

  @Override
  public synchronized boolean isServed(Bytes row) {
    return served.test(row);
  }

  /** Completes when the step that began last should be given up. */
  @Override
  public synchronized CompletableFuture<Void> overtaken() {
    return overtaken;
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
