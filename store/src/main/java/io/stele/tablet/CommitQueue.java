package io.stele.tablet;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.model.SteleException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The operations that are queued for the log, in the order of their sequence numbers, and the read
 * point. The read point moves past an operation once that operation and all before it are durable.
 *
 * <p>Safe for use by any number of threads. Callbacks run outside of any lock, on the thread that
 * reported the last missing operation durable.
 */
final class CommitQueue {
  /** One queued operation. */
  static final class Entry {
    private final long sequence;
    private final Runnable onVisible;
    private final CompletableFuture<?> future;
    private boolean durable;

    private Entry(long sequence, Runnable onVisible, CompletableFuture<?> future) {
      this.sequence = sequence;
      this.onVisible = onVisible;
      this.future = future;
    }
  }

  private static final Logger LOG = LoggerFactory.getLogger(CommitQueue.class);

  private final Object lock = new Object();

  @GuardedBy("lock")
  private final ArrayDeque<Entry> queue = new ArrayDeque<>();

  @GuardedBy("lock")
  private Optional<Throwable> failure = Optional.empty();

  private volatile long readPoint;

  CommitQueue(long readPoint) {
    this.readPoint = readPoint;
  }

  /** Everything up to here is durable. */
  long readPoint() {
    return readPoint;
  }

  /**
   * Adds an operation at the end; its number is above all others.
   *
   * @param onVisible called once when the read point has moved past the operation
   * @param future failed when the log has failed
   */
  Entry add(long sequence, Runnable onVisible, CompletableFuture<?> future) {
    Entry entry = new Entry(sequence, onVisible, future);
    Optional<Throwable> failed;
    synchronized (lock) {
      failed = failure;
      if (failed.isEmpty()) {
        queue.add(entry);
      }
    }
    failed.ifPresent(future::completeExceptionally);
    return entry;
  }

  /**
   * Makes contents of files visible up to {@code sequence}, the next number after everything added.
   */
  void pass(long sequence) {
    durable(add(sequence, () -> {}, new CompletableFuture<>()));
  }

  /** Completes when all operations added so far are durable. */
  CompletableFuture<Void> barrier() {
    CompletableFuture<Void> reached = new CompletableFuture<>();
    Entry entry;
    synchronized (lock) {
      long last = queue.isEmpty() ? readPoint : queue.getLast().sequence;
      entry = add(last, () -> reached.complete(null), reached);
    }
    durable(entry);
    return reached;
  }

  /** Marks an operation durable. */
  void durable(Entry entry) {
    List<Entry> visible = new ArrayList<>(1);
    synchronized (lock) {
      entry.durable = true;
      while (!queue.isEmpty() && queue.getFirst().durable) {
        Entry first = queue.getFirst();
        visible.add(first); // Before the removal: if this throws, the next call has it.
        queue.removeFirst();
        readPoint = first.sequence;
      }
    }
    visible.forEach(CommitQueue::tell);
  }

  /** An exception concerns one operation only: the other operations must still be told. */
  private static void tell(Entry entry) {
    try {
      entry.onVisible.run();
    } catch (RuntimeException | Error e) {
      LOG.error("What follows on operation {} failed", entry.sequence, e);
      entry.future.completeExceptionally(
          SteleException.outcomeUnknown("it was applied, and what follows on that failed", e));
    }
  }

  /** The log has failed: everything queued, and everything added later, fails with {@code why}. */
  void fail(Throwable why) {
    List<Entry> lost;
    synchronized (lock) {
      if (failure.isPresent()) {
        return;
      }
      failure = Optional.of(why);
      lost = new ArrayList<>(queue);
      queue.clear();
    }
    lost.forEach(entry -> entry.future.completeExceptionally(why));
  }
}
