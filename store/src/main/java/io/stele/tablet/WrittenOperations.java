package io.stele.tablet;

import io.stele.model.Bytes;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.LongStream;

/**
 * Operations of one client that are done and in an SSTable, by their numbers. They are stored
 * compactly, because a job may have millions of them. Not safe for use by several threads.
 */
final class WrittenOperations {
  /** Receives one operation. */
  interface Visitor {
    void visit(long number, long digest, Bytes result);
  }

  /** The memory of a result beside its bytes. */
  private static final long RESULT_BYTES = 150;

  private static final long[] NONE = {};

  private long[] numbers = NONE; // Ascending.
  private long[] digests = NONE;
  private Map<Long, Bytes> results = Map.of(); // Those that are not empty; of most clients none.
  private long resultBytes;

  /** The memory of an operation with {@code result}, in bytes. */
  static long bytesOf(Bytes result) {
    return 2L * Long.BYTES + (result.isEmpty() ? 0 : bytes(result));
  }

  int size() {
    return numbers.length;
  }

  /** The memory of all of them, in bytes. */
  long bytes() {
    return numbers.length * 2L * Long.BYTES + resultBytes;
  }

  /** Their numbers, in ascending order. */
  LongStream numbers() {
    return Arrays.stream(numbers);
  }

  /** The index of an operation; negative if it is not here. */
  int find(long number) {
    return Arrays.binarySearch(numbers, number);
  }

  /** The digest that distinguishes the operation at {@code index} from others of its number. */
  long digest(int index) {
    return digests[index];
  }

  /** The result of the operation at {@code index}. */
  Bytes result(int index) {
    return results.isEmpty() ? Bytes.EMPTY : results.getOrDefault(numbers[index], Bytes.EMPTY);
  }

  /** Adds operations in ascending order of number; existing ones stay unchanged. */
  void addAll(long[] moreNumbers, long[] moreDigests, Bytes[] moreResults, int count) {
    long[] allNumbers = new long[numbers.length + count];
    long[] allDigests = new long[numbers.length + count];
    int size = 0;
    int i = 0;
    int j = 0;
    while (i < numbers.length || j < count) {
      if (j == count || (i < numbers.length && numbers[i] <= moreNumbers[j])) {
        if (j < count && numbers[i] == moreNumbers[j]) {
          j++;
        }
        allNumbers[size] = numbers[i];
        allDigests[size++] = digests[i++];
      } else {
        if (!moreResults[j].isEmpty()) {
          results = results.isEmpty() ? new HashMap<>() : results;
          results.put(moreNumbers[j], moreResults[j]);
          resultBytes += bytes(moreResults[j]);
        }
        allNumbers[size] = moreNumbers[j];
        allDigests[size++] = moreDigests[j++];
      }
    }
    numbers = size == allNumbers.length ? allNumbers : Arrays.copyOf(allNumbers, size);
    digests = size == allDigests.length ? allDigests : Arrays.copyOf(allDigests, size);
  }

  /** Receives the number and the digest of an operation. */
  interface BriefVisitor {
    void visit(long number, long digest);
  }

  /** Visits the operations below {@code number}, in ascending order. */
  void forEachBelow(long number, BriefVisitor visitor) {
    for (int i = 0; i < numbers.length && numbers[i] < number; i++) {
      visitor.visit(numbers[i], digests[i]);
    }
  }

  /** Forgets those below {@code number}. */
  void forgetBelow(long number) {
    if (numbers.length == 0 || numbers[0] >= number) {
      return;
    }
    int from = find(number);
    from = from < 0 ? ~from : from;
    numbers = Arrays.copyOfRange(numbers, from, numbers.length);
    digests = Arrays.copyOfRange(digests, from, digests.length);
    if (results.isEmpty()) {
      return; // There is nothing to remove from.
    }
    results
        .entrySet()
        .removeIf(
            one -> {
              boolean old = one.getKey() < number;
              resultBytes -= old ? bytes(one.getValue()) : 0;
              return old;
            });
  }

  private static long bytes(Bytes result) {
    return RESULT_BYTES + result.length();
  }

  /** All of them, in ascending order of number. */
  void forEach(Visitor visitor) {
    for (int i = 0; i < numbers.length; i++) {
      visitor.visit(numbers[i], digests[i], result(i));
    }
  }
}
