package io.stele.sstable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.format.CellCursor;
import io.stele.format.ColumnKey;
import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.model.RowRange;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The scan cache: single rows that are asked for again. */
class RowCacheTest {
  private static final SSTableOptions OPTIONS =
      SSTableOptions.DEFAULT.withBlockBytes(1024).withCodec(Codec.NONE);

  @TempDir java.nio.file.Path directory;

  private final List<TestCell> cells = new ArrayList<>();
  private final CaffeineBlockCache cache = new CaffeineBlockCache(4 << 20, 0);
  private ArrayFileSystem fs;

  @BeforeEach
  void rowsOfThreeCells() throws IOException {
    for (int i = 0; i < 3_000; i++) {
      cells.add(TestCell.put(row(i / 3), "q" + i % 3, i, "value " + i));
    }
    for (int i = 0; i < 100; i++) {
      cells.add(TestCell.put("zlarge", String.format("q%03d", i), i, "x".repeat(50)));
    }
    fs = new ArrayFileSystem(SSTableFiles.bytes(directory, OPTIONS, 7, cells));
  }

  @Test
  void aRowThatIsReadAgainIsFoundWithoutItsBlock() throws IOException {
    try (SSTable table = SSTableFiles.open(fs, cache)) {
      assertThat(read(table, row(7), ReadOptions.POINT)).isEqualTo(cells.subList(21, 24));
      assertThat(read(table, row(7), ReadOptions.POINT)).isEqualTo(cells.subList(21, 24));
      assertThat(rows().heapHits()).isZero();
      long blocks = cache.statistics().of(CacheStatistics.Kind.DATA).heapHits();
      assertThat(read(table, row(7), ReadOptions.POINT)).isEqualTo(cells.subList(21, 24));
      assertThat(read(table, row(7), ReadOptions.MEMORY_ONLY)).isEqualTo(cells.subList(21, 24));
      assertThat(rows()).isEqualTo(new CacheStatistics.Counts(2, 0, 0, 2));
      assertThat(cache.statistics().of(CacheStatistics.Kind.DATA).heapHits()).isEqualTo(blocks);
    }
  }

  @Test
  void thatAFileHasNothingOfARowIsRememberedToo() throws IOException {
    try (SSTable table = SSTableFiles.open(fs, cache)) {
      for (int i = 0; i < 4; i++) {
        assertThat(read(table, row(7) + "x", ReadOptions.POINT)).isEmpty();
      }
      assertThat(rows()).isEqualTo(new CacheStatistics.Counts(2, 0, 0, 2));
    }
  }

  @Test
  void aLargeRowIsNotKept() throws IOException {
    try (SSTable table = SSTableFiles.open(fs, cache)) {
      for (int i = 0; i < 5; i++) {
        assertThat(read(table, "zlarge", ReadOptions.POINT)).isEqualTo(cells.subList(3_000, 3_100));
      }
      long blocks = cache.statistics().of(CacheStatistics.Kind.DATA).heapHits();
      assertThat(read(table, "zlarge", ReadOptions.POINT)).hasSize(100);
      assertThat(cache.statistics().of(CacheStatistics.Kind.DATA).heapHits()).isGreaterThan(blocks);
    }
  }

  @Test
  void aTryAndItsRepetitionAreOneRead() throws IOException {
    try (SSTable table = SSTableFiles.open(fs, cache)) {
      assertThatThrownBy(() -> read(table, row(7), ReadOptions.MEMORY_ONLY))
          .isInstanceOf(NotInMemoryException.class);
      read(table, row(7), ReadOptions.POINT);
      long blocks = cache.statistics().of(CacheStatistics.Kind.DATA).heapHits();
      // Not in the scan cache yet: this read puts it there.
      read(table, row(7), ReadOptions.MEMORY_ONLY);
      assertThat(cache.statistics().of(CacheStatistics.Kind.DATA).heapHits()).isGreaterThan(blocks);
      assertThat(rows().heapHits()).isZero();
      read(table, row(7), ReadOptions.MEMORY_ONLY);
      assertThat(rows().heapHits()).isEqualTo(1);
    }
  }

  @Test
  void aCursorOverACachedRowSeeksAsAnyOther() throws IOException {
    try (SSTable table = SSTableFiles.open(fs, cache)) {
      for (int i = 0; i < 4; i++) {
        for (String name : List.of(row(7), "zlarge")) {
          seek(table, name);
        }
      }
      assertThat(rows().heapHits()).isPositive();
    }
  }

  private void seek(SSTable table, String name) throws IOException {
    Bytes row = Bytes.of(name);
    List<TestCell> expected = cells.stream().filter(cell -> cell.row().equals(row)).toList();
    try (CellCursor cursor = table.cursor(RowRange.single(row), ReadOptions.POINT)) {
      TestCell second = expected.get(1);
      assertThat(cursor.seek(second.key().toByteArray())).isTrue();
      assertThat(TestCell.current(cursor)).isEqualTo(second);
      assertThat(cursor.next()).isTrue();
      assertThat(TestCell.current(cursor)).isEqualTo(expected.get(2));
      assertThat(cursor.seek(new byte[0])).isTrue();
      assertThat(TestCell.current(cursor)).isEqualTo(expected.get(0));
      assertThat(cursor.seek(ColumnKey.afterRow(row))).isFalse();
      assertThat(cursor.next()).isFalse();
      assertThat(cursor.seek(ColumnKey.ofRow(Bytes.of("a")))).isTrue();
      assertThat(TestCell.current(cursor)).isEqualTo(expected.get(0));
    }
  }

  private CacheStatistics.Counts rows() {
    return cache.statistics().of(CacheStatistics.Kind.ROW);
  }

  private static List<TestCell> read(SSTable table, String row, ReadOptions options)
      throws IOException {
    return SSTableFiles.scan(table, RowRange.single(Bytes.of(row)), options);
  }

  private static String row(int i) {
    return String.format("row%06d", i);
  }
}
