package io.stele.sstable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.format.CellCursor;
import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.model.CorruptionException;
import io.stele.model.RowRange;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SSTableReadTest {
  private static final int ROWS = 20_000;

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

  @Test
  void aFileIsOpenedWithOneRead() throws IOException {
    try (SSTable table = SSTableFiles.open(fs, NoBlockCache.INSTANCE)) {
      assertThat(fs.reads).isEqualTo(1);
      assertThat(table.index(ReadOptions.POINT).depth()).isGreaterThan(0);
    }
  }

  @Test
  void aLookupReadsAtMostOneDataBlock() throws IOException {
    CountingCache cache = new CountingCache();
    try (SSTable table = SSTableFiles.open(fs, cache)) {
      for (int i = 0; i < ROWS; i += 7) {
        cache.dataLoads = 0;
        Bytes row = Bytes.of(row(i));
        List<TestCell> found = SSTableFiles.scan(table, RowRange.single(row), ReadOptions.POINT);
        assertThat(found).containsExactly(cells.get(i));
        assertThat(cache.dataLoads).isEqualTo(1);
        cache.dataLoads = 0;
        Bytes absent = Bytes.of(row(i) + "x");
        assertThat(SSTableFiles.scan(table, RowRange.single(absent), ReadOptions.POINT)).isEmpty();
        assertThat(cache.dataLoads).isLessThanOrEqualTo(1);
      }
    }
  }

  @Test
  void theBloomFilterTellsMostAbsentRows() throws IOException {
    try (SSTable table = SSTableFiles.open(fs, new CountingCache())) {
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
  void aReadThatMayNotWaitGivesUpUnlessAllIsInMemory() throws IOException {
    try (SSTable table = SSTableFiles.open(fs, new CaffeineBlockCache(8 << 20))) {
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
  void theCacheKeepsToItsBoundAndCounts() throws IOException {
    CaffeineBlockCache cache = new CaffeineBlockCache(100_000);
    try (SSTable table = SSTableFiles.open(fs, cache)) {
      SSTableFiles.scan(table, RowRange.ALL, ReadOptions.SCAN);
      BlockCache.Statistics statistics = cache.statistics();
      assertThat(statistics.bytes()).isBetween(1L, 100_000L);
      assertThat(statistics.evictions()).isPositive();
      assertThat(statistics.misses()).isPositive();
      SSTableFiles.scan(table, RowRange.single(Bytes.of(row(0))), ReadOptions.POINT);
      SSTableFiles.scan(table, RowRange.single(Bytes.of(row(0))), ReadOptions.POINT);
      assertThat(cache.statistics().hits()).isGreaterThan(statistics.hits());
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
            SSTableFiles.local(), path, fs.contents.length, new CaffeineBlockCache(200_000))) {
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

  private static String row(int i) {
    return String.format("row%06d", i);
  }

  /** Keeps all but data blocks and counts those. */
  private static final class CountingCache implements BlockCache {
    private final Map<Long, CachedBlock> blocks = new HashMap<>();
    int dataLoads;

    @Override
    public CachedBlock get(long fileId, long offset, Loader loader) throws IOException {
      CachedBlock block = blocks.get(offset);
      if (block == null) {
        block = loader.load();
        if (block instanceof DataBlock) {
          dataLoads++;
        } else {
          blocks.put(offset, block);
        }
      }
      return block;
    }

    @Override
    public Optional<CachedBlock> getIfPresent(long fileId, long offset) {
      return Optional.ofNullable(blocks.get(offset));
    }

    @Override
    public Statistics statistics() {
      return Statistics.NONE;
    }
  }
}
