package io.stele.sstable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.format.ByteWriter;
import io.stele.format.MalformedException;
import io.stele.model.CachePriority;
import io.stele.model.Codec;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Blocks that are far larger than the others take memory only after they were granted it. */
class LargeBlockTest {
  /** It compresses so well that its stored form alone would not be claimed. */
  private static final TestCell LARGE = TestCell.put("large", "q", 5, "0123456789".repeat(200_000));

  private static final TestCell SMALL = TestCell.put("small", "q", 5, "value");

  @TempDir java.nio.file.Path directory;

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void isNotUncompressedByAReadThatIsGrantedNoMemory(boolean cached) throws IOException {
    CaffeineBlockCache cache = new CaffeineBlockCache(64 << 20, 0);
    ReadOptions options = cached ? ReadOptions.POINT : ReadOptions.COMPACTION;
    try (SSTable table = SSTableFiles.open(file(Codec.LZ4), cache)) {
      RowRange row = RowRange.single(LARGE.row());
      ReadOptions refused =
          options.claiming(
              bytes -> {
                assertThat(bytes).isGreaterThan(LARGE.value().length());
                throw SteleException.retryLater("no memory");
              });
      assertThatThrownBy(() -> SSTableFiles.scan(table, row, refused))
          .isInstanceOf(SteleException.class);
      // It would be in the cache if it had been uncompressed.
      assertThat(cache.statistics().heapBytes()).isLessThan(LARGE.value().length());
      assertThat(SSTableFiles.scan(table, row, options)).containsExactly(LARGE);
    }
  }

  @Test
  void isNotReadByThoseThatNeverWait() throws IOException {
    CaffeineBlockCache cache = new CaffeineBlockCache(100, 16 << 20); // All is kept off the heap.
    try (SSTable table = SSTableFiles.open(file(Codec.LZ4), cache)) {
      assertThat(SSTableFiles.scan(table, RowRange.ALL, ReadOptions.POINT))
          .containsExactly(LARGE, SMALL);
      RowRange small = RowRange.single(SMALL.row());
      assertThat(SSTableFiles.scan(table, small, ReadOptions.MEMORY_ONLY)).containsExactly(SMALL);
      RowRange large = RowRange.single(LARGE.row());
      assertThatThrownBy(() -> SSTableFiles.scan(table, large, ReadOptions.MEMORY_ONLY))
          .isInstanceOf(NotInMemoryException.class);
    }
  }

  @Test
  void isNotReadForACacheThatHasNoRoomForIt() throws IOException {
    ArrayFileSystem fs = file(Codec.NONE);
    CaffeineBlockCache cache = new CaffeineBlockCache(1 << 20, 0);
    FileCaching whole = new FileCaching(true, CachePriority.NORMAL);
    try (SSTable table = SSTableFiles.open(fs, cache, whole)) {
      fs.bytesRead = 0;
      RowRange small = RowRange.single(SMALL.row());
      assertThat(SSTableFiles.scan(table, small, ReadOptions.POINT)).containsExactly(SMALL);
      assertThat(cache.statistics().refusedFiles()).isEqualTo(1);
      assertThat(fs.bytesRead).isLessThan(3L << 19);
    }
  }

  @Test
  void isHeldWithItsFileWhereThereIsRoom() throws IOException {
    CaffeineBlockCache cache = new CaffeineBlockCache(16 << 20, 0);
    FileCaching whole = new FileCaching(true, CachePriority.NORMAL);
    try (SSTable table = SSTableFiles.open(file(Codec.LZ4), cache, whole)) {
      assertThat(SSTableFiles.scan(table, RowRange.ALL, ReadOptions.POINT))
          .containsExactly(LARGE, SMALL);
      assertThat(cache.statistics().wholeBytes())
          .isBetween((long) LARGE.value().length(), LARGE.value().length() + (1L << 16));
    }
    assertThat(cache.statistics().wholeBytes()).isZero();
  }

  @Test
  void keysOfAnIndexThatShareMuchTakeNoMemoryWithoutEnd() {
    ByteWriter block = new ByteWriter(1 << 20);
    block.writeByte(0).writeVarint(10_000);
    int keyBytes = 1 << 20;
    block.writeVarint(0).writeVarint(keyBytes);
    block.write(new byte[keyBytes], 0, keyBytes);
    for (int i = 0; i < 10_000; i++) {
      if (i > 0) {
        block.writeVarint(keyBytes).writeVarint(0);
      }
      block.writeVarlong(1).writeVarint(SSTableFormat.BLOCK_OVERHEAD_BYTES);
    }
    Contents contents = new Contents(block.array(), 0, block.size());
    assertThatThrownBy(() -> IndexBlock.decode(contents, 1 << 30))
        .isInstanceOf(MalformedException.class)
        .hasMessageContaining("take more than");
  }

  private ArrayFileSystem file(Codec codec) throws IOException {
    SSTableOptions options = SSTableOptions.DEFAULT.withCodec(codec);
    return new ArrayFileSystem(SSTableFiles.bytes(directory, options, 7, List.of(LARGE, SMALL)));
  }
}
