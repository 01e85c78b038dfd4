package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class RowRangesTest {
  @Test
  void noRangeIsEveryRow() {
    assertThat(RowRanges.of(List.of()).ranges()).containsExactly(RowRange.ALL);
  }

  @Test
  void rangesAreSortedAndThoseThatMeetAreJoined() {
    assertThat(
            RowRanges.of(
                    List.of(
                        RowRange.of("m", "p"),
                        RowRange.of("a", "c"),
                        RowRange.of("c", "e"),
                        RowRange.of("n", "o"),
                        RowRange.of("q", "q")))
                .ranges())
        .containsExactly(RowRange.of("a", "e"), RowRange.of("m", "p"));
  }

  @Test
  void aRangeWithoutEndTakesInAllAfterIt() {
    assertThat(RowRanges.of(List.of(RowRange.of("c", ""), RowRange.of("d", "e"))).ranges())
        .containsExactly(RowRange.of("c", ""));
  }

  @Test
  void whatIsLeftFromARowOnLosesWhatIsBefore() {
    RowRanges ranges = RowRanges.of(List.of(RowRange.of("a", "c"), RowRange.of("e", "g")));
    assertThat(ranges.from(Bytes.of("b")).ranges())
        .containsExactly(RowRange.of("b", "c"), RowRange.of("e", "g"));
    assertThat(ranges.from(Bytes.of("c")).ranges()).containsExactly(RowRange.of("e", "g"));
    assertThat(ranges.from(Bytes.of("g")).isEmpty()).isTrue();
    assertThat(ranges.from(Bytes.EMPTY).isEmpty()).isTrue();
  }

  @Test
  void whatLiesWithinRowsIsCutToThem() {
    RowRanges ranges =
        RowRanges.of(List.of(RowRange.of("a", "c"), RowRange.of("e", "g"), RowRange.of("h", "")));
    assertThat(ranges.within(RowRange.of("b", "f")).ranges())
        .containsExactly(RowRange.of("b", "c"), RowRange.of("e", "f"));
    assertThat(ranges.within(RowRange.ALL).end()).isEqualTo(Bytes.EMPTY);
    assertThat(ranges.within(RowRange.ALL, new RowRanges.Most(2, 100)).end())
        .isEqualTo(Bytes.of("g"));
  }

  @Test
  void longRangesAreAskedForAFewAtATime() {
    RowRanges ranges =
        RowRanges.of(
            List.of(RowRange.of("aa", "cc"), RowRange.of("ee", "gg"), RowRange.of("h", "")));
    assertThat(ranges.within(RowRange.ALL, new RowRanges.Most(100, 8)).ranges()).hasSize(2);
    assertThat(ranges.within(RowRange.ALL, new RowRanges.Most(100, 7)).ranges()).hasSize(1);
    assertThat(ranges.within(RowRange.ALL, new RowRanges.Most(100, 1)).ranges()).hasSize(1);
  }

  @Test
  void rowsAreDividedSoThatEachPartLiesBetweenTwoCuts() {
    RowRanges ranges =
        RowRanges.of(
            List.of(
                RowRange.of("a", "c"),
                RowRange.of("d", "e"),
                RowRange.of("g", "k"),
                RowRange.of("m", "")));
    TreeSet<Bytes> cuts = new TreeSet<>();
    List.of("", "a", "c", "h", "i", "l", "n", "z").forEach(cut -> cuts.add(Bytes.of(cut)));
    assertThat(ranges.dividedAt(cuts).stream().map(RowRanges::ranges))
        .containsExactly(
            List.of(RowRange.of("a", "c")),
            List.of(RowRange.of("d", "e"), RowRange.of("g", "h")),
            List.of(RowRange.of("h", "i")),
            List.of(RowRange.of("i", "k")),
            List.of(RowRange.of("m", "n")),
            List.of(RowRange.of("n", "z")),
            List.of(RowRange.of("z", "")));
    assertThat(ranges.dividedAt(new TreeSet<>())).containsExactly(ranges);
    assertThat(ranges.span()).isEqualTo(RowRange.of("a", ""));
  }
}
