package io.stele.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** How the parts of a query add up. */
class RowQueryTest {
  @Test
  void noRangesAreNoRows() {
    for (RowQuery none : List.of(RowQuery.ALL.withRanges(List.of()), RowQuery.rows(List.of()))) {
      assertThat(none.ranges()).isNotEmpty().allMatch(RowRange::isEmpty);
    }
  }

  @Test
  void aFilterComesAfterThoseBeforeIt() {
    Filter first = new Filter.CellsPerRowLimit(1);
    Filter second = new Filter.StripValue();
    assertThat(RowQuery.ALL.filter(first).filter()).contains(first);
    assertThat(RowQuery.ALL.filter(first).filter(second).filter())
        .contains(Filter.chain(first, second));
  }
}
