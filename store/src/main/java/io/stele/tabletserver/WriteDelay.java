package io.stele.tabletserver;

import io.stele.model.SteleException;
import io.stele.runtime.ProcessRuntime;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Delays writes while the memtables have little room left, so that they slow down before they must
 * be refused.
 *
 * <p>No thread waits: a write waits on a timer, and still counts as a request that the server has
 * accepted. To leave room for reads, only a limited number of writes is delayed at a time; more are
 * answered 'retry later'. Safe for use by any number of threads.
 */
final class WriteDelay {
  private final ProcessRuntime runtime;
  private final int requestsMax;
  private final long bytesMax;
  private final AtomicInteger requests = new AtomicInteger();
  private final AtomicLong bytes = new AtomicLong();

  /** Delays at most {@code requestsMax} requests of together at most {@code bytesMax} bytes. */
  WriteDelay(ProcessRuntime runtime, int requestsMax, long bytesMax) {
    this.runtime = runtime;
    this.requestsMax = requestsMax;
    this.bytesMax = bytesMax;
  }

  /** How many writes are delayed now. */
  int waiting() {
    return requests.get();
  }

  /**
   * Continues a write, at once or after the delay that the budget requires.
   *
   * @param writeBytes its size
   * @param proceed continues the write; may throw
   * @param refuse called instead of {@code proceed}, or with what it threw after a delay
   * @throws RuntimeException whatever {@code proceed} throws if there is no delay
   */
  void pass(MemtableBudget budget, long writeBytes, Runnable proceed, Consumer<Throwable> refuse) {
    Duration delay = budget.delay();
    if (delay.isZero()) {
      proceed.run();
      return;
    }
    int waiting = requests.incrementAndGet();
    long waitingBytes = bytes.addAndGet(writeBytes);
    if (waiting > requestsMax || (waiting > 1 && waitingBytes > bytesMax)) {
      leave(writeBytes);
      refuse.accept(
          SteleException.retryLater(
              "the memtables of this server are nearly full, and "
                  + (waiting - 1)
                  + " writes of "
                  + (waitingBytes - writeBytes)
                  + " bytes are already waiting: try again later"));
      return;
    }
    try {
      runtime.after(
          delay,
          () -> {
            leave(writeBytes);
            try {
              proceed.run();
            } catch (RuntimeException | Error e) {
              refuse.accept(e);
            }
          });
    } catch (RuntimeException | Error e) {
      leave(writeBytes);
      throw e;
    }
  }

  private void leave(long writeBytes) {
    requests.decrementAndGet();
    bytes.addAndGet(-writeBytes);
  }
}
