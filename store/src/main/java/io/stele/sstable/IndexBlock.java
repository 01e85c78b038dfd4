package io.stele.sstable;

import io.stele.format.ByteReader;
import io.stele.format.ByteWriter;
import io.stele.format.MalformedException;
import java.util.Arrays;

/**
 * An index block, decoded for binary search: keys in one array, ascending, and where their blocks
 * are. Immutable.
 */
final class IndexBlock implements CachedBlock {
  /** Memory of an entry beside its key, in bytes. */
  static final int ENTRY_BYTES = 17;

  private static final int OVERHEAD_BYTES = 160;

  /** More than the keys of any block take: a few bytes in a file may say that they share much. */
  private static final int KEY_BYTES_MAX = 64 << 20;

  private final int level;
  private final byte[] keys;

  /** Key {@code i} is from {@code keyEnds[i]} to {@code keyEnds[i + 1]}. */
  private final int[] keyEnds;

  private final long[] offsets;
  private final int[] lengths;
  private final boolean[] continues;

  private IndexBlock(
      int level, byte[] keys, int[] keyEnds, long[] offsets, int[] lengths, boolean[] continues) {
    this.level = level;
    this.keys = keys;
    this.keyEnds = keyEnds;
    this.offsets = offsets;
    this.lengths = lengths;
    this.continues = continues;
  }

  /** Decodes a block. All its entries must name blocks before {@code limit}. */
  static IndexBlock decode(Contents contents, long limit) throws MalformedException {
    ByteReader in = new ByteReader(contents.array(), contents.offset(), contents.length());
    int level = in.readByte();
    int count = in.readVarint();
    if (level >= SSTableFormat.INDEX_LEVELS_MAX || count > in.remaining() / 4) {
      throw in.malformed("no index has " + count + " entries here on level " + level);
    }
    ByteWriter keys = new ByteWriter(Math.max(16, in.remaining()));
    int[] keyEnds = new int[count + 1];
    long[] offsets = new long[count];
    int[] lengths = new int[count];
    boolean[] continues = new boolean[count];
    long end = 0;
    for (int i = 0; i < count; i++) {
      int shared = in.readVarint();
      int unshared = in.readVarint();
      int last = i == 0 ? 0 : keyEnds[i - 1];
      if (shared > keys.size() - last) {
        throw in.malformed("entry " + i + " shares more than the last key has");
      }
      if (keys.size() + (long) shared + unshared > KEY_BYTES_MAX) {
        throw in.malformed("the keys up to entry " + i + " take more than " + KEY_BYTES_MAX);
      }
      keys.write(keys.array(), last, shared);
      int from = in.skip(unshared);
      keys.write(contents.array(), from, unshared);
      keyEnds[i + 1] = keys.size();
      long gapAndFlag = in.readVarlong();
      continues[i] = (gapAndFlag & 1) != 0;
      offsets[i] = end + (gapAndFlag >>> 1);
      lengths[i] = in.readVarint();
      end = offsets[i] + lengths[i];
      if (offsets[i] < 0
          || end > limit
          || end < offsets[i]
          || lengths[i] < SSTableFormat.BLOCK_OVERHEAD_BYTES) {
        throw in.malformed("entry " + i + " points outside the file");
      }
    }
    if (in.remaining() > 0) {
      throw in.malformed(in.remaining() + " bytes after the last entry");
    }
    IndexBlock block =
        new IndexBlock(level, keys.toByteArray(), keyEnds, offsets, lengths, continues);
    block.checkOrder();
    return block;
  }

  private void checkOrder() throws MalformedException {
    for (int i = 1; i < count(); i++) {
      int order =
          Arrays.compareUnsigned(
              keys, keyEnds[i - 1], keyEnds[i], keys, keyEnds[i], keyEnds[i + 1]);
      if (order > 0 || (order == 0 && !continues[i])) {
        throw new MalformedException(0, "entry " + i + " is not after the entry before it");
      }
    }
  }

  /** 0: of blocks that are no index blocks; n: of index blocks of level n - 1. */
  int level() {
    return level;
  }

  int count() {
    return offsets.length;
  }

  /**
   * The entry to begin at when looking for {@code key} and what is above it: the last block that
   * may hold it or something below it. -1 where there are no entries.
   */
  int find(byte[] key, int length) {
    int low = 0;
    int high = count(); // The first entry whose key is not below the one looked for.
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (compareKey(middle, key, length) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low < count() && !continues[low] && compareKey(low, key, length) == 0) {
      return low;
    }
    return Math.max(low, Math.min(count(), 1)) - 1;
  }

  /**
   * The entry under which a block is that begins at or below {@code offset}, the last, or one of
   * its neighbours; at least 0.
   */
  int findOffset(long offset) {
    int found = Arrays.binarySearch(offsets, offset);
    int above = found >= 0 ? found + 1 : -found - 1;
    // Index blocks stand after the blocks that they name.
    return level > 0 ? Math.min(above, count() - 1) : Math.max(0, above - 1);
  }

  /** Compares the key of an entry with another key. */
  int compareKey(int entry, byte[] key, int length) {
    return Arrays.compareUnsigned(keys, keyEnds[entry], keyEnds[entry + 1], key, 0, length);
  }

  byte[] key(int entry) {
    return Arrays.copyOfRange(keys, keyEnds[entry], keyEnds[entry + 1]);
  }

  /** Whether the block's first cell is of the column that the block before ends with. */
  boolean continues(int entry) {
    return continues[entry];
  }

  long offset(int entry) {
    return offsets[entry];
  }

  int length(int entry) {
    return lengths[entry];
  }

  Handle handle(int entry) {
    return new Handle(offsets[entry], lengths[entry]);
  }

  @Override
  public int weight() {
    return OVERHEAD_BYTES + keys.length + count() * ENTRY_BYTES;
  }
}
