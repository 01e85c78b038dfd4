package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.RequestGuard;
import io.stele.model.Bytes;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/**
 * Keeps the requests of a step of the master's loop from waiting for what only the next step does.
 * Safe for use by any number of threads.
 */
final class StepGuard implements RequestGuard {
  private final LoopSignal signal;

  @GuardedBy("this")
  private CompletableFuture<Void> overtaken = new CompletableFuture<>();

  @GuardedBy("this")
  private Predicate<Bytes> served = row -> true;

  /**
   * The guard before the first step: it lets all requests pass.
   *
   * @param signal wakes the loop when a step is overtaken
   */
  StepGuard(LoopSignal signal) {
    this.signal = signal;
  }

  /**
   * A server was lost, or a tablet of METADATA changed: the step in progress gives up its requests
   * to METADATA, which may wait for what only the next step does, and the loop looks soon.
   */
  void overtake() {
    overtaken().complete(null);
    signal.wakeUp();
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
}
