package io.stele.sstable;

import io.stele.format.MalformedException;

/**
 * A Bloom filter over a range of keys: row parts, and in some files whole column keys.
 *
 * <pre>
 * contents := probes:u8 bits            bit n is bit n % 8 of byte n / 8
 * a key's bits: for i in 0 .. probes - 1: (((low32(h) + i * (high32(h) | 1)) mod 2^32) * bit-count) / 2^32
 *               where h = MurmurHash64A(key, seed 0)
 * </pre>
 *
 * <p>Immutable.
 */
final class BloomBlock implements CachedBlock {
  private static final int OVERHEAD_BYTES = 112;
  static final int PROBES_MAX = 30;

  private final Contents contents;
  private final int probes;

  BloomBlock(Contents contents) throws MalformedException {
    if (contents.length() < 2 || contents.length() > (Integer.MAX_VALUE >>> 3)) {
      throw new MalformedException(0, "a Bloom filter cannot have " + contents.length() + " bytes");
    }
    this.contents = contents;
    this.probes = contents.array()[contents.offset()] & 0xff;
    if (probes < 1 || probes > PROBES_MAX) {
      throw new MalformedException(0, "a Bloom filter cannot have " + probes + " probes");
    }
  }

  /** The contents of a filter of {@code count} keys. */
  static byte[] encode(long[] hashes, int count, int bitsPerKey) {
    int bytes = (int) Math.max(8, ((long) count * bitsPerKey + 7) / 8);
    int probes = Math.max(1, Math.min(PROBES_MAX, (int) Math.round(bitsPerKey * Math.log(2))));
    byte[] contents = new byte[1 + bytes];
    contents[0] = (byte) probes;
    for (int n = 0; n < count; n++) {
      int at = (int) hashes[n];
      int step = (int) (hashes[n] >>> 32) | 1;
      for (int i = 0; i < probes; i++, at += step) {
        int bit = bit(at, bytes);
        contents[1 + (bit >>> 3)] |= (byte) (1 << (bit & 7));
      }
    }
    return contents;
  }

  /** Whether a key of this hash may be in the filter. */
  boolean mayContain(long hash) {
    byte[] array = contents.array();
    int bits = contents.offset() + 1;
    int bytes = contents.length() - 1;
    int at = (int) hash;
    int step = (int) (hash >>> 32) | 1;
    for (int i = 0; i < probes; i++, at += step) {
      int bit = bit(at, bytes);
      if ((array[bits + (bit >>> 3)] & (1 << (bit & 7))) == 0) {
        return false;
      }
    }
    return true;
  }

  private static int bit(int at, int bytes) {
    return (int) (((at & 0xffffffffL) * ((long) bytes << 3)) >>> 32);
  }

  @Override
  public int weight() {
    return OVERHEAD_BYTES + contents.array().length;
  }
}
