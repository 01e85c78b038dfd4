package io.stele.client;

import io.stele.model.Bytes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The operations of one row that wait for the one under way, in the order of submission. Guarded by
 * their writer.
 */
final class RowQueue {
  final Bytes row;
  private final ArrayDeque<SubmittedOperation> waiting = new ArrayDeque<>(1);

  RowQueue(Bytes row) {
    this.row = row;
  }

  void add(SubmittedOperation submitted) {
    waiting.add(submitted);
  }

  /** The next one; empty: none waits. */
  Optional<SubmittedOperation> next() {
    return Optional.ofNullable(waiting.poll());
  }

  /** Takes out what may go together with the one that was taken before. */
  List<SubmittedOperation> take(int countMax, long bytesMax) {
    List<SubmittedOperation> taken = List.of();
    long bytes = 0;
    for (SubmittedOperation next = waiting.peek(); next != null; next = waiting.peek()) {
      bytes += next.bytes;
      if (taken.size() == countMax
          || bytes > bytesMax
          || next.attempts.isTooLate()
          || next.isSingle()) {
        break;
      }
      if (taken.isEmpty()) {
        taken = new ArrayList<>();
      }
      taken.add(waiting.remove());
    }
    return taken;
  }

  /** Puts operations back before those that wait. */
  void putBack(List<SubmittedOperation> taken) {
    for (int i = taken.size() - 1; i >= 0; i--) {
      waiting.addFirst(taken.get(i));
    }
  }
}
