package io.stele.sstable;

import java.io.IOException;

/**
 * A way down an index to one block, and on from there to the next. Not safe for use by several
 * threads.
 */
final class IndexCursor {
  private final Blocks blocks;
  private final BlockKind kind;
  private final ReadOptions options;

  /** From the root to the leaf, which is the last. */
  private final IndexBlock[] path;

  private final int[] entries;
  private final int leaf;

  IndexCursor(Blocks blocks, BlockKind kind, IndexBlock root, ReadOptions options) {
    this.blocks = blocks;
    this.kind = kind;
    this.options = options;
    this.leaf = root.level();
    this.path = new IndexBlock[leaf + 1];
    this.entries = new int[leaf + 1];
    path[0] = root;
  }

  /**
   * Goes to the last block that may hold {@code key} or something below it.
   *
   * @return false if there are no blocks
   */
  boolean seek(byte[] key, int length) throws IOException {
    entries[0] = path[0].find(key, length);
    if (entries[0] < 0) {
      return false;
    }
    for (int depth = 1; depth <= leaf; depth++) {
      load(depth);
      entries[depth] = path[depth].find(key, length);
    }
    return true;
  }

  /** Goes to the first block. */
  boolean first() throws IOException {
    return seek(new byte[0], 0);
  }

  /**
   * Goes to the last block that begins at or below {@code offset}, or to one of its neighbours.
   *
   * @return false if there are no blocks
   */
  boolean seekOffset(long offset) throws IOException {
    if (path[0].count() == 0) {
      return false;
    }
    entries[0] = path[0].findOffset(offset);
    for (int depth = 1; depth <= leaf; depth++) {
      load(depth);
      entries[depth] = path[depth].findOffset(offset);
    }
    return true;
  }

  /** Moves to the next block; returns false, and stays, at the last one. */
  boolean next() throws IOException {
    int depth = leaf;
    while (entries[depth] + 1 >= path[depth].count()) {
      if (depth == 0) {
        return false;
      }
      depth--;
    }
    entries[depth]++;
    while (depth < leaf) {
      load(++depth);
      entries[depth] = 0;
    }
    return true;
  }

  Handle handle() {
    return path[leaf].handle(entries[leaf]);
  }

  long offset() {
    return path[leaf].offset(entries[leaf]);
  }

  int length() {
    return path[leaf].length(entries[leaf]);
  }

  byte[] key() {
    return path[leaf].key(entries[leaf]);
  }

  boolean continues() {
    return path[leaf].continues(entries[leaf]);
  }

  /** Compares the current entry's key with another. */
  int compareKey(byte[] key, int length) {
    return path[leaf].compareKey(entries[leaf], key, length);
  }

  /** Whether there is a next block and its key is below {@code key}. Reads nothing. */
  boolean isNextKeyBelow(byte[] key, int length) {
    for (int depth = leaf; depth >= 0; depth--) {
      if (entries[depth] + 1 < path[depth].count()) {
        return path[depth].compareKey(entries[depth] + 1, key, length) < 0;
      }
    }
    return false;
  }

  /**
   * Where the last block ends that lies before {@code limit}, counted from the current one without
   * leaving the leaf; at least where the current one ends.
   */
  long endOfBlocksWithin(long limit) {
    IndexBlock block = path[leaf];
    int entry = entries[leaf];
    long end = block.offset(entry) + block.length(entry);
    while (++entry < block.count() && block.offset(entry) + block.length(entry) <= limit) {
      end = block.offset(entry) + block.length(entry);
    }
    return end;
  }

  /** The index blocks on the path to the current one, below the root. */
  Handle parent(int depth) {
    return path[depth].handle(entries[depth]);
  }

  /** How many index blocks lie between the root and the current block. */
  int depth() {
    return leaf;
  }

  private void load(int depth) throws IOException {
    path[depth] =
        blocks.index(kind, path[depth - 1].handle(entries[depth - 1]), leaf - depth, options);
  }
}
