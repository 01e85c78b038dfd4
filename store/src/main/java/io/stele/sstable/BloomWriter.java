package io.stele.sstable;

import java.io.IOException;
import java.util.Arrays;

/**
 * Collects the rows of a file and writes their Bloom filter in blocks of bounded size. Not safe for
 * use by several threads.
 */
final class BloomWriter {
  private static final byte[] NOTHING = new byte[0];

  private final BlockWriter blocks;
  private final IndexWriter index;
  private final int bitsPerKey;
  private final int rowsMax;
  private long[] hashes = new long[64];
  private int count;
  private byte[] blockKey = NOTHING;

  BloomWriter(BlockWriter blocks, SSTableOptions options) {
    this.blocks = blocks;
    this.index = new IndexWriter(blocks, BlockKind.BLOOM_INDEX, options.indexBlockBytes());
    this.bitsPerKey = options.bloomBitsPerKey();
    this.rowsMax = (int) Math.max(1, options.bloomBlockBytes() * 8L / bitsPerKey);
  }

  /**
   * Adds a row, which is above all before.
   *
   * @param lastRowPart the row part of the row before; its first {@code lastLength} bytes
   */
  void add(byte[] key, int rowPartLength, byte[] lastRowPart, int lastLength) throws IOException {
    if (count == rowsMax) {
      flush();
      blockKey = Separator.of(lastRowPart, lastLength, key, rowPartLength);
    }
    if (count == hashes.length) {
      hashes = Arrays.copyOf(hashes, Math.min(rowsMax, count * 2));
    }
    hashes[count++] = RowHash.of(key, rowPartLength);
  }

  /** Writes all but the root of the filter's index. Nothing may be added any more. */
  void finishBelowRoot() throws IOException {
    if (count > 0) {
      flush();
    }
    index.finishBelowRoot();
  }

  /** Writes the root of the filter's index. */
  Handle finish() throws IOException {
    return index.finish();
  }

  private void flush() throws IOException {
    byte[] contents = BloomBlock.encode(hashes, count, bitsPerKey);
    index.add(blockKey, false, blocks.write(BlockKind.BLOOM, contents, contents.length));
    count = 0;
  }
}
