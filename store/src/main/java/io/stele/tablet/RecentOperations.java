package io.stele.tablet;

import io.stele.tablet.ClientOperations.Operation;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Operations of one client, by ascending number. Numbers are nearly always added in ascending order
 * and removed from the lowest on: both take constant time. All others take a binary search, and a
 * copy of what lies between it and the end.
 *
 * <p>Not safe for use by several threads.
 */
final class RecentOperations {
  private static final int LEAST = 8;

  /** More room than this is not kept when the last operation has gone. */
  private static final int KEPT_MAX = 64;

  // In use from start to end; the numbers are kept apart so that a search reads few lines of
  // memory.
  private long[] numbers = new long[LEAST];
  private Operation[] operations = new Operation[LEAST];
  private int start;
  private int end;

  boolean isEmpty() {
    return start == end;
  }

  /** The operation of that number. */
  Optional<Operation> get(long number) {
    int at = find(number);
    return at < 0 ? Optional.empty() : Optional.of(operations[at]);
  }

  /** Whether it has this operation, not another of its number. */
  boolean has(Operation operation) {
    int at = find(operation.number());
    return at >= 0 && operations[at] == operation;
  }

  /** Adds an operation, and returns the one that it replaces. */
  Optional<Operation> put(Operation operation) {
    int at = find(operation.number());
    if (at >= 0) {
      Operation before = operations[at];
      operations[at] = operation;
      return Optional.of(before);
    }
    int place = ~at - start; // Making room may move all.
    makeRoom();
    insert(start + place, operation);
    return Optional.empty();
  }

  private void makeRoom() {
    if (end < numbers.length) {
      return;
    }
    int size = end - start;
    boolean isHalfFree = start >= size;
    long[] roomier = isHalfFree ? numbers : new long[2 * size];
    Operation[] roomierToo = isHalfFree ? operations : new Operation[2 * size];
    System.arraycopy(numbers, start, roomier, 0, size);
    System.arraycopy(operations, start, roomierToo, 0, size);
    Arrays.fill(roomierToo, size, isHalfFree ? end : size, null);
    numbers = roomier;
    operations = roomierToo;
    start = 0;
    end = size;
  }

  private void insert(int at, Operation operation) {
    System.arraycopy(numbers, at, numbers, at + 1, end - at);
    System.arraycopy(operations, at, operations, at + 1, end - at);
    numbers[at] = operation.number();
    operations[at] = operation;
    end++;
  }

  /** Removes this operation, not another of its number; returns whether it was there. */
  boolean remove(Operation operation) {
    int at = find(operation.number());
    if (at < 0 || operations[at] != operation) {
      return false;
    }
    if (at == start) {
      operations[start++] = null;
    } else {
      System.arraycopy(numbers, at + 1, numbers, at, end - at - 1);
      System.arraycopy(operations, at + 1, operations, at, end - at - 1);
      operations[--end] = null;
    }
    release();
    return true;
  }

  /** Removes those operations below {@code number} that {@code which} names, asked in order. */
  void removeBelow(long number, Predicate<Operation> which) {
    int at = find(number);
    removeBefore(at < 0 ? ~at : at, which);
  }

  /** Removes those operations that {@code which} names, asked in order. */
  void removeIf(Predicate<Operation> which) {
    removeBefore(end, which);
  }

  private void removeBefore(int below, Predicate<Operation> which) {
    for (int i = start; i < below; i++) {
      if (which.test(operations[i])) {
        operations[i] = null;
      }
    }
    int first = below; // Those that stay move up to it.
    for (int i = below - 1; i >= start; i--) {
      if (operations[i] != null) {
        first--;
        numbers[first] = numbers[i];
        operations[first] = operations[i];
      }
    }
    Arrays.fill(operations, start, first, null);
    start = first;
    release();
  }

  /** All of them, in order. */
  Stream<Operation> stream() {
    return Arrays.stream(operations, start, end);
  }

  private void release() {
    if (isEmpty()) {
      start = 0;
      end = 0;
      if (numbers.length > KEPT_MAX) {
        numbers = new long[LEAST];
        operations = new Operation[LEAST];
      }
    }
  }

  /** The index of {@code number}; if it is not here, the complement of where it would be. */
  private int find(long number) {
    return end == start || numbers[end - 1] < number
        ? ~end
        : Arrays.binarySearch(numbers, start, end, number);
  }
}
