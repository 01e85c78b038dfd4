package io.stele.benchmarks;

import io.stele.format.CellCursor;
import io.stele.format.ColumnKey;
import io.stele.format.Crc32c;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.sstable.BlockCache;
import io.stele.sstable.CaffeineBlockCache;
import io.stele.sstable.NoBlockCache;
import io.stele.sstable.ReadOptions;
import io.stele.sstable.SSTable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * What is measured of SSTables: each method is one run of one kind of work on one file, the same
 * for {@link SSTableBenchmark} and {@link SSTableSpeed}.
 */
final class SSTableReads {
  private static final int CHUNK_BYTES = 64 << 10;

  /** Looks in the block cache and not in the scan cache. */
  private static final ReadOptions BLOCKS = new ReadOptions(true, 1, false);

  private final byte[] file;
  private final byte[] copy = new byte[CHUNK_BYTES];
  private final SSTable uncached;
  private final SSTable cached;
  private final RowRange[] rows;
  private final byte[][] rowParts;
  private final byte[][] absentRows;
  private final List<List<byte[]>> absentColumns;
  private int next;

  /**
   * @param queries number of different rows to ask for, at random; a power of 2
   */
  SSTableReads(SSTableFixture fixture, int queries) throws IOException {
    this(fixture, queries, new CaffeineBlockCache(2L << 30, 0));
  }

  SSTableReads(SSTableFixture fixture, int queries, BlockCache cache) throws IOException {
    file = fixture.bytes().toByteArray();
    uncached = SSTable.open(fixture.fs(), fixture.path(), fixture.length(), NoBlockCache.INSTANCE);
    cached = SSTable.open(fixture.fs(), fixture.path(), fixture.length(), cache);
    Random random = new Random(2);
    rows = new RowRange[queries];
    rowParts = new byte[queries][];
    absentRows = new byte[queries][];
    absentColumns = new ArrayList<>();
    for (int i = 0; i < queries; i++) {
      int number = random.nextInt(fixture.rows());
      Bytes row = SSTableFixture.row(number);
      rows[i] = RowRange.single(row);
      rowParts[i] = ColumnKey.ofRow(row);
      absentRows[i] = ColumnKey.ofRow(SSTableFixture.absentRow(number));
      byte[] absent = ColumnKey.of(row, SSTableFixture.FAMILY, Bytes.of("other" + number));
      absentColumns.add(List.of(Arrays.copyOfRange(absent, rowParts[i].length, absent.length)));
    }
    scan(cached, ReadOptions.SCAN);
    for (int i = 0; i < queries; i++) {
      absentRow();
    }
  }

  /** The length of the file. */
  int bytes() {
    return file.length;
  }

  /** The least that reading the file can cost: its bytes copied, and their checksum. */
  long copyAndChecksum() {
    long sum = 0;
    for (int at = 0; at < file.length; at += CHUNK_BYTES) {
      int length = Math.min(CHUNK_BYTES, file.length - at);
      System.arraycopy(file, at, copy, 0, length);
      sum += Crc32c.of(copy, 0, length);
    }
    return sum;
  }

  /** Every cell of the file, each block read, checked and decoded. */
  long scan() throws IOException {
    return scan(uncached, ReadOptions.COMPACTION);
  }

  /** Every cell of the file, all blocks in the cache. */
  long scanCached() throws IOException {
    return scan(cached, ReadOptions.SCAN);
  }

  /** A row, all blocks in the cache. */
  long row() throws IOException {
    return read(rows[next()], BLOCKS);
  }

  /** A row that is looked for in the scan cache too. */
  long rowOfScanCache() throws IOException {
    return read(rows[next()], ReadOptions.POINT);
  }

  /** A row of 256, which are in the scan cache. */
  long hotRow() throws IOException {
    return read(rows[next() & 255], ReadOptions.POINT);
  }

  /** A row of 256, which are not looked for in the scan cache. */
  long hotRowOfBlock() throws IOException {
    return read(rows[next() & 255], BLOCKS);
  }

  /** The Bloom filter asked for a row that is not there. */
  boolean absentRow() throws IOException {
    return cached.mayContainRow(absentRows[next()], ReadOptions.POINT);
  }

  /** The Bloom filter asked for a column that a row does not have. */
  boolean absentColumn() throws IOException {
    int i = next();
    return cached.mayContainColumns(rowParts[i], absentColumns.get(i), ReadOptions.POINT);
  }

  private int next() {
    next = (next + 1) & (rows.length - 1);
    return next;
  }

  private long read(RowRange row, ReadOptions options) throws IOException {
    return sum(cached, row, options);
  }

  private static long scan(SSTable table, ReadOptions options) throws IOException {
    return sum(table, RowRange.ALL, options);
  }

  private static long sum(SSTable table, RowRange bounds, ReadOptions options) throws IOException {
    long sum = 0;
    try (CellCursor cells = table.cursor(bounds, options)) {
      while (cells.next()) {
        sum += cells.keyLength() + cells.valueLength() + cells.timestamp();
      }
    }
    return sum;
  }
}
