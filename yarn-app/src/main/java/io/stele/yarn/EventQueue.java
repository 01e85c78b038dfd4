package io.stele.yarn;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.runtime.ProcessRuntime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The events that the ApplicationMaster's one thread must handle, in the order of their arrival.
 * Any number of threads may add events; one takes them.
 */
final class EventQueue {
  private final ProcessRuntime runtime;

  @GuardedBy("this")
  private final ArrayDeque<Runnable> events = new ArrayDeque<>();

  @GuardedBy("this")
  private CompletableFuture<Void> added = new CompletableFuture<>();

  EventQueue(ProcessRuntime runtime) {
    this.runtime = runtime;
  }

  /** Adds an event; does not wait. */
  void add(Runnable event) {
    CompletableFuture<Void> waiting;
    synchronized (this) {
      events.add(event);
      waiting = added;
    }
    waiting.complete(null);
  }

  /** The first event, if there is one. */
  synchronized Optional<Runnable> poll() {
    return Optional.ofNullable(events.poll());
  }

  /** The first event; waits for one, for {@code timeout} at most. */
  Optional<Runnable> poll(Duration timeout) throws InterruptedException {
    CompletableFuture<Void> waiting;
    synchronized (this) {
      if (!events.isEmpty()) {
        return Optional.of(events.remove());
      }
      added = new CompletableFuture<>();
      waiting = added;
    }
    runtime.await(waiting, timeout);
    return poll();
  }
}
