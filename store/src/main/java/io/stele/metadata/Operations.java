package io.stele.metadata;

import io.stele.model.OperationId;
import io.stele.runtime.ProcessRuntime;
import java.util.TreeSet;

/**
 * Numbers the operations of one client and keeps which of them still need to be remembered by the
 * tablets.
 *
 * <p>Safe for use by any number of threads.
 */
public final class Operations {
  private final OperationId first;
  private final boolean repeatable;
  private final TreeSet<Long> incomplete = new TreeSet<>();
  private long next;

  /** A new client, named at random. */
  public Operations(ProcessRuntime runtime) {
    this(OperationId.first(runtime.random()), false);
  }

  private Operations(OperationId first, boolean repeatable) {
    this.first = first;
    this.repeatable = repeatable;
    this.next = first.number();
  }

  /**
   * The operations from {@code first} on, which another process may send again, such as another
   * attempt of a task: the tablets are never told that they may forget one.
   */
  public static Operations repeatable(OperationId first) {
    return new Operations(first, true);
  }

  /** The id of a new operation; {@link #complete} it when it will not be sent again. */
  public synchronized OperationId begin() {
    OperationId id = new OperationId(first.clientHigh(), first.clientLow(), next++);
    incomplete.add(id.number());
    return id;
  }

  /** The operation will not be sent again: its result may be forgotten. */
  public synchronized void complete(OperationId id) {
    incomplete.remove(id.number());
  }

  /** The lowest number of an operation that may be sent again. */
  public synchronized long firstIncomplete() {
    if (repeatable) {
      return first.number();
    }
    return incomplete.isEmpty() ? next : incomplete.first();
  }
}
