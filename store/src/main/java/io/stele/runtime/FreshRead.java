package io.stele.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.locks.Lock;

/**
 * Something that many read at about the same time, each of whom needs it no older than some moment:
 * it is read once for all who can share it.
 *
 * <p>Safe for use by any number of threads. While one reads, the others wait.
 *
 * @param <V> what is read
 */
public final class FreshRead<V> {
  private final ProcessRuntime runtime;
  private final IoCallable<V> read;
  private final Lock lock;

  @GuardedBy("lock")
  private Optional<Dated<V>> last = Optional.empty();

  /** What was read, and the moment before. */
  private record Dated<V>(long begunNanos, V value) {}

  /**
   * Something that was not read yet.
   *
   * @param read returns its value, as it is now or will be before this returns; nothing older, such
   *     as a replica's
   */
  public FreshRead(ProcessRuntime runtime, IoCallable<V> read) {
    this.runtime = runtime;
    this.read = read;
    this.lock = runtime.newLock();
  }

  /**
   * The value, read no earlier than {@code sinceNanos} by {@link ProcessRuntime#nanoTime}.
   *
   * @throws IOException if it cannot be read: the next caller tries again
   */
  public V since(long sinceNanos) throws IOException {
    lock.lock();
    try {
      if (last.isEmpty() || last.get().begunNanos - sinceNanos < 0) {
        long begun = runtime.nanoTime();
        last = Optional.of(new Dated<>(begun, read.call()));
      }
      return last.get().value;
    } finally {
      lock.unlock();
    }
  }
}
