package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.Filter;
import java.util.AbstractList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ColumnSelectionTest {
  /** A list that must not be searched, once for each of many columns. */
  private static final class Unsearched extends AbstractList<String> {
    private final List<String> families;

    Unsearched(List<String> families) {
      this.families = families;
    }

    @Override
    public String get(int index) {
      return families.get(index);
    }

    @Override
    public int size() {
      return families.size();
    }

    @Override
    public boolean contains(Object family) {
      throw new AssertionError("searched for " + family);
    }
  }

  @Test
  void aColumnOfAFamilyThatIsWantedAsAWholeAddsNothing() {
    ColumnSelection selection =
        ColumnSelection.of(
            new Unsearched(List.of("f", "g", "f")),
            List.of(Column.of("f", "q"), Column.of("h", "q"), Column.of("h", "q")));
    assertThat(selection.size()).isEqualTo(3); // f, g, h:q
    assertThat(selection.isColumns()).isFalse();
    assertThat(selection.wantsAnyOf(List.of("h"))).isTrue();
    assertThat(selection.wantsAnyOf(List.of("e"))).isFalse();
  }

  @Test
  void aFilterThatNamesItsColumnsFirstIsDecidedByThem() {
    Filter first = new Filter.ColumnIs(Column.of("f", "q"));
    Filter second = new Filter.ColumnIs(Column.of("g", ""));
    Filter value = new Filter.ValueIs(Bytes.of("v"));
    assertThat(ColumnSelection.decidingFor(first).size()).isEqualTo(1);
    Filter newest = Filter.newestIs(Column.of("f", "q"), Bytes.of("v"));
    assertThat(ColumnSelection.decidingFor(newest).size()).isEqualTo(1);
    assertThat(ColumnSelection.decidingFor(Filter.interleave(first, second)).size()).isEqualTo(2);
    assertThat(ColumnSelection.decidingFor(new Filter.Condition(first, second, second)).size())
        .isEqualTo(2);
    assertThat(
            List.of(
                value,
                Filter.chain(value, first), // Which cell comes through may depend on others.
                Filter.chain(),
                Filter.interleave(),
                Filter.interleave(first, value),
                new Filter.Condition(value, first, first),
                new Filter.Condition(first, value, first),
                new Filter.Condition(first, first, value)))
        .allMatch(filter -> ColumnSelection.decidingFor(filter).isAll());
  }
}
