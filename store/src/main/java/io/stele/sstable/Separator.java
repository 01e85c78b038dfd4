package io.stele.sstable;

import java.util.Arrays;

/** Computes the shortest key between two others, for an index. */
final class Separator {
  private Separator() {}

  /** The shortest key above {@code below} and not above {@code key}, which is not below it. */
  static byte[] of(byte[] below, int belowLength, byte[] key, int keyLength) {
    int shared = Arrays.mismatch(below, 0, belowLength, key, 0, keyLength);
    return Arrays.copyOf(key, shared < 0 ? keyLength : Math.min(keyLength, shared + 1));
  }
}
