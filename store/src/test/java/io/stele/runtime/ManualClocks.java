package io.stele.runtime;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.Lock;
import java.util.random.RandomGenerator;

/** A runtime whose clocks stand still until the test moves them; all else is the JVM's. */
public final class ManualClocks implements ProcessRuntime {
  private volatile long nanos;
  private volatile Instant wall;

  /** Clocks that show these times. */
  public ManualClocks(long nanos, Instant wall) {
    this.nanos = nanos;
    this.wall = wall;
  }

  /** Both clocks go on. */
  public void pass(Duration time) {
    passMonotonic(time);
    passWall(time);
  }

  /** Only the monotonic clock goes on. */
  public void passMonotonic(Duration time) {
    nanos += time.toNanos();
  }

  /** Only the wall clock goes on, or back. */
  public void passWall(Duration time) {
    wall = wall.plus(time);
  }

  @Override
  public long nanoTime() {
    return nanos;
  }

  @Override
  public InstantSource wallClock() {
    return () -> wall;
  }

  @Override
  public RandomGenerator random() {
    return SystemRuntime.INSTANCE.random();
  }

  @Override
  public Task start(String name, Runnable work) {
    return SystemRuntime.INSTANCE.start(name, work);
  }

  @Override
  public WorkerPool pool(String name, int threadsMax) {
    return SystemRuntime.INSTANCE.pool(name, threadsMax);
  }

  @Override
  public Timer after(Duration delay, Runnable work) {
    return SystemRuntime.INSTANCE.after(delay, work);
  }

  @Override
  public void sleep(Duration duration) throws InterruptedException {
    SystemRuntime.INSTANCE.sleep(duration);
  }

  @Override
  public <T> T await(CompletableFuture<T> future) throws InterruptedException, ExecutionException {
    return SystemRuntime.INSTANCE.await(future);
  }

  @Override
  public boolean await(CompletableFuture<?> future, Duration timeout) throws InterruptedException {
    return SystemRuntime.INSTANCE.await(future, timeout);
  }

  @Override
  public Lock newLock() {
    return SystemRuntime.INSTANCE.newLock();
  }
}
