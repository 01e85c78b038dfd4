package io.stele.sstable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.Seeds;
import io.stele.model.Bytes;
import io.stele.model.CachePriority;
import io.stele.model.Codec;
import io.stele.model.RowRange;
import io.stele.runtime.MemoryClaim;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the cache keeps, for whom, and within which bounds. */
class BlockCacheTest {
  private static final int ROWS = 20_000;
  private static final SSTableOptions OPTIONS =
      SSTableOptions.DEFAULT.withBlockBytes(4096).withCodec(Codec.NONE).withIndexBytes(512, 2048);
  private static final FileCaching LOW = new FileCaching(false, CachePriority.LOW);
  private static final FileCaching HIGH = new FileCaching(false, CachePriority.HIGH);

  @TempDir java.nio.file.Path directory;

  private final List<TestCell> cells = new ArrayList<>();
  private ArrayFileSystem fs;

  @BeforeEach
  void aFileOfManyBlocks() throws IOException {
    for (int i = 0; i < ROWS; i++) {
      cells.add(TestCell.put(row(i), "q", i, "value " + i + " ".repeat(80)));
    }
    fs = file(7);
  }

  @Test
  void theCacheKeepsToItsBoundAndCounts() throws IOException {
    CaffeineBlockCache cache = new CaffeineBlockCache(100_000, 0);
    try (SSTable table = SSTableFiles.open(fs, cache)) {
      SSTableFiles.scan(table, RowRange.ALL, ReadOptions.SCAN);
      CacheStatistics scanned = cache.statistics();
      assertThat(scanned.bytesMax()).isEqualTo(100_000);
      assertThat(scanned.heapBytes()).isBetween(50_000L, 100_000L);
      assertThat(scanned.evictions()).isPositive();
      assertThat(data(cache).misses()).isEqualTo(table.properties().dataBlocks());
      assertThat(data(cache).hitRate()).hasValue(0);
      for (int i = 0; i < 10; i++) {
        scan(table, 0, 1);
      }
      assertThat(data(cache).heapHits()).isPositive();
      assertThat(cache.statistics().of(CacheStatistics.Kind.INDEX).heapHits()).isPositive();
      table.mayContainRow(Bytes.of(row(0)), ReadOptions.POINT);
      assertThat(cache.statistics().of(CacheStatistics.Kind.BLOOM).misses()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 100_000})
  void aScanOfTwentyTimesTheCacheDoesNotPushOutWhatIsReadOften(int offHeapBytes)
      throws IOException {
    CaffeineBlockCache cache = new CaffeineBlockCache(100_000, offHeapBytes);
    try (SSTable table = SSTableFiles.open(fs, cache)) {
      assertThat(table.length()).isGreaterThan(2_000_000);
      for (int round = 0; round < 20; round++) {
        readHotRows(table);
      }
      SSTableFiles.scan(table, RowRange.ALL, ReadOptions.SCAN);
      SSTableFiles.scan(table, RowRange.ALL, ReadOptions.SCAN);
      fs.reads = 0;
      int asked = readHotRows(table);
      assertThat(fs.reads).isLessThanOrEqualTo(asked / 10);
    }
  }

  @Test
  void aScanThatIsMadeOnceTakesWhatTheCacheHasAndLeavesItAsItIs() throws IOException {
    CaffeineBlockCache cache = new CaffeineBlockCache(8 << 20, 0);
    try (SSTable table = SSTableFiles.open(fs, cache)) {
      ReadOptions once = ReadOptions.once(MemoryClaim.NONE).first(table.length());
      fs.reads = 0;
      assertThat(SSTableFiles.scan(table, RowRange.ALL, once)).isEqualTo(cells);
      assertThat(fs.reads).isLessThan((int) table.properties().dataBlocks() / 5);
      assertThat(data(cache)).isEqualTo(CacheStatistics.Counts.NONE);
      List<TestCell> some = scan(table, 0, 500);
      fs.failing = true;
      assertThat(SSTableFiles.scan(table, RowRange.of(row(0), row(400)), once))
          .isEqualTo(some.subList(0, 400));
    }
  }

  @Test
  void lowPriorityKeepsIndexAndFilterAndNoData() throws IOException {
    CaffeineBlockCache cache = new CaffeineBlockCache(8 << 20, 1 << 20);
    try (SSTable table = SSTableFiles.open(fs, cache, LOW)) {
      for (int i = 0; i < 3; i++) {
        fs.reads = 0;
        readRow(table, 100);
        table.mayContainRow(Bytes.of(row(100)), ReadOptions.POINT);
      }
      assertThat(fs.reads).isEqualTo(1);
      assertThat(data(cache).misses()).isEqualTo(3);
      assertThat(data(cache).heapHits() + data(cache).offHeapHits()).isZero();
      assertThat(cache.statistics().of(CacheStatistics.Kind.ROW))
          .isEqualTo(CacheStatistics.Counts.NONE);
    }
  }

  @Test
  void highPriorityIsNotPushedOutByOthersHoweverOftenTheyAreRead() throws IOException {
    ArrayFileSystem highFs = file(8);
    CaffeineBlockCache cache = new CaffeineBlockCache(400_000, 0);
    try (SSTable high = SSTableFiles.open(highFs, cache, HIGH);
        SSTable normal = SSTableFiles.open(fs, cache)) {
      // Some 60 KB, where high priority has 100 KB to itself.
      List<TestCell> some = scan(high, 0, 500);
      for (int i = 0; i < 20; i++) {
        scan(normal, 0, ROWS / 2);
      }
      highFs.failing = true;
      assertThat(scan(high, 0, 500)).isEqualTo(some);
    }
  }

  @Test
  void whatHighPriorityDoesNotUseOthersDoAndItIsTakenBack() throws IOException {
    ArrayFileSystem highFs = file(8);
    CaffeineBlockCache cache = new CaffeineBlockCache(400_000, 0);
    try (SSTable normal = SSTableFiles.open(fs, cache)) {
      scan(normal, 0, ROWS);
      assertThat(cache.statistics().heapBytes()).isBetween(350_000L, 400_000L);
      try (SSTable high = SSTableFiles.open(highFs, cache, HIGH)) {
        scan(high, 0, ROWS);
        assertThat(cache.statistics().heapBytes()).isBetween(350_000L, 400_000L);
      }
      scan(normal, 0, ROWS);
      assertThat(cache.statistics().heapBytes()).isBetween(350_000L, 400_000L);
    }
  }

  @Test
  void blocksOfClosedFilesGo() throws IOException {
    CaffeineBlockCache cache = new CaffeineBlockCache(400_000, 400_000);
    try (SSTable table = SSTableFiles.open(fs, cache)) {
      for (int i = 0; i < 3; i++) {
        scan(table, 0, 2_000);
        readRow(table, 5);
      }
      assertThat(cache.statistics().heapBytes()).isPositive();
      assertThat(cache.statistics().offHeapBytes()).isPositive();
    }
    assertThat(cache.statistics().heapBytes()).isZero();
    assertThat(cache.statistics().offHeapBytes()).isZero();
  }

  @Test
  void whateverIsReadTheCacheKeepsToItsBounds() throws IOException {
    long seed = Seeds.one();
    Random random = new Random(seed);
    CaffeineBlockCache cache = new CaffeineBlockCache(300_000, 200_000);
    List<SSTable> open = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      if (open.size() < 4) {
        FileCaching caching =
            new FileCaching(
                random.nextInt(3) == 0,
                CachePriority.values()[random.nextInt(CachePriority.values().length)]);
        open.add(SSTableFiles.open(small(i + 100, random.nextInt(3_000)), cache, caching));
      }
      SSTable table = open.get(random.nextInt(open.size()));
      int from = random.nextInt(3_000);
      scan(table, from, from + random.nextInt(1_000));
      readRow(table, random.nextInt(20));
      CacheStatistics now = cache.statistics();
      assertThat(now.heapBytes() + now.wholeBytes()).as("seed %d", seed).isBetween(0L, 300_000L);
      assertThat(now.offHeapBytes()).as("seed %d", seed).isBetween(0L, 200_000L);
      if (random.nextInt(5) == 0) {
        open.remove(table);
        table.close();
      }
    }
    for (SSTable table : open) {
      table.close();
    }
    assertThat(cache.statistics().wholeBytes()).as("seed %d", seed).isZero();
    assertThat(cache.statistics().wholeFiles()).as("seed %d", seed).isZero();
  }

  @Test
  void aReadThatMayNotWaitTakesBlocksFromOffTheHeap() throws IOException {
    CaffeineBlockCache cache = new CaffeineBlockCache(10_000, 4 << 20);
    try (SSTable table = SSTableFiles.open(fs, cache)) {
      List<TestCell> read = scan(table, 0, 1_000);
      fs.failing = true;
      assertThat(SSTableFiles.scan(table, RowRange.of(row(0), row(1_000)), ReadOptions.MEMORY_ONLY))
          .isEqualTo(read);
      assertThat(data(cache).offHeapHits()).isPositive();
      assertThatThrownBy(
              () ->
                  SSTableFiles.scan(
                      table, RowRange.of(row(0), row(2_000)), ReadOptions.MEMORY_ONLY))
          .isInstanceOf(NotInMemoryException.class);
    }
  }

  /** Reads 40 rows in 20 places. */
  private int readHotRows(SSTable table) throws IOException {
    for (int i = 0; i < 20; i++) {
      readRow(table, i * 997);
      readRow(table, i * 997 + 1);
    }
    return 40;
  }

  private void readRow(SSTable table, int i) throws IOException {
    RowRange row = RowRange.single(Bytes.of(row(i)));
    List<TestCell> found = SSTableFiles.scan(table, row, ReadOptions.POINT);
    assertThat(found).isIn(List.of(cells.get(i)), List.of());
  }

  private static List<TestCell> scan(SSTable table, int from, int to) throws IOException {
    return SSTableFiles.scan(table, RowRange.of(row(from), row(to)), ReadOptions.SCAN);
  }

  private ArrayFileSystem file(long id) throws IOException {
    return new ArrayFileSystem(SSTableFiles.bytes(directory, OPTIONS, id, cells));
  }

  private ArrayFileSystem small(long id, int rows) throws IOException {
    return new ArrayFileSystem(SSTableFiles.bytes(directory, OPTIONS, id, cells.subList(0, rows)));
  }

  private static CacheStatistics.Counts data(CaffeineBlockCache cache) {
    return cache.statistics().of(CacheStatistics.Kind.DATA);
  }

  private static String row(int i) {
    return String.format("row%06d", i);
  }
}
