package io.stele.sstable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.format.CellCursor;
import io.stele.model.Bloom;
import io.stele.model.Bytes;
import io.stele.model.CachePriority;
import io.stele.model.Codec;
import io.stele.model.CorruptionException;
import io.stele.model.RowRange;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SSTableReadTest {
  private static final int ROWS = 20_000;

  /** From front to back, in many windows. */
  private static final ReadOptions LONG_WAY = new ReadOptions(false, 64 << 10, false);

  @TempDir java.nio.file.Path directory;

  private final List<TestCell> cells = new ArrayList<>();
  private ArrayFileSystem fs;

  @BeforeEach
  void aFileOfManyBlocks() throws IOException {
    for (int i = 0; i < ROWS; i++) {
      cells.add(TestCell.put(row(i), "q", i, "value " + i));
    }
    SSTableOptions options =
        SSTableOptions.DEFAULT.withBlockBytes(4096).withCodec(Codec.NONE).withIndexBytes(512, 2048);
    fs = new ArrayFileSystem(SSTableFiles.bytes(directory, options, 7, cells));
  }

  /** The same cells; nothing lies between the blocks that a cursor reads. */
  private ArrayFileSystem withDataBlocksOnly() throws IOException {
    SSTableOptions options =
        SSTableOptions.DEFAULT.withBlockBytes(4096).withCodec(Codec.NONE).withBloom(Bloom.NONE);
    return new ArrayFileSystem(SSTableFiles.bytes(directory, options, 8, cells));
  }

  @Test
  void aFileIsOpenedWithOneRead() throws IOException {
    try (SSTable table = SSTableFiles.open(fs, NoBlockCache.INSTANCE)) {
      assertThat(fs.reads).isEqualTo(1);
      assertThat(table.index(ReadOptions.POINT).depth()).isGreaterThan(0);
    }
  }

  /** Rows with long keys of which most is shared: small in the file, large in memory. */
  @ParameterizedTest
  @ValueSource(ints = {100, 2_000, 40_000})
  void howeverLargeTheFileItOpensWithOneReadAndHoldsTheSame(int rows) throws IOException {
    List<TestCell> many = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      many.add(TestCell.put("com.example.www/".repeat(10) + row(i), "q", 1, "value"));
    }
    SSTableOptions options =
        SSTableOptions.DEFAULT
            .withBlockBytes(64)
            .withBloom(Bloom.ROW_COLUMN)
            .withIndexBytes(4096, 64);
    ArrayFileSystem file = new ArrayFileSystem(SSTableFiles.bytes(directory, options, 8, many));
    try (SSTable table = SSTableFiles.open(file, NoBlockCache.INSTANCE)) {
      assertThat(file.reads).isEqualTo(1);
      assertThat(table.levels()).isEqualTo(rows == 100 ? 2 : rows == 2_000 ? 3 : 4);
      assertThat(table.heldBytes()).isLessThan(3 * 4096);
      file.reads = 0;
      Bytes row = many.get(rows / 3).row();
      assertThat(SSTableFiles.scan(table, RowRange.single(row), ReadOptions.POINT))
          .containsExactly(many.get(rows / 3));
      assertThat(file.reads).isEqualTo(table.levels());
    }
  }

  @Test
  void whatATabletNeedsFirstOfAFileComesWithTheReadThatOpensIt() throws IOException {
    SSTableOptions options =
        SSTableOptions.DEFAULT.withBlockBytes(64 << 10).withBloom(Bloom.ROW).withCodec(Codec.NONE);
    List<TestCell> large = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      large.add(TestCell.put(row(i), "q", i, "value ".repeat(100)));
    }
    ArrayFileSystem file = new ArrayFileSystem(SSTableFiles.bytes(directory, options, 9, large));
    assertThat(file.contents.length).isGreaterThan(4 * SSTableFormat.TAIL_BYTES);
    try (SSTable table = SSTableFiles.open(file, new CaffeineBlockCache(4 << 20, 0))) {
      assertThat(table.metaBlock("operations")).contains(Bytes.of("the operations"));
      Bytes row = large.get(100).row();
      assertThat(table.mayContainRow(row, ReadOptions.POINT)).isTrue();
      assertThat(file.reads).isEqualTo(1);
      SSTableFiles.scan(table, RowRange.single(row), ReadOptions.POINT);
      assertThat(file.reads).as("with the block that has the row").isEqualTo(2);
    }
  }

  @Test
  void aLookupReadsAtMostOneDataBlock() throws IOException {
    // Keeps all but data blocks.
    CaffeineBlockCache cache = new CaffeineBlockCache(8 << 20, 0);
    FileCaching low = new FileCaching(false, CachePriority.LOW);
    try (SSTable table = SSTableFiles.open(fs, cache, low)) {
      for (int i = 0; i < ROWS; i += 7) {
        long before = dataReads(cache);
        Bytes row = Bytes.of(row(i));
        List<TestCell> found = SSTableFiles.scan(table, RowRange.single(row), ReadOptions.POINT);
        assertThat(found).containsExactly(cells.get(i));
        assertThat(dataReads(cache)).isEqualTo(before + 1);
        Bytes absent = Bytes.of(row(i) + "x");
        assertThat(SSTableFiles.scan(table, RowRange.single(absent), ReadOptions.POINT)).isEmpty();
        assertThat(dataReads(cache)).isLessThanOrEqualTo(before + 2);
      }
    }
  }

  @Test
  void theBloomFilterTellsMostAbsentRows() throws IOException {
    try (SSTable table = SSTableFiles.open(fs, new CaffeineBlockCache(8 << 20, 0))) {
      int wrong = 0;
      for (int i = 0; i < ROWS; i++) {
        assertThat(table.mayContainRow(Bytes.of(row(i)), ReadOptions.POINT)).isTrue();
        wrong += table.mayContainRow(Bytes.of(row(i) + "x"), ReadOptions.POINT) ? 1 : 0;
      }
      assertThat(wrong).isLessThan(ROWS * 15 / 1000);
    }
  }

  @Test
  void aScanReadsManyBlocksAtOnce() throws IOException {
    try (SSTable table = SSTableFiles.open(fs, NoBlockCache.INSTANCE)) {
      fs.reads = 0;
      assertThat(SSTableFiles.scan(table, RowRange.ALL, ReadOptions.COMPACTION)).isEqualTo(cells);
      int ahead = fs.reads;
      fs.reads = 0;
      assertThat(SSTableFiles.scan(table, RowRange.ALL, ReadOptions.POINT)).isEqualTo(cells);
      assertThat(ahead).isLessThan(fs.reads / 3);
    }
  }

  @Test
  void aLongReadGoesStraightOnInTheStream() throws IOException {
    fs = withDataBlocksOnly();
    try (SSTable table = SSTableFiles.open(fs, NoBlockCache.INSTANCE)) {
      fs.reads = 0;
      assertThat(SSTableFiles.scan(table, RowRange.ALL, LONG_WAY)).isEqualTo(cells);
      assertThat(fs.seeks).isEqualTo(1);
      assertThat(fs.readsInPlace).isGreaterThan(3).isEqualTo(fs.reads - 1);
    }
  }

  @Test
  void oneReaderAtATimeHasTheStreamsPlace() throws IOException {
    fs = withDataBlocksOnly();
    try (SSTable table = SSTableFiles.open(fs, NoBlockCache.INSTANCE)) {
      List<TestCell> first = new ArrayList<>();
      List<TestCell> second = new ArrayList<>();
      try (CellCursor one = table.cursor(RowRange.ALL, LONG_WAY);
          CellCursor two = table.cursor(RowRange.ALL, LONG_WAY)) {
        while (one.next() && two.next()) {
          first.add(TestCell.current(one));
          second.add(TestCell.current(two));
        }
      }
      assertThat(first).isEqualTo(cells);
      assertThat(second).isEqualTo(cells);
      assertThat(fs.seeks).isEqualTo(1);
      assertThat(SSTableFiles.scan(table, RowRange.ALL, LONG_WAY)).isEqualTo(cells);
      assertThat(fs.seeks).isEqualTo(2);
    }
  }

  @Test
  void aReaderWhoseStreamFailsReadsAtPositions() throws IOException {
    fs = withDataBlocksOnly();
    try (SSTable table = SSTableFiles.open(fs, NoBlockCache.INSTANCE)) {
      fs.failingInPlace = true;
      assertThat(SSTableFiles.scan(table, RowRange.ALL, LONG_WAY)).isEqualTo(cells);
      assertThat(fs.readsInPlace).isPositive();
    }
  }

  @Test
  void aReadThatMayNotWaitGivesUpUnlessAllIsInMemory() throws IOException {
    try (SSTable table = SSTableFiles.open(fs, new CaffeineBlockCache(8 << 20, 0))) {
      RowRange range = RowRange.of(row(500), row(510));
      Bytes row = Bytes.of(row(500));
      assertThatThrownBy(() -> SSTableFiles.scan(table, range, ReadOptions.MEMORY_ONLY))
          .isInstanceOf(NotInMemoryException.class);
      assertThatThrownBy(() -> table.mayContainRow(row, ReadOptions.MEMORY_ONLY))
          .isInstanceOf(NotInMemoryException.class);
      List<TestCell> read = SSTableFiles.scan(table, range, ReadOptions.SCAN);
      assertThat(table.mayContainRow(row, ReadOptions.POINT)).isTrue();
      fs.reads = 0;
      assertThat(SSTableFiles.scan(table, range, ReadOptions.MEMORY_ONLY)).isEqualTo(read);
      assertThat(table.mayContainRow(row, ReadOptions.MEMORY_ONLY)).isTrue();
      assertThat(fs.reads).isZero();
    }
  }

  @Test
  void theMiddleRowHalvesTheFile() throws IOException {
    try (SSTable table = SSTableFiles.open(fs, NoBlockCache.INSTANCE)) {
      Bytes middle = table.middleRow(RowRange.ALL).orElseThrow();
      long lower = table.bytesIn(new RowRange(Bytes.EMPTY, middle));
      assertThat(lower).isBetween(table.length() * 45 / 100, table.length() * 55 / 100);
      RowRange quarter = new RowRange(Bytes.EMPTY, middle);
      Bytes next = table.middleRow(quarter).orElseThrow();
      assertThat(table.bytesIn(new RowRange(Bytes.EMPTY, next)))
          .isBetween(lower * 45 / 100, lower * 55 / 100);
    }
  }

  @Test
  void manyThreadsReadOneFile() throws Exception {
    Path path = new Path(directory.resolve("7.sst").toUri().getPath());
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try (SSTable table =
        SSTable.open(
            SSTableFiles.local(), path, fs.contents.length, new CaffeineBlockCache(200_000, 0))) {
      List<Future<List<TestCell>>> scans = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        ReadOptions options = i % 2 == 0 ? ReadOptions.SCAN : ReadOptions.COMPACTION;
        Callable<List<TestCell>> scan = () -> SSTableFiles.scan(table, RowRange.ALL, options);
        scans.add(threads.submit(scan));
      }
      for (Future<List<TestCell>> scan : scans) {
        assertThat(scan.get()).isEqualTo(cells);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void anInterruptedReaderDoesNotTakeTheFileFromTheOthers() throws Exception {
    Path path = new Path(directory.resolve("7.sst").toUri().getPath());
    try (SSTable table =
        SSTable.open(SSTableFiles.local(), path, fs.contents.length, NoBlockCache.INSTANCE)) {
      Thread.currentThread().interrupt();
      try {
        SSTableFiles.scan(table, RowRange.ALL, ReadOptions.SCAN);
      } catch (IOException e) {
        assertThat(e).isNotInstanceOf(CorruptionException.class);
      } finally {
        Thread.interrupted();
      }
      assertThat(SSTableFiles.scan(table, RowRange.ALL, ReadOptions.SCAN)).isEqualTo(cells);
    }
  }

  @Test
  void aClosedFileCannotBeRead() throws IOException {
    Path path = new Path(directory.resolve("7.sst").toUri().getPath());
    SSTable table =
        SSTable.open(SSTableFiles.local(), path, fs.contents.length, NoBlockCache.INSTANCE);
    CellCursor cursor = table.cursor(RowRange.ALL, ReadOptions.SCAN);
    table.close();
    table.close();
    assertThatThrownBy(cursor::next).isInstanceOf(IOException.class);
    assertThatThrownBy(cursor::next).isInstanceOf(IOException.class);
  }

  private static long dataReads(BlockCache cache) {
    return cache.statistics().of(CacheStatistics.Kind.DATA).misses();
  }

  private static String row(int i) {
    return String.format("row%06d", i);
  }
}
