package io.stele.sstable;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/** MurmurHash64A with seed 0: the hash of Bloom filters on disk. */
final class KeyHash {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long M = 0xc6a4a7935bd1e995L;

  private KeyHash() {}

  /**
   * What stands for the tombstone of a row, whose key is that of the row itself: the hash that the
   * tombstone of a family without a name would have, which there is none of.
   */
  static long ofRowTombstone(byte[] rowPart) {
    return of(Arrays.copyOf(rowPart, rowPart.length + 1), rowPart.length + 1);
  }

  /** The hash of the first {@code length} bytes. */
  static long of(byte[] bytes, int length) {
    long hash = length * M;
    int i = 0;
    for (; i + Long.BYTES <= length; i += Long.BYTES) {
      long k = (long) LONG.get(bytes, i) * M;
      k = (k ^ (k >>> 47)) * M;
      hash = (hash ^ k) * M;
    }
    if (i < length) {
      for (int shift = 0; i < length; i++, shift += 8) {
        hash ^= (bytes[i] & 0xffL) << shift;
      }
      hash *= M;
    }
    hash = (hash ^ (hash >>> 47)) * M;
    return hash ^ (hash >>> 47);
  }
}
