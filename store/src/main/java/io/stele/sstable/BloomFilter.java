package io.stele.sstable;

import io.stele.format.ColumnKey;
import io.stele.model.Bloom;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/**
 * The Bloom filter of an open file: an index of filter blocks, each of a range of keys. It never
 * denies a key that the file has. Safe for use by any number of threads.
 */
final class BloomFilter {
  /** The keys of many columns of a long row take long to hash: meanwhile the caller may give up. */
  private static final long HASHED_BETWEEN_CHECKS_BYTES = 1 << 20;

  /** So that a column with a longer key than the last one seldom needs a new array. */
  private static final int SPARE_BYTES = 64;

  private final Blocks blocks;
  private final IndexBlock root;
  private final Bloom kind;

  /** Whether the file has tombstones of rows; if not, the filter is not asked for them. */
  private final boolean rowTombstones;

  /** Whether the file has tombstones of families; if not, the filter is not asked for them. */
  private final boolean familyTombstones;

  BloomFilter(Blocks blocks, IndexBlock root, SSTableProperties properties) {
    this.blocks = blocks;
    this.root = root;
    this.kind = properties.bloom();
    this.rowTombstones = properties.rowTombstones() > 0;
    this.familyTombstones = properties.familyTombstones() > 0;
  }

  /**
   * Takes the filter's blocks from the file's tail, where all of them are in it: the first read of
   * the file needs one. A damaged one is left for that read to report.
   */
  void takeFrom(FileTail tail) {
    if (root.level() > 0 || root.count() == 0 || tail.stored(root.handle(0)).isEmpty()) {
      return;
    }
    for (int i = 0; i < root.count(); i++) {
      blocks.take(BlockKind.BLOOM, root.handle(i), tail.stored(root.handle(i)).orElseThrow());
    }
  }

  /** Whether the row may be in the file. */
  boolean mayContainRow(byte[] rowPart, ReadOptions options) throws IOException {
    IndexCursor index = index(options);
    return contains(index, rowPart, rowPart.length, KeyHash.of(rowPart, rowPart.length), options);
  }

  /**
   * Whether a cell of one of these columns of a row, or a tombstone above it, may be in the file.
   * Holds one column's key at a time, however many there are.
   *
   * @param columns what follows the row part in their keys, those of a family one after the other
   */
  boolean mayContainColumns(byte[] rowPart, List<byte[]> columns, ReadOptions options)
      throws IOException {
    if (kind != Bloom.ROW_COLUMN) {
      return mayContainRow(rowPart, options);
    }
    IndexCursor index = index(options);
    if (rowTombstones
        && contains(index, rowPart, rowPart.length, KeyHash.ofRowTombstone(rowPart), options)) {
      return true;
    }
    byte[] key = rowPart;
    int familyEnd = 0; // In the key of the last column; 0: there is none yet.
    long hashed = 0;
    for (byte[] column : columns) {
      int length = rowPart.length + column.length;
      boolean sameFamily =
          familyEnd > rowPart.length
              && length >= familyEnd
              && Arrays.equals(
                  key, rowPart.length, familyEnd, column, 0, familyEnd - rowPart.length);
      if (key.length < length) {
        key = Arrays.copyOf(rowPart, length + SPARE_BYTES);
      }
      System.arraycopy(column, 0, key, rowPart.length, column.length);
      if (contains(index, key, length, KeyHash.of(key, length), options)) {
        return true;
      }
      if (!sameFamily) {
        familyEnd = ColumnKey.familyPartEnd(key, length, rowPart.length);
        if (familyTombstones
            && contains(index, key, familyEnd, KeyHash.of(key, familyEnd), options)) {
          return true;
        }
      }
      hashed += length;
      if (hashed >= HASHED_BETWEEN_CHECKS_BYTES) {
        hashed = 0;
        options.memory().requireWanted();
      }
    }
    return false;
  }

  /** Which keys the filter has. */
  Bloom kind() {
    return kind;
  }

  /** About how many bytes of memory it takes, its blocks not counted. */
  int weight() {
    return root.weight();
  }

  /** A way to the filter's blocks. */
  IndexCursor index(ReadOptions options) {
    return new IndexCursor(blocks, BlockKind.BLOOM_INDEX, root, options);
  }

  private boolean contains(
      IndexCursor index, byte[] key, int length, long hash, ReadOptions options)
      throws IOException {
    return index.seek(key, length) && blocks.bloom(index.handle(), options).mayContain(hash);
  }
}
