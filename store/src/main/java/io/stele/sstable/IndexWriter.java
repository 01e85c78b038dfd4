package io.stele.sstable;

import io.stele.format.ByteWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Writes an index level by level: a full block is appended to the file and named in the level
 * above. Holds one block per level. Not safe for use by several threads.
 */
final class IndexWriter {
  private final BlockWriter blocks;
  private final BlockKind kind;
  private final int blockBytes;
  private final List<Level> levels = new ArrayList<>();

  IndexWriter(BlockWriter blocks, BlockKind kind, int blockBytes) {
    this.blocks = blocks;
    this.kind = kind;
    this.blockBytes = blockBytes;
    levels.add(new Level());
  }

  /** Adds a block; it comes after all earlier ones. */
  void add(byte[] key, boolean continues, Handle block) throws IOException {
    add(0, key, continues, block);
  }

  /** Writes all but the root. Nothing can be added afterwards. */
  void finishBelowRoot() throws IOException {
    for (int number = 0; number < levels.size() - 1; number++) {
      flush(number);
    }
  }

  /** Writes the root. */
  Handle finish() throws IOException {
    return write(levels.size() - 1);
  }

  private void add(int number, byte[] key, boolean continues, Handle block) throws IOException {
    if (number == levels.size()) {
      levels.add(new Level());
    }
    // At least two entries a block, or keys larger than a block would make levels without end.
    // Flushed only when more comes, so that a root has at least two entries too. What counts is
    // what readers hold: keys of which most is shared take little in the file and much in memory.
    if (levels.get(number).count >= 2 && levels.get(number).decodedBytes >= blockBytes) {
      flush(number);
    }
    levels.get(number).add(key, continues, block);
  }

  private void flush(int number) throws IOException {
    Level level = levels.get(number);
    byte[] firstKey = level.firstKey;
    boolean firstContinues = level.firstContinues;
    add(number + 1, firstKey, firstContinues, write(number));
    level.clear();
  }

  private Handle write(int number) throws IOException {
    Level level = levels.get(number);
    ByteWriter block = new ByteWriter(level.entries.size() + 6);
    block.writeByte(number).writeVarint(level.count);
    block.write(level.entries.array(), 0, level.entries.size());
    return blocks.write(kind, block.array(), block.size());
  }

  private static final class Level {
    private final ByteWriter entries = new ByteWriter(256);
    private byte[] firstKey = new byte[0];
    private boolean firstContinues;
    private byte[] lastKey = new byte[0];
    private long lastEnd;
    private int count;
    private long decodedBytes;

    void add(byte[] key, boolean continues, Handle block) {
      if (count == 0) {
        firstKey = key;
        firstContinues = continues;
      }
      int mismatch = Arrays.mismatch(lastKey, key);
      int shared = mismatch < 0 ? key.length : mismatch;
      entries.writeVarint(shared).writeVarint(key.length - shared);
      entries.write(key, shared, key.length - shared);
      entries.writeVarlong((block.offset() - lastEnd) << 1 | (continues ? 1 : 0));
      entries.writeVarint(block.length());
      lastKey = key;
      lastEnd = block.end();
      count++;
      decodedBytes += key.length + IndexBlock.ENTRY_BYTES;
    }

    void clear() {
      entries.clear();
      lastKey = new byte[0];
      lastEnd = 0;
      count = 0;
      decodedBytes = 0;
    }
  }
}
