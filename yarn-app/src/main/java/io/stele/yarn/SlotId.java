package io.stele.yarn;

import java.util.Comparator;
import java.util.Optional;

/**
 * A place for one process: {@code tabletserver-1}. It keeps its number through all the containers
 * that fill it, and every request to YARN for it carries {@link #allocationRequestId()}, which YARN
 * hands back with the container, even to a later attempt of the ApplicationMaster.
 *
 * @param index from 1
 */
record SlotId(ComponentKind kind, int index) implements Comparable<SlotId> {
  private static final long KIND_FACTOR = 1_000_000;
  private static final Comparator<SlotId> ORDER =
      Comparator.comparing(SlotId::kind).thenComparingInt(SlotId::index);

  SlotId {
    if (index < 1 || index >= KIND_FACTOR) {
      throw new IllegalArgumentException("a slot's index is 1 to 999999, not " + index);
    }
  }

  /** What YARN knows the slot by; never 0, which YARN gives to requests without one. */
  long allocationRequestId() {
    return (kind.ordinal() + 1) * KIND_FACTOR + index;
  }

  /** The slot of {@code allocationRequestId}; empty if it is none of ours. */
  static Optional<SlotId> of(long allocationRequestId) {
    long kind = allocationRequestId / KIND_FACTOR - 1;
    long index = allocationRequestId % KIND_FACTOR;
    if (kind < 0 || kind >= ComponentKind.values().length || index == 0) {
      return Optional.empty();
    }
    return Optional.of(new SlotId(ComponentKind.values()[(int) kind], (int) index));
  }

  /** Reads what {@link #toString()} wrote. */
  static SlotId parse(String text) {
    int dash = text.lastIndexOf('-');
    if (dash < 0) {
      throw new IllegalArgumentException("a slot is written kind-number, not \"" + text + "\"");
    }
    return new SlotId(
        ComponentKind.parse(text.substring(0, dash)), Integer.parseInt(text.substring(dash + 1)));
  }

  @Override
  public int compareTo(SlotId other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return kind.id() + "-" + index;
  }
}
