package io.stele.tablet;

import io.stele.tablet.ClientOperations.Operation;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Operations of one client, by ascending number, in an array that has at most some four times as
 * much room as it needs. Numbers are nearly always added in ascending order, which takes constant
 * time, and removed from the lowest on, which takes a search. Elsewhere, adding or removing one
 * also copies what lies above it; removing several visits all below the bound.
 *
 * <p>Not safe for use by several threads.
 */
final class RecentOperations {
  private static final int LEAST = 8;
  private static final int LEAST_PART_USED = 4;
  private static final long[] NO_NUMBERS = {};
  private static final Operation[] NONE = {};

  // In use from start to end; the numbers are kept apart so that a search reads few lines of
  // memory.
  private long[] numbers = NO_NUMBERS;
  private Operation[] operations = NONE;
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
    if (start > size) { // At least half of it is free.
      System.arraycopy(numbers, start, numbers, 0, size);
      System.arraycopy(operations, start, operations, 0, size);
      Arrays.fill(operations, size, end, null);
      start = 0;
      end = size;
    } else {
      resize(Math.max(LEAST, 2 * size));
    }
  }

  private void resize(int room) {
    int size = end - start;
    long[] otherNumbers = new long[room];
    Operation[] otherOperations = new Operation[room];
    System.arraycopy(numbers, start, otherNumbers, 0, size);
    System.arraycopy(operations, start, otherOperations, 0, size);
    numbers = otherNumbers;
    operations = otherOperations;
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
    if (below == start) {
      return;
    }
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

  /** Gives back room after a removal. */
  private void release() {
    int size = end - start;
    if (size == 0) {
      numbers = NO_NUMBERS;
      operations = NONE;
      start = 0;
      end = 0;
    } else if (numbers.length > LEAST && size < numbers.length / LEAST_PART_USED) {
      resize(Math.max(LEAST, 2 * size));
    }
  }

  /** How many operations its arrays have room for. */
  int room() {
    return numbers.length;
  }

  /** The index of {@code number}; if it is not here, the complement of where it would be. */
  private int find(long number) {
    return end == start || numbers[end - 1] < number
        ? ~end
        : Arrays.binarySearch(numbers, start, end, number);
  }
}
