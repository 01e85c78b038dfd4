package io.stele.mapreduce.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RowComparisonTest {
  private static Cell cell(String qualifier, long time, String value) {
    return new Cell("f", Bytes.of(qualifier), time, Bytes.of(value));
  }

  private static Row row(String key, Cell... cells) {
    return new Row(Bytes.of(key), Arrays.asList(cells));
  }

  private static RowComparison.Source source(List<Row> rows) {
    Iterator<Row> left = rows.iterator();
    return () -> left.hasNext() ? Optional.of(left.next()) : Optional.empty();
  }

  private static List<String> compare(List<Row> first, List<Row> second) throws Exception {
    List<String> lines = new ArrayList<>();
    RowComparison.run(source(first), source(second), row -> lines.add(row.line("one", "other")));
    return lines;
  }

  @Test
  void eachRowOfEitherIsNamedOnceInOrder() throws Exception {
    Row both = row("b", cell("q", 1, "v"));
    assertThat(
            compare(
                List.of(row("a", cell("q", 1, "v")), both),
                List.of(both, row("c", cell("q", 1, "v")))))
        .containsExactly("only in one: a", "same: b", "only in other: c");
  }

  @Test
  void theFirstCellThatDiffersIsNamed() throws Exception {
    Cell same = cell("a", 5, "v");
    assertThat(
            compare(
                List.of(row("r", same, cell("b", 2, "v"))),
                List.of(row("r", same, cell("b", 2, "w")))))
        .containsExactly("different: r; different values of f:b @2");
    assertThat(compare(List.of(row("r", same, cell("a", 4, "v"))), List.of(row("r", same))))
        .containsExactly("different: r; f:a @4 in one, no more cells in other");
    assertThat(compare(List.of(row("r", same)), List.of(row("r", cell("b", 5, "v")))))
        .containsExactly("different: r; f:a @5 in one, f:b @5 in other");
  }
}
