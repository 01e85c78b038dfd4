package io.stele.runtime;

import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.Lock;
import java.util.random.RandomGenerator;

/**
 * The runtime of one process: clocks, random numbers, threads, timers, locks, and every way to
 * wait.
 *
 * <p>Code that may run in a simulation waits through this and in no other way: not on monitors, not
 * by {@code CompletableFuture.get} or {@code join}, not in queues of its own. A monitor ({@code
 * synchronized}) may guard a few fields, but must not be held while the code waits, calls out, or
 * does I/O; a lock of {@link #newLock} may.
 *
 * <p>{@link SystemRuntime} is the real one. Safe for use by any number of threads.
 */
public interface ProcessRuntime {
  /** The monotonic clock, in nanoseconds; only differences within one process mean something. */
  long nanoTime();

  /** The wall clock; it may jump, and differs from that of other machines. */
  InstantSource wallClock();

  /** Random numbers; safe for use by any number of threads. */
  RandomGenerator random();

  /**
   * Runs {@code work} on a new daemon thread.
   *
   * @param name of the thread, for logs
   */
  Task start(String name, Runnable work);

  /**
   * A pool of daemon threads, started as needed, that ends when closed.
   *
   * @param name of its threads, for people; each has a number besides
   * @param threadsMax how many may run at once; more work waits in a queue
   */
  WorkerPool pool(String name, int threadsMax);

  /**
   * Runs {@code work} after {@code delay}, on a thread that all timers of the process share: it
   * must be short and must not wait.
   */
  Timer after(Duration delay, Runnable work);

  /**
   * Waits for {@code duration}.
   *
   * @throws InterruptedException if the thread was interrupted before or meanwhile
   */
  void sleep(Duration duration) throws InterruptedException;

  /**
   * Waits until {@code future} is done.
   *
   * @return its result
   * @throws ExecutionException if it failed
   * @throws InterruptedException if the thread was interrupted before or meanwhile
   */
  <T> T await(CompletableFuture<T> future) throws InterruptedException, ExecutionException;

  /**
   * Waits until {@code future} is done or {@code timeout} has passed.
   *
   * @return whether it is done, be it by a failure
   * @throws InterruptedException if the thread was interrupted before or meanwhile
   */
  boolean await(CompletableFuture<?> future, Duration timeout) throws InterruptedException;

  /** A reentrant lock that may be held while its holder waits; it supports conditions. */
  Lock newLock();
}
