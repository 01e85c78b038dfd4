package io.stele.sstable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.Seeds;
import io.stele.model.Codec;
import io.stele.model.RowRange;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Blocks off the heap: what is found there is what is in the file, or nothing. */
class OffHeapTest {
  private static final int ROWS = 2_000;
  private static final SSTableOptions OPTIONS =
      SSTableOptions.DEFAULT.withBlockBytes(512).withIndexBytes(512, 2048).withCodec(Codec.NONE);

  @TempDir java.nio.file.Path directory;

  private final List<TestCell> cells = new ArrayList<>();

  /** Has no room for a block on the heap. */
  private final CaffeineBlockCache cache = new CaffeineBlockCache(100, 4 << 20);

  @BeforeEach
  void cells() {
    for (int i = 0; i < ROWS; i++) {
      cells.add(TestCell.put(String.format("row%06d", i), "q", 5, "value"));
    }
  }

  @ParameterizedTest
  @EnumSource(Codec.class)
  void whatWasReadOnceIsReadWithoutTheFile(Codec codec) throws IOException {
    ArrayFileSystem fs = file(OPTIONS.withCodec(codec), 7);
    try (SSTable table = SSTableFiles.open(fs, cache)) {
      assertThat(scan(table)).isEqualTo(cells);
      fs.failing = true;
      assertThat(scan(table)).isEqualTo(cells);
      assertThat(SSTableFiles.scan(table, RowRange.ALL, ReadOptions.POINT)).isEqualTo(cells);
      for (TestCell cell : cells.subList(0, 100)) {
        assertThat(SSTableFiles.scan(table, RowRange.single(cell.row()), ReadOptions.POINT))
            .containsExactly(cell);
      }
      CacheStatistics.Counts data = cache.statistics().of(CacheStatistics.Kind.DATA);
      assertThat(data.misses()).isEqualTo(table.properties().dataBlocks());
      assertThat(data.offHeapHits()).isGreaterThanOrEqualTo(2 * data.misses());
    }
  }

  @Test
  void aDamagedBlockIsNoticedAndReadAgainFromTheFile() throws IOException {
    ArrayFileSystem fs = file(OPTIONS, 7);
    try (SSTable table = SSTableFiles.open(fs, cache)) {
      assertThat(scan(table)).isEqualTo(cells);
      IndexCursor index = table.index(ReadOptions.POINT);
      index.first();
      Handle handle = index.handle();
      byte[] good = Arrays.copyOfRange(fs.contents, (int) handle.offset(), (int) handle.end());
      for (int bit = 0; bit < good.length * 8; bit += bit < 80 ? 1 : 13) {
        byte[] bad = good.clone();
        bad[bit >> 3] ^= (byte) (1 << (bit & 7));
        assertNotTaken(table, fs, handle, bad);
      }
      assertNotTaken(table, fs, handle, Arrays.copyOf(good, good.length - 1));
      assertNotTaken(table, fs, handle, Arrays.copyOf(good, good.length + 1));
    }
  }

  @Test
  void aReadThatMayNotWaitForgetsADamagedBlockAndGivesUp() throws IOException {
    ArrayFileSystem fs = file(OPTIONS, 7);
    try (SSTable table = SSTableFiles.open(fs, cache)) {
      assertThat(scan(table)).isEqualTo(cells);
      IndexCursor index = table.index(ReadOptions.POINT);
      index.first();
      byte[] bad = bytesAt(fs, index.handle());
      bad[30] ^= 1;
      putOffHeap(table, index.handle(), bad);
      RowRange first = RowRange.single(cells.get(0).row());
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(() -> SSTableFiles.scan(table, first, ReadOptions.MEMORY_ONLY))
            .isInstanceOf(NotInMemoryException.class);
      }
      assertThat(cache.statistics().damagedBlocks()).isEqualTo(1);
    }
  }

  @Test
  void aBlockInThePlaceOfAnotherOrOfAnotherFileIsNoticed() throws IOException {
    ArrayFileSystem fs = file(OPTIONS, 7);
    ArrayFileSystem otherFs = file(OPTIONS, 8);
    try (SSTable table = SSTableFiles.open(fs, cache)) {
      assertThat(scan(table)).isEqualTo(cells);
      IndexCursor index = table.index(ReadOptions.POINT);
      index.first();
      Handle first = index.handle();
      Handle second = Handle.NONE;
      while (second.length() != first.length()) {
        assertThat(index.next()).isTrue();
        second = index.handle();
      }
      assertNotTaken(table, fs, first, bytesAt(fs, second));
      assertNotTaken(table, fs, second, bytesAt(fs, first));
      assertNotTaken(table, fs, first, bytesAt(otherFs, first));
    }
  }

  @Test
  void whereThereIsNoRoomTheOldestGoAndNothingIsEverWrong() throws Exception {
    long seed = Seeds.one();
    CaffeineOffHeap offHeap = new CaffeineOffHeap(40 * DirectPages.PAGE_BYTES);
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Future<Integer>> found = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        Random random = new Random(seed + thread);
        Callable<Integer> run = () -> putAndGet(offHeap, random);
        found.add(threads.submit(run));
      }
      for (Future<Integer> one : found) {
        assertThat(one.get()).as("seed %d", seed).isPositive();
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(offHeap.bytes()).isBetween(1L, 40L * DirectPages.PAGE_BYTES);
  }

  @Test
  void pagesAreTakenOnceAndGivenBack() {
    DirectPages pages = new DirectPages(10 * DirectPages.PAGE_BYTES + 100);
    int[] six = pages.take(6);
    int[] four = pages.take(4);
    assertThat(pages.take(1)).isEmpty();
    byte[] bytes = new byte[5 * DirectPages.PAGE_BYTES + 17];
    new Random(1).nextBytes(bytes);
    pages.write(six, bytes, 0, bytes.length);
    pages.write(four, new byte[4 * DirectPages.PAGE_BYTES], 0, 4 * DirectPages.PAGE_BYTES);
    assertThat(pages.read(six, bytes.length)).isEqualTo(bytes);
    pages.give(six);
    assertThat(pages.take(7)).isEmpty();
    assertThat(pages.take(6)).containsExactlyInAnyOrder(six);
  }

  /** Blocks whose every byte tells which one it is; how many were found. */
  private static int putAndGet(CaffeineOffHeap offHeap, Random random) {
    int found = 0;
    for (int i = 0; i < 30_000; i++) {
      int number = random.nextInt(100);
      CacheKey.Block key = new CacheKey.Block(1, number);
      int length = 1 + number * 117;
      byte[] got = offHeap.get(key).orElse(new byte[0]);
      if (got.length > 0) {
        found++;
        byte[] expected = new byte[length];
        Arrays.fill(expected, (byte) number);
        assertThat(Arrays.equals(got, expected)).as("block %d", number).isTrue();
      } else {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) number);
        offHeap.put(key, bytes, 0, length);
      }
    }
    return found;
  }

  private void assertNotTaken(SSTable table, ArrayFileSystem fs, Handle handle, byte[] bad)
      throws IOException {
    putOffHeap(table, handle, bad);
    long damaged = cache.statistics().damagedBlocks();
    fs.reads = 0;
    assertThat(scan(table)).isEqualTo(cells);
    assertThat(fs.reads).isEqualTo(1);
    assertThat(cache.statistics().damagedBlocks()).isEqualTo(damaged + 1);
  }

  private void putOffHeap(SSTable table, Handle handle, byte[] bytes) {
    DataBlock any = new DataBlock(new Contents(new byte[0], 0, 0));
    cache
        .open(table.footer().fileId(), table.length(), FileCaching.NORMAL)
        .read(
            BlockKind.DATA,
            new Handle(handle.offset(), bytes.length),
            any,
            new StoredBlock(bytes, 0, false));
  }

  private static byte[] bytesAt(ArrayFileSystem fs, Handle handle) {
    return Arrays.copyOfRange(fs.contents, (int) handle.offset(), (int) handle.end());
  }

  private ArrayFileSystem file(SSTableOptions options, long id) throws IOException {
    return new ArrayFileSystem(SSTableFiles.bytes(directory, options, id, cells));
  }

  private static List<TestCell> scan(SSTable table) throws IOException {
    return SSTableFiles.scan(table, RowRange.ALL, ReadOptions.SCAN);
  }
}
