package io.stele.log;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;

/**
 * Checksums of a tablet's records by sequence number. The numbers have few gaps, and a record takes
 * some four bytes: a replay of small records would otherwise need as much memory for this as for
 * their cells, which nothing counts.
 *
 * <p>Not safe for use by several threads.
 */
final class RecordChecksums {
  private static final int CHUNK = 1 << 10;

  private final Map<Long, Chunk> chunks = new HashMap<>(); // The key is a sequence number / CHUNK.
  private long count;

  private static final class Chunk {
    private final int[] checksums = new int[CHUNK];
    private final BitSet known = new BitSet(CHUNK);
  }

  /** Takes a record's checksum, unless there is one of that number: then it returns that one. */
  OptionalInt putIfAbsent(long sequence, int checksum) {
    Chunk chunk = chunks.computeIfAbsent(sequence / CHUNK, number -> new Chunk());
    int at = (int) (sequence % CHUNK);
    if (chunk.known.get(at)) {
      return OptionalInt.of(chunk.checksums[at]);
    }
    chunk.checksums[at] = checksum;
    chunk.known.set(at);
    count++;
    return OptionalInt.empty();
  }

  /** Whether there is a checksum of that number. */
  boolean has(long sequence) {
    Chunk chunk = chunks.get(sequence / CHUNK);
    return chunk != null && chunk.known.get((int) (sequence % CHUNK));
  }

  /** How many there are. */
  long count() {
    return count;
  }
}
