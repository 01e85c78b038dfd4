package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import java.util.List;
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
    assertThat(ranges.within(RowRange.of("b", "f"), -1).ranges())
        .containsExactly(RowRange.of("b", "c"), RowRange.of("e", "f"));
    assertThat(ranges.within(RowRange.ALL, 2).end()).isEqualTo(Bytes.of("g"));
    assertThat(ranges.within(RowRange.ALL, -1).end()).isEqualTo(Bytes.EMPTY);
  }
}
