package io.stele.sim.check;

import static io.stele.sim.check.Recorded.cell;
import static io.stele.sim.check.Recorded.read;
import static io.stele.sim.check.Recorded.rows;
import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.model.Row;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class HistoryTest {
  private static final Action ALL = new Action.Scan(RowRange.ALL, Long.MAX_VALUE);
  private static final int CALLS = 100;

  private final Recorded history = new Recorded();

  private static Row row(int number, String value) {
    return new Row(Bytes.of("row" + number), List.of(cell("f", "q", value), cell("f", "r", value)));
  }

  /** What the history keeps of rows: each object once. */
  private Set<Row> kept() {
    Set<Row> kept = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Call call : history.calls()) {
      if (call.outcome() instanceof CallOutcome.Answered answer
          && answer.result() instanceof Result.Rows seen) {
        kept.addAll(seen.rows());
      }
    }
    return kept;
  }

  @Test
  void aVersionOfARowIsKeptOnceHoweverManyCallsSawIt() {
    for (int i = 0; i < CALLS; i++) {
      history.call(ALL, rows(row(1, "a"), row(2, "a"), row(3, "a")));
      history.call(read("row2"), rows(row(2, "a")));
    }
    assertThat(kept()).hasSize(3);
    history.call(read("row2"), rows(row(2, "b"))).call(read("row2"), rows(row(2, "b")));
    assertThat(kept()).hasSize(4);
  }

  @Test
  void aScanThatWasCutShortKeepsWhyAndWhatItSaw() {
    Result.Rows seen =
        new Result.Rows(List.of(row(1, "a")), Optional.of(SteleException.Code.RETRY_LATER));
    history.call(ALL, rows(row(1, "a"))).call(ALL, seen);
    assertThat(history.calls().get(1).outcome()).isEqualTo(new CallOutcome.Answered(seen));
    assertThat(kept()).hasSize(1);
  }

  @Test
  void aRowIsSharedWhileItsScanStillReads() {
    History plain = new History();
    Row first = row(1, "a");
    assertThat(plain.shared(first)).isSameAs(first);
    assertThat(plain.shared(row(1, "a"))).isSameAs(first);
    assertThat(plain.shared(row(1, "b"))).isNotSameAs(first).isEqualTo(row(1, "b"));
  }
}
