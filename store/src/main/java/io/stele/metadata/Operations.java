package io.stele.metadata;

import io.stele.model.OperationId;
import io.stele.model.Outstanding;
import io.stele.runtime.ProcessRuntime;
import java.time.Duration;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Numbers the operations of one client and keeps which of them still need to be remembered by the
 * tablets.
 *
 * <p>Safe for use by any number of threads.
 */
public final class Operations {
  private final OperationId first;
  private final boolean repeatable;
  private final TreeMap<Long, Begun> incomplete = new TreeMap<>();
  private final ProcessRuntime runtime;
  private long next;

  /** When an operation began, by both clocks: a suspended machine stops one of them. */
  private record Begun(long nanos, long wallMillis) {}

  /** A new client, named at random. */
  public Operations(ProcessRuntime runtime) {
    this(runtime, OperationId.first(runtime.random()), false);
  }

  private Operations(ProcessRuntime runtime, OperationId first, boolean repeatable) {
    this.runtime = runtime;
    this.first = first;
    this.repeatable = repeatable;
    this.next = first.number();
  }

  /**
   * The operations from {@code first} on, which another process may send again, such as another
   * attempt of a task: the tablets are never told that they may forget one.
   */
  public static Operations repeatable(ProcessRuntime runtime, OperationId first) {
    return new Operations(runtime, first, true);
  }

  /** The id of a new operation; {@link #complete} it when it will not be sent again. */
  public synchronized OperationId begin() {
    OperationId id = new OperationId(first.clientHigh(), first.clientLow(), next++);
    incomplete.put(id.number(), new Begun(runtime.nanoTime(), runtime.wallClock().millis()));
    return id;
  }

  /** The operation will not be sent again: its result may be forgotten. */
  public synchronized void complete(OperationId id) {
    incomplete.remove(id.number());
  }

  /** Which operations may be sent again. */
  public synchronized Outstanding outstanding() {
    if (repeatable) {
      return new Outstanding(first.number(), Optional.empty());
    }
    if (incomplete.isEmpty()) {
      return Outstanding.from(next);
    }
    return new Outstanding(
        incomplete.firstKey(), Optional.of(age(incomplete.firstEntry().getValue())));
  }

  private Duration age(Begun begun) {
    Duration counted = Duration.ofNanos(runtime.nanoTime() - begun.nanos());
    Duration shown = Duration.ofMillis(runtime.wallClock().millis() - begun.wallMillis());
    return counted.compareTo(shown) > 0 ? counted : shown;
  }
}
