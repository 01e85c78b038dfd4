package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.runtime.ProcessRuntime;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Wakes the master's loop. Safe for use by any number of threads. */
final class Wake {
  private final ProcessRuntime runtime;

  @GuardedBy("this")
  private CompletableFuture<Void> called = new CompletableFuture<>();

  @GuardedBy("this")
  private CompletableFuture<Void> nextLoss = new CompletableFuture<>();

  @GuardedBy("this")
  private boolean all = true;

  Wake(ProcessRuntime runtime) {
    this.runtime = runtime;
  }

  /** Something may have changed: look soon. */
  void look() {
    CompletableFuture<Void> waiting;
    synchronized (this) {
      waiting = called;
    }
    waiting.complete(null);
  }

  /** Tables or servers changed: read all records, soon. */
  void lookAtAll() {
    synchronized (this) {
      all = true;
    }
    look();
  }

  /** A server is lost: reads that may wait for it are given up, and the loop looks soon. */
  void serverLost() {
    CompletableFuture<Void> loss;
    synchronized (this) {
      loss = nextLoss;
      nextLoss = new CompletableFuture<>();
    }
    loss.complete(null);
    look();
  }

  /** Completes when the next server is lost. */
  synchronized CompletableFuture<Void> nextLoss() {
    return nextLoss;
  }

  /** Whether all records must be read; the caller must then read them. */
  synchronized boolean takeAll() {
    boolean taken = all;
    all = false;
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
