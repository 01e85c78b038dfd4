package io.stele.metadata;

import io.stele.model.OperationId;
import java.util.TreeSet;
import java.util.random.RandomGenerator;

/**
 * Numbers the operations of one client and keeps which of them still need to be remembered by the
 * tablets.
 *
 * <p>Safe for use by any number of threads.
 */
public final class Operations {
  private final OperationId first;
  private final TreeSet<Long> incomplete = new TreeSet<>();
  private long next;

  /** A new client, named at random. */
  public Operations(RandomGenerator random) {
    this.first = OperationId.first(random);
    this.next = first.number();
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
    return incomplete.isEmpty() ? next : incomplete.first();
  }
}
