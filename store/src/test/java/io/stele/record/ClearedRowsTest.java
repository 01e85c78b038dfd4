package io.stele.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.RowRange;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClearedRowsTest {
  private static final RowRange BD = RowRange.of("b", "d");

  private static ClearedRows cleared(long change, RowRange... rows) {
    return ClearedRows.NONE.with(change, List.of(rows));
  }

  @Test
  void whatTouchesOrOverlapsIsOneRange() {
    assertThat(cleared(1, RowRange.of("d", "f"), RowRange.of("a", "c"), BD).rows())
        .containsExactly(RowRange.of("a", "f"));
    assertThat(cleared(1, RowRange.ALL, BD).rows()).containsExactly(RowRange.ALL);
    assertThat(cleared(1, RowRange.of("", "b"), RowRange.of("c", "")).rows()).hasSize(2);
  }

  @Test
  void aRowIsLeftUntilItIsClearedForTheChangeAndNoneForAnEarlierOne() {
    ClearedRows cleared = cleared(5, BD);
    assertThat(cleared.left(5, RowRange.ALL))
        .containsExactly(RowRange.of("", "b"), RowRange.of("d", ""));
    assertThat(cleared.left(5, RowRange.of("b", "c"))).isEmpty();
    assertThat(cleared.left(6, BD)).containsExactly(BD);
    assertThat(cleared.left(4, RowRange.ALL)).isEmpty();
    assertThat(ClearedRows.NONE.left(1, RowRange.ALL)).containsExactly(RowRange.ALL);
  }

  @Test
  void aLaterChangeForgetsTheRowsOfAnEarlierOne() {
    assertThat(cleared(5, BD).with(6, List.of(RowRange.of("x", "y"))))
        .isEqualTo(cleared(6, RowRange.of("x", "y")));
  }

  @Test
  void aMergedTabletHasWhatWasClearedOfBothForTheLaterChange() {
    ClearedRows upper = cleared(5, RowRange.of("d", "e"));
    assertThat(cleared(5, BD).and(upper)).isEqualTo(cleared(5, RowRange.of("b", "e")));
    assertThat(cleared(4, BD).and(upper)).isEqualTo(upper);
    assertThat(upper.and(ClearedRows.NONE)).isEqualTo(upper);
  }
}
