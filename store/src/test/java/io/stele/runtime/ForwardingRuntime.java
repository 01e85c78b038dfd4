package io.stele.runtime;

import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.Lock;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/** The real runtime, of which a test overrides a part: mostly a clock. */
public class ForwardingRuntime implements ProcessRuntime {
  private final ProcessRuntime real = SystemRuntime.INSTANCE;

  /** The real runtime with another wall clock. */
  public static ProcessRuntime withWallClock(InstantSource clock) {
    return new ForwardingRuntime() {
      @Override
      public InstantSource wallClock() {
        return clock;
      }
    };
  }

  /** The real runtime, whose monotonic clock is {@code ahead} nanoseconds ahead. */
  public static ProcessRuntime ahead(LongSupplier ahead) {
    return new ForwardingRuntime() {
      @Override
      public long nanoTime() {
        return super.nanoTime() + ahead.getAsLong();
      }
    };
  }

  @Override
  public long nanoTime() {
    return real.nanoTime();
  }

  @Override
  public InstantSource wallClock() {
    return real.wallClock();
  }

  @Override
  public RandomGenerator random() {
    return real.random();
  }

  @Override
  public Task start(String name, Runnable work) {
    return real.start(name, work);
  }

  @Override
  public WorkerPool pool(String name, int threadsMax) {
    return real.pool(name, threadsMax);
  }

  @Override
  public Timer after(Duration delay, Runnable work) {
    return real.after(delay, work);
  }

  @Override
  public void sleep(Duration duration) throws InterruptedException {
    real.sleep(duration);
  }

  @Override
  public <T> T await(CompletableFuture<T> future) throws InterruptedException, ExecutionException {
    return real.await(future);
  }

  @Override
  public boolean await(CompletableFuture<?> future, Duration timeout) throws InterruptedException {
    return real.await(future, timeout);
  }

  @Override
  public Lock newLock() {
    return real.newLock();
  }
}
