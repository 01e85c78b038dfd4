package io.stele.tablet;

import io.stele.model.Bytes;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.LongStream;

/**
 * Operations of one client that are done and in an SSTable, by their numbers. They take as little
 * memory as possible, because a job may have millions of them. Not safe for use by several threads.
 */
final class WrittenOperations {
  /** Takes in one operation. */
  interface Visitor {
    void visit(long number, long digest, Bytes result);
  }

  /** What a result takes beside its bytes. */
  private static final long RESULT_BYTES = 150;

  private long[] numbers = {}; // Ascending.
  private long[] digests = {};
  private final Map<Long, Bytes> results = new HashMap<>(); // Those that are not empty: few.
  private long resultBytes;

  /** What one with {@code result} takes. */
  static long bytesOf(Bytes result) {
    return 2L * Long.BYTES + (result.isEmpty() ? 0 : bytes(result));
  }

  int size() {
    return numbers.length;
  }

  /** What they take in memory. */
  long bytes() {
    return numbers.length * 2L * Long.BYTES + resultBytes;
  }

  /** Their numbers, in ascending order. */
  LongStream numbers() {
    return Arrays.stream(numbers);
  }

  /** Where an operation is; below 0: it is not here. */
  int find(long number) {
    return Arrays.binarySearch(numbers, number);
  }

  /** What the operation at {@code index} is told from others of its number by. */
  long digest(int index) {
    return digests[index];
  }

  /** The result of the operation at {@code index}. */
  Bytes result(int index) {
    return results.isEmpty() ? Bytes.EMPTY : results.getOrDefault(numbers[index], Bytes.EMPTY);
  }

  /** Adds operations in ascending order of number; one that is here already stays as it is. */
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

  /** Takes in the number and the digest of an operation. */
  interface BriefVisitor {
    void visit(long number, long digest);
  }

  /** Those below {@code number}, in ascending order. */
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
