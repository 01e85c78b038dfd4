package io.stele.sstable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.format.Crc32c;
import io.stele.model.Bloom;
import io.stele.model.Codec;
import io.stele.model.CorruptionException;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Damage is found and named, and never a wrong cell is given. */
class SSTableDamageTest {
  private static final SSTableOptions SMALL =
      SSTableOptions.DEFAULT.withBlockBytes(256).withRestartInterval(4).withIndexBytes(64, 64);

  @TempDir java.nio.file.Path directory;

  private final List<TestCell> cells = new ArrayList<>();

  @BeforeEach
  void someCells() {
    IntStream.range(0, 60)
        .forEach(i -> cells.add(TestCell.put("row" + i / 3, "q" + i % 3, i, "value value " + i)));
    cells.sort(null);
  }

  @ParameterizedTest
  @EnumSource(Bloom.class)
  void everyFlippedBitIsDetectedWhateverTheBloomFilter(Bloom bloom) throws IOException {
    everyFlippedBitIsDetected(SMALL.withCodec(Codec.NONE).withBloom(bloom));
  }

  @ParameterizedTest
  @EnumSource(Codec.class)
  void everyFlippedBitIsDetectedByVerifyAndNoReadGivesAWrongCell(Codec codec) throws IOException {
    everyFlippedBitIsDetected(SMALL.withCodec(codec));
  }

  private void everyFlippedBitIsDetected(SSTableOptions options) throws IOException {
    byte[] good = SSTableFiles.bytes(directory, options, 7, cells);
    ArrayFileSystem fs = new ArrayFileSystem(good.clone());
    for (int bit = 0; bit < good.length * 8; bit++) {
      fs.contents[bit >> 3] ^= (byte) (1 << (bit & 7));
      assertThat(SSTableDump.verify(fs, SSTableFiles.ANYWHERE)).as("bit %d", bit).isNotEmpty();
      assertNoWrongCell(fs, "bit " + bit);
      fs.contents[bit >> 3] = good[bit >> 3];
    }
  }

  @Test
  void everyTruncationIsDetectedAtOpening() throws IOException {
    byte[] good = SSTableFiles.bytes(directory, SMALL, 7, cells);
    for (int length = 0; length < good.length; length++) {
      ArrayFileSystem fs = new ArrayFileSystem(Arrays.copyOf(good, length));
      assertThatThrownBy(() -> SSTableFiles.open(fs, NoBlockCache.INSTANCE))
          .isInstanceOf(CorruptionException.class)
          .hasMessageContaining(SSTableFiles.ANYWHERE.toString());
      assertThat(SSTableDump.verify(fs, SSTableFiles.ANYWHERE)).isNotEmpty();
      // Less is there than METADATA says.
      assertThatThrownBy(
              () -> SSTable.open(fs, SSTableFiles.ANYWHERE, good.length, NoBlockCache.INSTANCE))
          .isInstanceOf(CorruptionException.class);
    }
  }

  @Test
  void randomDamageNeverHangsNorCrashesNorGivesAWrongCell() throws IOException {
    byte[] good = SSTableFiles.bytes(directory, SMALL, 7, cells);
    for (long seed = 0; seed < 2000; seed++) {
      Random random = new Random(seed);
      byte[] bad = good.clone();
      int from = random.nextInt(bad.length);
      int to = Math.min(bad.length, from + 1 + random.nextInt(100));
      for (int i = from; i < to; i++) {
        bad[i] = (byte) random.nextInt();
      }
      ArrayFileSystem fs = new ArrayFileSystem(bad);
      assertNoWrongCell(fs, "seed " + seed);
      if (!Arrays.equals(good, bad)) {
        assertThat(SSTableDump.verify(fs, SSTableFiles.ANYWHERE)).as("seed %d", seed).isNotEmpty();
      }
    }
  }

  @Test
  void blocksInEachOthersPlacesAreNoticed() throws IOException {
    List<TestCell> same = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      same.add(TestCell.put("row" + i, "q", 5, "x".repeat(250)));
    }
    SSTableOptions options = SMALL.withCodec(Codec.NONE);
    byte[] bytes = SSTableFiles.bytes(directory, options, 7, same);
    int first;
    int second;
    int length;
    try (SSTable table = SSTableFiles.open(bytes)) {
      IndexCursor index = table.index(ReadOptions.POINT);
      index.first();
      first = (int) index.offset();
      length = index.length();
      index.next();
      second = (int) index.offset();
      assertThat(index.length()).isEqualTo(length);
    }
    byte[] swapped = bytes.clone();
    System.arraycopy(bytes, first, swapped, second, length);
    System.arraycopy(bytes, second, swapped, first, length);
    assertDamagedAt(swapped, first);

    // The same cells in another file: an intact block, in the right place of the wrong file.
    byte[] other = SSTableFiles.bytes(directory, options, 8, same);
    byte[] mixed = bytes.clone();
    System.arraycopy(other, first, mixed, first, length);
    assertDamagedAt(mixed, first);
  }

  @Test
  void aNewerVersionIsRefusedWithAClearMessage() throws IOException {
    byte[] bytes = SSTableFiles.bytes(directory, SMALL, 7, cells);
    int version = bytes.length - 16;
    bytes[version] = 9;
    int crc = Crc32c.of(bytes, bytes.length - 64, 52);
    for (int i = 0; i < 4; i++) {
      bytes[bytes.length - 12 + i] = (byte) (crc >>> (8 * i));
    }
    assertThatThrownBy(() -> SSTableFiles.open(bytes))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("format version 9")
        .hasMessageContaining("upgrade")
        .extracting(e -> ((SteleException) e).code())
        .isEqualTo(SteleException.Code.REFUSED);
  }

  @Test
  void aDumpShowsWhatIsStillWhole() throws IOException {
    byte[] bytes = SSTableFiles.bytes(directory, SMALL.withCodec(Codec.NONE), 7, cells);
    StringBuilder whole = new StringBuilder();
    assertThat(SSTableDump.dump(new ArrayFileSystem(bytes), SSTableFiles.ANYWHERE, true, whole))
        .isEmpty();
    assertThat(whole).contains("\"row0\" f:q0 @0 #0.0 put = value value 0", "cells: 60 (0 tomb");

    byte[] flipped = bytes.clone();
    flipped[100] ^= 1;
    StringBuilder afterFlip = new StringBuilder();
    List<SSTableDump.Problem> problems =
        SSTableDump.dump(new ArrayFileSystem(flipped), SSTableFiles.ANYWHERE, true, afterFlip);
    assertThat(problems).hasSize(1);
    assertThat(problems.get(0).offset()).isEqualTo(SSTableFormat.HEADER_BYTES);
    assertThat(afterFlip).contains("PROBLEM at offset 24: the data block does not match");
    assertThat(afterFlip).doesNotContain("\"row0\" f:q0").contains("\"row9\" f:q2");

    // Without its end, and so without its index, a file is still read from its start.
    StringBuilder afterCut = new StringBuilder();
    byte[] cut = Arrays.copyOf(bytes, bytes.length / 2);
    assertThat(SSTableDump.dump(new ArrayFileSystem(cut), SSTableFiles.ANYWHERE, true, afterCut))
        .isNotEmpty();
    assertThat(afterCut).contains("\"row0\" f:q0", "\"row1\" f:q0");
  }

  @Test
  void aDumpTakesNoMemoryForALengthThatNoBlockHas() throws IOException {
    ArrayFileSystem fs = new ArrayFileSystem(SSTableFiles.bytes(directory, SMALL, 7, cells));
    fs.holeBytes = 4L << 30; // So the file has room for such a block.
    fs.bytesBehindHole = 1; // And no footer that is whole.
    ByteBuffer.wrap(fs.contents)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(SSTableFormat.HEADER_BYTES, Integer.MAX_VALUE);
    assertThat(SSTableDump.verify(fs, SSTableFiles.ANYWHERE))
        .last()
        .extracting(SSTableDump.Problem::detail)
        .asString()
        .contains("no block begins here");
  }

  private void assertDamagedAt(byte[] bytes, long offset) throws IOException {
    try (SSTable table = SSTableFiles.open(bytes)) {
      assertThatThrownBy(() -> SSTableFiles.scan(table, RowRange.ALL, ReadOptions.SCAN))
          .isInstanceOf(CorruptionException.class)
          .extracting(e -> ((CorruptionException) e).offset())
          .isEqualTo(offset);
      assertThatThrownBy(table::verify).isInstanceOf(CorruptionException.class);
    }
  }

  /** Reads either fail with a named damage or give what was written. */
  private void assertNoWrongCell(ArrayFileSystem fs, String what) throws IOException {
    try (SSTable table = SSTableFiles.open(fs, NoBlockCache.INSTANCE)) {
      assertThat(SSTableFiles.scan(table, RowRange.ALL, ReadOptions.COMPACTION))
          .as(what)
          .isEqualTo(cells);
      for (TestCell cell : cells) {
        assertThat(SSTableFiles.mayContainColumn(table, cell.key().toByteArray()))
            .as(what)
            .isTrue();
      }
      assertThat(table.properties().cells()).isEqualTo(cells.size());
    } catch (CorruptionException e) {
      assertThat(e.file()).isEqualTo(SSTableFiles.ANYWHERE.toString());
    }
  }
}
