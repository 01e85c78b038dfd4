package io.stele.sstable;

import io.stele.model.Bloom;
import java.io.IOException;
import java.util.Arrays;

/**
 * Collects the keys of a file and writes their Bloom filter in blocks of bounded size. Not safe for
 * use by several threads.
 */
final class BloomWriter {
  private static final byte[] NOTHING = new byte[0];

  private final BlockWriter blocks;
  private final IndexWriter index;
  private final boolean columns;
  private final int bitsPerKey;
  private final int keysMax;
  private long[] hashes = new long[64];
  private int count;
  private byte[] blockKey = NOTHING;

  BloomWriter(BlockWriter blocks, SSTableOptions options) {
    this.blocks = blocks;
    this.index = new IndexWriter(blocks, BlockKind.BLOOM_INDEX, options.indexBlockBytes());
    this.columns = options.bloom() == Bloom.ROW_COLUMN;
    this.bitsPerKey = options.bloomBitsPerKey();
    this.keysMax = (int) Math.max(1, options.bloomBlockBytes() * 8L / bitsPerKey);
  }

  /**
   * Adds a key, which is above all earlier ones.
   *
   * @param newRow whether it is the first of its row
   * @param last the key before; its first {@code lastLength} bytes
   */
  void add(
      byte[] key, int keyLength, int rowPartLength, boolean newRow, byte[] last, int lastLength)
      throws IOException {
    if (!newRow && !columns) {
      return;
    }
    if (count >= keysMax) {
      flush();
      // Not above the row part of a new row: that is where the two keys begin to differ.
      blockKey = Separator.of(last, lastLength, key, keyLength);
    }
    if (newRow) {
      add(KeyHash.of(key, rowPartLength));
    }
    if (columns) {
      add(
          keyLength == rowPartLength
              ? KeyHash.ofRowTombstone(Arrays.copyOf(key, keyLength))
              : KeyHash.of(key, keyLength));
    }
  }

  /** Writes all but the root of the filter's index. Nothing can be added afterwards. */
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

  private void add(long hash) {
    if (count == hashes.length) {
      hashes = Arrays.copyOf(hashes, Math.min(count * 2, keysMax + 1)); // A key may have two.
    }
    hashes[count++] = hash;
  }

  private void flush() throws IOException {
    byte[] contents = BloomBlock.encode(hashes, count, bitsPerKey);
    index.add(blockKey, false, blocks.write(BlockKind.BLOOM, contents, contents.length));
    count = 0;
  }
}
