package io.stele.runtime;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;

/**
 * A runtime that a test drives by hand, on its own thread: time passes and timers run when the test
 * says so, as do tasks and the work of pools. Whoever would have to wait fails with an {@link
 * IllegalStateException}, but for {@link #sleep}, which lets the time pass, and a wait with a
 * limit, which first does the work.
 */
public final class ManualRuntime implements ProcessRuntime {
  private final RandomGenerator random = new Random(1);
  private final List<Later> timers = new ArrayList<>();
  private final Queue<Runnable> work = new ArrayDeque<>();
  private long nanos;

  private record Later(long atNanos, Runnable work) {}

  @Override
  public long nanoTime() {
    return nanos;
  }

  @Override
  public InstantSource wallClock() {
    return () -> Instant.EPOCH.plusNanos(nanos);
  }

  @Override
  public RandomGenerator random() {
    return random;
  }

  /** Lets time pass, and runs the timers that are then due. */
  public void pass(Duration time) {
    long end = nanos + time.toNanos();
    while (true) {
      Later next = timers.stream().min(Comparator.comparingLong(Later::atNanos)).orElse(null);
      if (next == null || next.atNanos() > end) {
        nanos = end;
        return;
      }
      timers.remove(next);
      nanos = Math.max(nanos, next.atNanos());
      next.work().run();
    }
  }

  /** How long from now the timers are, in the order they were set. */
  public List<Duration> timers() {
    return timers.stream().map(timer -> Duration.ofNanos(timer.atNanos() - nanos)).toList();
  }

  /** Runs all that tasks and pools have to do, and what comes of it. */
  public void work() {
    for (Runnable next = work.poll(); next != null; next = work.poll()) {
      next.run();
    }
  }

  /** How much tasks and pools have to do. */
  public int waiting() {
    return work.size();
  }

  @Override
  public Task start(String name, Runnable task) {
    CompletableFuture<Void> ended = new CompletableFuture<>();
    work.add(
        () -> {
          task.run();
          ended.complete(null);
        });
    return new Task() {
      @Override
      public void interrupt() {}

      @Override
      public void clearInterrupt() {}

      @Override
      public boolean isCurrent() {
        return false;
      }

      @Override
      public CompletableFuture<Void> ended() {
        return ended;
      }
    };
  }

  @Override
  public WorkerPool pool(String name, int threadsMax) {
    return new WorkerPool() {
      private boolean closed;

      @Override
      public void execute(Runnable next) {
        if (closed) {
          throw new RejectedExecutionException("closed");
        }
        work.add(next);
      }

      @Override
      public void close() {
        closed = true;
      }
    };
  }

  @Override
  public Timer after(Duration delay, Runnable later) {
    Later timer = new Later(nanos + delay.toNanos(), later);
    timers.add(timer);
    return () -> timers.remove(timer);
  }

  @Override
  public void sleep(Duration duration) {
    pass(duration);
  }

  @Override
  public <T> T await(CompletableFuture<T> future) throws InterruptedException, ExecutionException {
    if (!future.isDone()) {
      throw new IllegalStateException("would wait for " + future);
    }
    return future.get();
  }

  @Override
  public boolean await(CompletableFuture<?> future, Duration timeout) {
    if (!future.isDone()) {
      work();
    }
    if (!future.isDone()) {
      pass(timeout);
    }
    return future.isDone();
  }

  @Override
  public Lock newLock() {
    return new ReentrantLock();
  }
}
