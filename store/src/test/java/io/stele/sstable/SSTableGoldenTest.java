package io.stele.sstable;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.format.CellType;
import io.stele.format.ColumnKey;
import io.stele.model.Bloom;
import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.model.RowRange;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Files that an earlier build wrote are read as they were written, and written the same again.
 *
 * <p>After a change of the format, with its version raised, {@code -Dstele.golden.rewrite=true}
 * writes new ones; the old ones stay and must stay readable.
 */
class SSTableGoldenTest {
  private static final Path GOLDEN = Path.of("src/test/resources/io/stele/sstable");
  private static final long FILE_ID = 0x0123456789abcdefL;

  private static final SSTableOptions OPTIONS =
      SSTableOptions.DEFAULT.withBlockBytes(512).withRestartInterval(4).withIndexBytes(64, 64);

  @TempDir Path directory;

  @ParameterizedTest
  @EnumSource(Codec.class)
  void aFileOfVersion1IsReadAsItWasWritten(Codec codec) throws IOException {
    check(codec.name().toLowerCase(Locale.ROOT), OPTIONS.withCodec(codec));
  }

  @Test
  void aFileWithABloomFilterOfRowsAndColumnsIsReadAsItWasWritten() throws IOException {
    check("bloom-row-column", OPTIONS.withCodec(Codec.NONE).withBloom(Bloom.ROW_COLUMN));
  }

  private void check(String name, SSTableOptions options) throws IOException {
    Path golden = GOLDEN.resolve("golden-1-" + name + ".sst");
    byte[] written = SSTableFiles.bytes(directory, options, FILE_ID, cells());
    if (Boolean.getBoolean("stele.golden.rewrite")) {
      Files.createDirectories(GOLDEN);
      Files.write(golden, written);
    }
    byte[] bytes = Files.readAllBytes(golden);
    try (SSTable table = SSTableFiles.open(bytes)) {
      assertThat(SSTableFiles.scan(table, RowRange.ALL, ReadOptions.SCAN)).isEqualTo(cells());
      for (TestCell cell : cells()) {
        assertThat(table.mayContainRow(cell.row(), ReadOptions.POINT)).isTrue();
        assertThat(SSTableFiles.mayContainColumn(table, cell.key().toByteArray())).isTrue();
      }
      assertThat(table.mayContainRow(Bytes.of("absent"), ReadOptions.POINT)).isFalse();
      Bytes row = Bytes.of("com.example/1").concat(Bytes.wrap(new byte[1]));
      byte[] absent = ColumnKey.of(row, "contents", Bytes.of("absent"));
      assertThat(SSTableFiles.mayContainColumn(table, absent))
          .isEqualTo(options.bloom() == Bloom.ROW);
      assertThat(table.metaBlock("operations")).contains(Bytes.of("the operations"));
      assertThat(table.properties().highestServerTimestamp()).isEqualTo(42);
      assertThat(table.properties().codec()).isEqualTo(options.codec());
      assertThat(table.properties().bloom()).isEqualTo(options.bloom());
      table.verify();
    }
    if (options.codec() == Codec.NONE) { // What compressors write is theirs, and may change.
      assertThat(written).isEqualTo(bytes);
    }
  }

  private static List<TestCell> cells() {
    List<TestCell> cells = new ArrayList<>();
    for (int row = 0; row < 12; row++) {
      Bytes name = Bytes.of("com.example/" + row).concat(Bytes.wrap(new byte[row % 3]));
      for (int version = 1; version <= 3; version++) {
        cells.add(
            new TestCell(
                Bytes.wrap(ColumnKey.of(name, "contents", Bytes.EMPTY)),
                1_000_000L * version,
                100 + row * 3 + version,
                version % 2,
                CellType.PUT,
                Bytes.of("<html>page " + row + " of version " + version + "</html>")));
      }
      Bytes anchor = Bytes.wrap(ColumnKey.of(name, "anchor", Bytes.of("org.example\u0000/" + row)));
      cells.add(new TestCell(anchor, 77, 5, 0, CellType.DELETE_CELL, Bytes.EMPTY));
      cells.add(
          new TestCell(
              anchor, Long.MAX_VALUE, 6, 1, CellType.DELETE_COLUMN, Bytes.wrap(new byte[] {5, 9})));
      if (row % 4 == 0) {
        Bytes all = Bytes.wrap(ColumnKey.ofRow(name));
        cells.add(new TestCell(all, Long.MAX_VALUE, 90, 0, CellType.DELETE_ROW, Bytes.EMPTY));
        Bytes family = Bytes.wrap(ColumnKey.ofFamily(name, "contents"));
        cells.add(new TestCell(family, Long.MAX_VALUE, 91, 2, CellType.DELETE_FAMILY, Bytes.EMPTY));
      }
    }
    cells.sort(null);
    return cells;
  }
}
