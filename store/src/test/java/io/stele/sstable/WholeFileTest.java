package io.stele.sstable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bloom;
import io.stele.model.Bytes;
import io.stele.model.CachePriority;
import io.stele.model.Codec;
import io.stele.model.CorruptionException;
import io.stele.model.RowRange;
import io.stele.runtime.MemoryClaim;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Files of in-memory locality groups: loaded at the first read, then read without the file system.
 */
class WholeFileTest {
  private static final int ROWS = 20_000;
  private static final FileCaching IN_MEMORY = new FileCaching(true, CachePriority.NORMAL);
  private static final SSTableOptions OPTIONS =
      SSTableOptions.DEFAULT
          .withBlockBytes(4096)
          .withIndexBytes(512, 2048)
          .withBloom(Bloom.ROW_COLUMN);

  @TempDir java.nio.file.Path directory;

  private final List<TestCell> cells = new ArrayList<>();
  private final CaffeineBlockCache cache = new CaffeineBlockCache(16 << 20, 0);

  @BeforeEach
  void cells() {
    for (int i = 0; i < ROWS; i++) {
      cells.add(TestCell.put(row(i), "q", i, "value " + i + " ".repeat(50)));
    }
  }

  @ParameterizedTest
  @EnumSource(Codec.class)
  void afterTheFirstReadNothingTouchesTheFileSystem(Codec codec) throws IOException {
    ArrayFileSystem fs = file(OPTIONS.withCodec(codec));
    try (SSTable table = SSTableFiles.open(fs, cache, IN_MEMORY)) {
      assertThat(fs.reads).isEqualTo(1);
      fs.bytesRead = 0;
      assertThat(read(table, 100)).containsExactly(cells.get(100));
      // All of the file once, a chunk at a time.
      assertThat(fs.reads).isLessThanOrEqualTo(2 + (int) (table.length() >> 20));
      assertThat(fs.bytesRead).isLessThanOrEqualTo(table.length());
      fs.failing = true;
      assertThat(SSTableFiles.scan(table, RowRange.ALL, ReadOptions.SCAN)).isEqualTo(cells);
      assertThat(SSTableFiles.scan(table, RowRange.ALL, ReadOptions.MEMORY_ONLY)).isEqualTo(cells);
      ReadOptions once = ReadOptions.once(MemoryClaim.NONE).first(1 << 20);
      assertThat(SSTableFiles.scan(table, RowRange.ALL, once)).isEqualTo(cells);
      for (int i = 0; i < ROWS; i += 10) {
        assertThat(read(table, i)).containsExactly(cells.get(i));
        assertThat(table.mayContainRow(Bytes.of(row(i)), ReadOptions.MEMORY_ONLY)).isTrue();
        table.mayContainRow(Bytes.of(row(i) + "x"), ReadOptions.POINT);
      }
      assertThat(table.middleRow(RowRange.ALL)).isPresent();
      CacheStatistics statistics = cache.statistics();
      assertThat(statistics.wholeFiles()).isEqualTo(1);
      assertThat(statistics.wholeBytes()).isGreaterThan(table.properties().rawBytes());
      assertThat(statistics.of(CacheStatistics.Kind.DATA).wholeHits()).isPositive();
      assertThat(statistics.of(CacheStatistics.Kind.DATA).misses()).isZero();
      assertThat(statistics.heapBytes()).isZero();
    }
    assertThat(cache.statistics().wholeFiles()).isZero();
    assertThat(cache.statistics().wholeBytes()).isZero();
  }

  @Test
  void aReadDoesNotWaitForAnotherThatLoadsTheFile() throws IOException {
    ArrayFileSystem fs = file(OPTIONS);
    try (SSTable table = SSTableFiles.open(fs, cache, IN_MEMORY)) {
      CompletableFuture<List<TestCell>> meanwhile = new CompletableFuture<>();
      fs.beforeRead =
          () -> {
            fs.beforeRead = () -> {};
            CompletableFuture.runAsync(() -> meanwhile.complete(readUnchecked(table, 50)));
            meanwhile.orTimeout(60, TimeUnit.SECONDS).join();
          };
      assertThat(read(table, 100)).containsExactly(cells.get(100));
      assertThat(meanwhile.join()).containsExactly(cells.get(50));
      assertThat(cache.statistics().wholeFiles()).isEqualTo(1);
    }
  }

  private List<TestCell> readUnchecked(SSTable table, int row) {
    try {
      return read(table, row);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aReadThatMayNotWaitDoesNotLoad() throws IOException {
    ArrayFileSystem fs = file(OPTIONS);
    try (SSTable table = SSTableFiles.open(fs, cache, IN_MEMORY)) {
      fs.failing = true;
      assertThatThrownBy(() -> SSTableFiles.scan(table, RowRange.ALL, ReadOptions.MEMORY_ONLY))
          .isInstanceOf(NotInMemoryException.class);
    }
  }

  @Test
  void nothingIsPushedOutHoweverMuchElseIsRead() throws IOException {
    ArrayFileSystem fs = file(OPTIONS.withCodec(Codec.NONE));
    CaffeineBlockCache small = new CaffeineBlockCache(5 << 20, 0);
    try (SSTable table = SSTableFiles.open(fs, small, IN_MEMORY);
        SSTable other = SSTableFiles.open(file(OPTIONS.withCodec(Codec.NONE), 8), small)) {
      read(table, 0);
      for (int i = 0; i < 5; i++) {
        SSTableFiles.scan(other, RowRange.ALL, ReadOptions.SCAN);
      }
      CacheStatistics statistics = small.statistics();
      assertThat(statistics.heapBytes() + statistics.wholeBytes()).isLessThanOrEqualTo(5 << 20);
      fs.failing = true;
      assertThat(SSTableFiles.scan(table, RowRange.ALL, ReadOptions.SCAN)).isEqualTo(cells);
    }
  }

  @Test
  void whereThereIsNoRoomTheFileIsReadBlockByBlock() throws IOException {
    ArrayFileSystem fs = file(OPTIONS);
    CaffeineBlockCache small = new CaffeineBlockCache(2 << 20, 0);
    try (SSTable table = SSTableFiles.open(fs, small, IN_MEMORY)) {
      assertThat(read(table, 0)).containsExactly(cells.get(0));
      assertThat(small.statistics().refusedFiles()).isEqualTo(1);
      assertThat(small.statistics().wholeBytes()).isZero();
      fs.bytesRead = 0;
      assertThat(read(table, ROWS / 2)).containsExactly(cells.get(ROWS / 2));
      assertThat(fs.bytesRead).isBetween(1L, 20_000L);
      assertThat(small.statistics().refusedFiles()).isEqualTo(1);
      assertThat(SSTableFiles.scan(table, RowRange.ALL, ReadOptions.SCAN)).isEqualTo(cells);
      assertThat(small.statistics().heapBytes()).isPositive();
    }
  }

  @Test
  void ofADamagedFileWhatIsWholeIsReadBlockByBlock() throws IOException {
    ArrayFileSystem fs = file(OPTIONS.withCodec(Codec.NONE));
    fs.contents[fs.contents.length / 2] ^= 1;
    try (SSTable table = SSTableFiles.open(fs, cache, IN_MEMORY)) {
      assertThat(read(table, 0)).containsExactly(cells.get(0));
      assertThat(read(table, ROWS - 1)).containsExactly(cells.get(ROWS - 1));
      assertThatThrownBy(() -> SSTableFiles.scan(table, RowRange.ALL, ReadOptions.SCAN))
          .isInstanceOf(CorruptionException.class);
      assertThat(cache.statistics().wholeBytes()).isZero();
      assertThat(cache.statistics().refusedFiles()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {SSTableFormat.CONTENTS_BYTES_MAX + 1, Integer.MAX_VALUE})
  void noMemoryIsTakenForALengthThatNoBlockHas(int length) throws IOException {
    ArrayFileSystem fs = file(OPTIONS);
    fs.holeBytes = 4L << 30; // So the file has room for such a block.
    fs.bytesBehindHole = SSTableFormat.FOOTER_BYTES;
    try (SSTable table = SSTableFiles.open(fs, cache, IN_MEMORY)) {
      ByteBuffer.wrap(fs.contents)
          .order(ByteOrder.LITTLE_ENDIAN)
          .putInt(SSTableFormat.HEADER_BYTES, length);
      fs.bytesRead = 0;
      assertThat(read(table, ROWS - 1)).containsExactly(cells.get(ROWS - 1));
      assertThat(fs.bytesRead).isLessThan(2 << 20);
      assertThat(cache.statistics().refusedFiles()).isEqualTo(1);
      assertThatThrownBy(() -> read(table, 0)).isInstanceOf(CorruptionException.class);
    }
  }

  @Test
  void aFailedLoadIsTriedAgain() throws IOException {
    ArrayFileSystem fs = file(OPTIONS);
    try (SSTable table = SSTableFiles.open(fs, cache, IN_MEMORY)) {
      fs.failing = true;
      assertThatThrownBy(() -> read(table, 0)).isInstanceOf(IOException.class);
      assertThat(cache.statistics().wholeBytes()).isZero();
      fs.failing = false;
      assertThat(read(table, 0)).containsExactly(cells.get(0));
      assertThat(cache.statistics().wholeFiles()).isEqualTo(1);
    }
  }

  @Test
  void threadsThatReadAtOnceLoadTheFileOnce() throws Exception {
    ArrayFileSystem fs = file(OPTIONS);
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try (SSTable table = SSTableFiles.open(fs, cache, IN_MEMORY)) {
      fs.bytesRead = 0;
      List<Future<List<TestCell>>> found = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        int number = i;
        Callable<List<TestCell>> reader = () -> read(table, number);
        found.add(threads.submit(reader));
      }
      for (int i = 0; i < 4; i++) {
        assertThat(found.get(i).get()).containsExactly(cells.get(i));
      }
      assertThat(cache.statistics().wholeFiles()).isEqualTo(1);
      assertThat(fs.bytesRead).isLessThan(2 * table.length()); // The file, and single blocks.
    } finally {
      threads.shutdownNow();
    }
  }

  private static List<TestCell> read(SSTable table, int i) throws IOException {
    return SSTableFiles.scan(table, RowRange.single(Bytes.of(row(i))), ReadOptions.POINT);
  }

  private ArrayFileSystem file(SSTableOptions options) throws IOException {
    return file(options, 7);
  }

  private ArrayFileSystem file(SSTableOptions options, long id) throws IOException {
    return new ArrayFileSystem(SSTableFiles.bytes(directory, options, id, cells));
  }

  private static String row(int i) {
    return String.format("row%06d", i);
  }
}
