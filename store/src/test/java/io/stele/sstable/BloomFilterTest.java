package io.stele.sstable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.format.CellType;
import io.stele.format.ColumnKey;
import io.stele.model.Bloom;
import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.model.SteleException;
import io.stele.runtime.MemoryClaim;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a file's Bloom filter says, and how often it is wrong. */
class BloomFilterTest {
  private static final int ROWS = 6_000;
  private static final int COLUMNS = 5;
  private static final SSTableOptions OPTIONS =
      SSTableOptions.DEFAULT
          .withBlockBytes(4096)
          .withCodec(Codec.NONE)
          .withIndexBytes(512, 2048)
          .withBloom(Bloom.ROW_COLUMN);

  @TempDir java.nio.file.Path directory;

  @ParameterizedTest
  @ValueSource(ints = {4, 8, 10, 14})
  void theFalsePositiveRatesAreTheExpectedOnes(int bits) throws IOException {
    List<TestCell> cells = new ArrayList<>();
    for (int row = 0; row < ROWS; row++) {
      for (int column = 0; column < COLUMNS; column++) {
        cells.add(TestCell.put(row(row), "q" + column, 1, "x"));
      }
    }
    try (SSTable table = open(OPTIONS.withBloomBitsPerKey(bits), cells)) {
      int wrongRows = 0;
      int wrongColumns = 0;
      for (int i = 0; i < ROWS; i++) {
        byte[] absent = ColumnKey.ofRow(Bytes.of(row(i) + "x"));
        wrongRows += table.mayContainRow(absent, ReadOptions.POINT) ? 1 : 0;
        for (int column = 0; column < COLUMNS; column++) {
          wrongColumns += mayContain(table, row(i), "f", "r" + column) ? 1 : 0;
          assertThat(mayContain(table, row(i), "f", "q" + column)).isTrue();
        }
      }
      double expected = expectedRate(bits);
      // Three standard deviations; and a tenth, since probes that go in steps are not quite random.
      assertThat(wrongRows / (double) ROWS).isBetween(low(expected, ROWS), high(expected, ROWS));
      int columns = ROWS * COLUMNS;
      assertThat(wrongColumns / (double) columns)
          .isBetween(low(expected, columns), high(expected, columns));
    }
  }

  @Test
  void tombstonesOfAColumnItsFamilyOrItsRowAreFound() throws IOException {
    List<TestCell> cells = new ArrayList<>();
    cells.add(tombstone(CellType.DELETE_ROW, ColumnKey.ofRow(Bytes.of("row deleted"))));
    cells.add(tombstone(CellType.DELETE_FAMILY, ColumnKey.ofFamily(Bytes.of("row family"), "f")));
    cells.add(
        tombstone(
            CellType.DELETE_COLUMN, ColumnKey.of(Bytes.of("row column"), "f", Bytes.of("q"))));
    cells.add(TestCell.put("row put", "q", 1, "x"));
    cells.sort(null);
    try (SSTable table = open(OPTIONS.withBloomBitsPerKey(60), cells)) {
      assertThat(table.properties().rowTombstones()).isEqualTo(1);
      assertThat(table.properties().familyTombstones()).isEqualTo(1);
      assertThat(mayContain(table, "row deleted", "f", "q")).isTrue();
      assertThat(mayContain(table, "row deleted", "other", "q")).isTrue();
      assertThat(mayContain(table, "row family", "f", "other")).isTrue();
      assertThat(mayContain(table, "row family", "other", "q")).isFalse();
      assertThat(mayContain(table, "row column", "f", "q")).isTrue();
      assertThat(mayContain(table, "row column", "f", "other")).isFalse();
      assertThat(mayContain(table, "row put", "f", "q")).isTrue();
      assertThat(mayContain(table, "row put", "f", "other")).isFalse();
      assertThat(mayContain(table, "row absent", "f", "q")).isFalse();
      for (TestCell cell : cells) {
        assertThat(table.mayContainRow(cell.row(), ReadOptions.POINT)).isTrue();
      }
    }
  }

  @Test
  void oneOfSeveralColumnsIsEnough() throws IOException {
    List<TestCell> cells = List.of(TestCell.put("row", "q", 1, "x"));
    try (SSTable table = open(OPTIONS.withBloomBitsPerKey(60), cells)) {
      byte[] row = ColumnKey.ofRow(Bytes.of("row"));
      byte[] absent = column("f", "absent and longer");
      byte[] present = column("f", "q");
      assertThat(table.mayContainColumns(row, List.of(absent, present), ReadOptions.POINT))
          .isTrue();
      assertThat(table.mayContainColumns(row, List.of(absent, absent), ReadOptions.POINT))
          .isFalse();
      assertThat(table.mayContainColumns(row, List.of(), ReadOptions.POINT)).isFalse();
    }
  }

  /** What follows the row part in a column's key. */
  private static byte[] column(String family, String qualifier) {
    byte[] key = ColumnKey.of(Bytes.EMPTY, family, Bytes.of(qualifier));
    return Arrays.copyOfRange(key, ColumnKey.ofRow(Bytes.EMPTY).length, key.length);
  }

  @Test
  void aTombstoneOfAnyOfSeveralFamiliesIsEnough() throws IOException {
    Bytes row = Bytes.of("row");
    List<TestCell> cells =
        List.of(tombstone(CellType.DELETE_FAMILY, ColumnKey.ofFamily(row, "fa")));
    try (SSTable table = open(OPTIONS.withBloomBitsPerKey(60), cells)) {
      byte[] rowPart = ColumnKey.ofRow(row);
      List<byte[]> others = List.of(column("f", "long"), column("f", "q"), column("fb", "q"));
      assertThat(table.mayContainColumns(rowPart, others, ReadOptions.POINT)).isFalse();
      List<byte[]> one = List.of(column("f", "long"), column("fa", ""), column("fb", "q"));
      assertThat(table.mayContainColumns(rowPart, one, ReadOptions.POINT)).isTrue();
    }
  }

  @Test
  void whoAsksForManyColumnsOfALongRowMayGiveUp() throws IOException {
    Bytes row = Bytes.of("r".repeat(60_000));
    MemoryClaim givenUp =
        new MemoryClaim() {
          @Override
          public void take(long bytes) {}

          @Override
          public void requireWanted() {
            throw SteleException.retryLater("nobody waits");
          }
        };
    try (SSTable table = open(OPTIONS, List.of(TestCell.put("row", "q", 1, "x")))) {
      List<byte[]> columns = Collections.nCopies(20, column("f", "q"));
      ReadOptions options = ReadOptions.POINT.claiming(givenUp);
      assertThatThrownBy(() -> table.mayContainColumns(ColumnKey.ofRow(row), columns, options))
          .hasMessageContaining("nobody waits");
    }
  }

  @Test
  void aRowWithMoreColumnsThanAFilterBlockHoldsIsFoundWhole() throws IOException {
    List<TestCell> cells = new ArrayList<>();
    cells.add(tombstone(CellType.DELETE_ROW, ColumnKey.ofRow(Bytes.of("row"))));
    for (int i = 0; i < 5_000; i++) {
      cells.add(TestCell.put("row", String.format("%05d", i), 1, "x"));
    }
    try (SSTable table = open(OPTIONS, cells)) {
      IndexCursor index = table.bloom().orElseThrow().index(ReadOptions.POINT);
      index.first();
      assertThat(index.next()).isTrue();
      assertThat(table.mayContainRow(Bytes.of("row"), ReadOptions.POINT)).isTrue();
      for (int i = 0; i < 5_000; i++) {
        assertThat(mayContain(table, "row", "f", String.format("%05d", i))).isTrue();
      }
      table.verify();
    }
  }

  @Test
  void aFilterOfRowsSaysOfColumnsWhatItSaysOfTheirRow() throws IOException {
    List<TestCell> cells = List.of(TestCell.put("row", "q", 1, "x"));
    try (SSTable rows = open(OPTIONS.withBloom(Bloom.ROW).withBloomBitsPerKey(60), cells)) {
      assertThat(rows.properties().bloom()).isEqualTo(Bloom.ROW);
      assertThat(mayContain(rows, "row", "f", "absent")).isTrue();
      assertThat(mayContain(rows, "absent", "f", "q")).isFalse();
    }
    try (SSTable none = open(OPTIONS.withBloom(Bloom.NONE), cells)) {
      assertThat(none.bloom()).isEmpty();
      assertThat(mayContain(none, "absent", "f", "q")).isTrue();
    }
  }

  private SSTable open(SSTableOptions options, List<TestCell> cells) throws IOException {
    ArrayFileSystem fs =
        new ArrayFileSystem(SSTableFiles.bytes(directory, options, options.hashCode(), cells));
    return SSTableFiles.open(fs, new CaffeineBlockCache(8 << 20, 0));
  }

  private static boolean mayContain(SSTable table, String row, String family, String qualifier)
      throws IOException {
    return SSTableFiles.mayContainColumn(
        table, ColumnKey.of(Bytes.of(row), family, Bytes.of(qualifier)));
  }

  /** (1 - e^(-kn/m))^k, where m is a number of bits a key. */
  private static double expectedRate(int bits) {
    long probes = Math.round(bits * Math.log(2));
    return Math.pow(1 - Math.exp(-probes / (double) bits), probes);
  }

  private static double low(double expected, int trials) {
    return expected * 0.9 - 3 * Math.sqrt(expected / trials);
  }

  private static double high(double expected, int trials) {
    return expected * 1.1 + 3 * Math.sqrt(expected / trials);
  }

  private static TestCell tombstone(CellType type, byte[] key) {
    return new TestCell(Bytes.wrap(key), Long.MAX_VALUE, 7, 0, type, Bytes.EMPTY);
  }

  private static String row(int i) {
    return String.format("row%06d", i);
  }
}
