package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Column;
import io.stele.model.Filter;
import io.stele.model.Limits;
import io.stele.model.SteleException;
import io.stele.model.TimeRange;
import io.stele.runtime.MemoryClaim;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RowFilterTest {
  private static final Bytes ROW = Bytes.of("com.example/index");
  private static final List<Cell> CELLS =
      List.of(
          cell("anchor", "a", 3, "Home"),
          cell("anchor", "a", 2, "home"),
          cell("anchor", "b", 3, "more"),
          cell("contents", "", 5, "<html>\n</html>"),
          cell("contents", "", 4, "<html>"));

  private static Cell cell(String family, String qualifier, long timestamp, String value) {
    return new Cell(family, Bytes.of(qualifier), timestamp, Bytes.of(value));
  }

  private static List<Cell> apply(Filter filter) {
    return RowFilter.of(filter, MemoryClaim.NONE).apply(ROW, CELLS);
  }

  private static List<Cell> cells(int... indexes) {
    return IntStream.of(indexes).mapToObj(CELLS::get).toList();
  }

  @Test
  void aFilterThatMakesTooManyCellsOfARowIsRefused() {
    List<Cell> many = Collections.nCopies(Limits.FILTER_CELLS_MAX / 2, CELLS.get(0));
    Filter twice = new Filter.Interleave(List.of(new Filter.PassAll(), new Filter.PassAll()));
    assertThat(RowFilter.of(twice, MemoryClaim.NONE).apply(ROW, many))
        .hasSize(Limits.FILTER_CELLS_MAX);
    assertThatThrownBy(
            () -> RowFilter.of(Filter.chain(twice, twice), MemoryClaim.NONE).apply(ROW, many))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("more than 1000000 cells of row \"com.example/index\"");
  }

  @Test
  void eachKindLetsThroughWhatItSays() {
    assertThat(apply(new Filter.PassAll())).isEqualTo(CELLS);
    assertThat(apply(new Filter.BlockAll())).isEmpty();
    assertThat(apply(new Filter.RowKeyRegex("com\\.example/.*"))).isEqualTo(CELLS);
    assertThat(apply(new Filter.RowKeyRegex("example"))).isEmpty(); // The whole key must match.
    assertThat(apply(new Filter.RowSample(0))).isEmpty();
    assertThat(apply(new Filter.RowSample(1))).isEqualTo(CELLS);
    assertThat(apply(new Filter.FamilyRegex("c.*"))).isEqualTo(cells(3, 4));
    assertThat(apply(new Filter.QualifierRegex("[ab]"))).isEqualTo(cells(0, 1, 2));
    assertThat(apply(new Filter.ColumnRange("anchor", Bytes.of("b"), Bytes.EMPTY)))
        .isEqualTo(cells(2));
    assertThat(apply(new Filter.ColumnIs(Column.of("anchor", "a")))).isEqualTo(cells(0, 1));
    assertThat(apply(new Filter.ValueRegex("(?i)home"))).isEqualTo(cells(0, 1));
    assertThat(apply(new Filter.ValueRegex("<html>.*"))).isEqualTo(cells(3, 4));
    assertThat(apply(new Filter.ValueRange(Bytes.of("H"), Bytes.of("i")))).isEqualTo(cells(0, 1));
    assertThat(apply(new Filter.ValueIs(Bytes.of("more")))).isEqualTo(cells(2));
    assertThat(apply(new Filter.TimestampRange(new TimeRange(3, 5)))).isEqualTo(cells(0, 2, 4));
    assertThat(apply(new Filter.CellsPerRowLimit(2))).isEqualTo(cells(0, 1));
    assertThat(apply(new Filter.CellsPerRowOffset(3))).isEqualTo(cells(3, 4));
    assertThat(apply(new Filter.CellsPerColumnLimit(1))).isEqualTo(cells(0, 2, 3));
    assertThat(apply(new Filter.StripValue())).allMatch(cell -> cell.value().isEmpty()).hasSize(5);
    assertThat(apply(new Filter.Label("x"))).allMatch(cell -> cell.labels().equals(List.of("x")));
  }

  @Test
  void chainsNarrowInterleavesUniteConditionsChoose() {
    Filter anchors = new Filter.FamilyRegex("anchor");
    Filter newest = new Filter.CellsPerColumnLimit(1);
    assertThat(apply(Filter.chain(anchors, newest))).isEqualTo(cells(0, 2));
    assertThat(apply(Filter.chain())).isEqualTo(CELLS);
    assertThat(apply(new Filter.Interleave(List.of(newest, anchors))))
        .isEqualTo(cells(0, 0, 1, 2, 2, 3)); // What passes both comes twice.
    assertThat(apply(new Filter.Interleave(List.of()))).isEmpty();
    assertThat(apply(new Filter.Condition(anchors, newest, new Filter.BlockAll())))
        .isEqualTo(cells(0, 2, 3));
    assertThat(apply(new Filter.Condition(new Filter.BlockAll(), newest, anchors)))
        .isEqualTo(cells(0, 1, 2));
    assertThat(apply(Filter.newestIs(Column.of("anchor", "a"), Bytes.of("home")))).isEmpty();
  }

  @Test
  void regularExpressionsMatchBytesNotCharacters() {
    Bytes row = Bytes.of(new byte[] {0, (byte) 0xff, '\n'});
    assertThat(
            RowFilter.of(new Filter.RowKeyRegex("\\x00\\xff."), MemoryClaim.NONE).apply(row, CELLS))
        .hasSize(5);
    assertThat(RowFilter.of(new Filter.RowKeyRegex("..."), MemoryClaim.NONE).apply(row, CELLS))
        .hasSize(5);
  }

  @Test
  void aSampleIsTheSameEachTimeAndOfItsSize() {
    RowFilter sample = RowFilter.of(new Filter.RowSample(0.3), MemoryClaim.NONE);
    long taken =
        IntStream.range(0, 10_000)
            .filter(i -> !sample.apply(Bytes.of("row" + i), CELLS).isEmpty())
            .count();
    assertThat(taken).isBetween(2800L, 3200L);
  }

  @Test
  void whatIsNoRegularExpressionIsRefused() {
    assertThatThrownBy(() -> RowFilter.of(new Filter.ValueRegex("(a"), MemoryClaim.NONE))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("\"(a\" is not a regular expression of RE2");
  }
}
