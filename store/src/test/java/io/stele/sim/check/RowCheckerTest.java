package io.stele.sim.check;

import static io.stele.sim.check.Recorded.DONE;
import static io.stele.sim.check.Recorded.cell;
import static io.stele.sim.check.Recorded.delete;
import static io.stele.sim.check.Recorded.read;
import static io.stele.sim.check.Recorded.row;
import static io.stele.sim.check.Recorded.rows;
import static io.stele.sim.check.Recorded.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Column;
import io.stele.model.Row;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RowCheckerTest {
  private static final Action ALL = new Action.Scan(RowRange.ALL, Long.MAX_VALUE);
  private static final Set<Column> ONE = Set.of(Column.of("f", "q"));
  private static final Set<Column> TWO = Set.of(Column.of("a", "q"), Column.of("b", "q"));

  private final Recorded history = new Recorded();

  private void assertGood(Set<Column> columns) {
    assertThat(RowChecker.check(history.calls(), columns)).isEmpty();
  }

  private void assertFound(Set<Column> columns, String text) {
    assertThat(RowChecker.check(history.calls(), columns))
        .singleElement()
        .satisfies(violation -> assertThat(violation.text()).contains(text));
  }

  private static Row wide(String key, Cell... cells) {
    return new Row(Bytes.of(key), Stream.of(cells).toList());
  }

  @Test
  void wholeAndCurrentRowsPass() {
    history.call(ALL, rows()).call(write("a", "1"), DONE).call(read("a"), rows(row("a", "1")));
    int slow = history.begin(1, write("b", "2"));
    history.call(ALL, rows(row("a", "1"), row("b", "2"))).call(ALL, rows(row("a", "1")));
    history.end(slow, DONE).call(delete("a"), DONE).call(ALL, rows(row("b", "2")));
    history.unknown(write("c", "3")).call(ALL, rows(row("b", "2"), row("c", "3")));
    history.call(read("c"), rows());
    assertGood(ONE);
  }

  @Test
  void aScanMaySeeEachRowAtAnotherMoment() {
    history.call(write("a", "1"), DONE).call(write("b", "1"), DONE);
    int scan = history.begin(1, ALL);
    history.call(write("b", "2"), DONE).call(write("a", "2"), DONE).call(delete("a"), DONE);
    history.end(scan, rows(row("a", "1"), row("b", "2")));
    assertGood(ONE);
  }

  @Test
  void aScanThatMissesARowIsFound() {
    history.call(write("a", "1"), DONE).call(write("b", "2"), DONE);
    history.call(ALL, rows(row("b", "2")));
    assertFound(ONE, "did not return row a");
  }

  @Test
  void aScanToItsLimitOrCutShortAnswersForTheRowsItPassed() {
    Stream.of("a", "b", "c").forEach(key -> history.call(write(key, "1"), DONE));
    Optional<SteleException.Code> cut = Optional.of(SteleException.Code.RETRY_LATER);
    Action two = new Action.Scan(RowRange.ALL, 2);
    history.call(two, rows(row("a", "1"), row("b", "1")));
    history.call(ALL, new Result.Rows(List.of(row("a", "1")), cut));
    history.call(ALL, new Result.Rows(List.of(), cut));
    history.call(new Action.Scan(RowRange.of("b", "c"), 2), rows(row("b", "1")));
    assertGood(ONE);
    history.call(two, rows(row("a", "1"), row("c", "1")));
    assertFound(ONE, "did not return row b");
  }

  @Test
  void aScanAboveItsLimitOrOutOfItsRangeIsFound() {
    history.call(write("a", "1"), DONE).call(write("b", "1"), DONE);
    history.call(new Action.Scan(RowRange.ALL, 1), rows(row("a", "1"), row("b", "1")));
    assertFound(ONE, "more rows than its limit");
    Action ofA = new Action.Scan(RowRange.of("a", "b"), 9);
    history.call(ofA, rows(row("a", "1"), row("b", "1")));
    assertThat(RowChecker.check(history.calls(), ONE))
        .hasSize(2)
        .anySatisfy(violation -> assertThat(violation.text()).contains("not in its range"));
  }

  @Test
  void aRowThatComesTwiceIsFound() {
    history.call(write("a", "1"), DONE).call(ALL, rows(row("a", "1"), row("a", "1")));
    assertFound(ONE, "row a twice");
  }

  @Test
  void rowsOutOfOrderAreFound() {
    history.call(write("a", "1"), DONE).call(write("b", "2"), DONE);
    history.call(ALL, rows(row("b", "2"), row("a", "1")));
    assertFound(ONE, "row a after row b");
  }

  @Test
  void aRowThatNobodyWroteIsFound() {
    history.call(ALL, rows(row("x", "1")));
    assertFound(ONE, "what nobody wrote");
  }

  @Test
  void aRowThatWasRejectedIsFound() {
    history.rejected(write("a", "1")).call(ALL, rows(row("a", "1")));
    assertFound(ONE, "what was rejected");
  }

  @Test
  void aRowFromTheFutureIsFound() {
    history.call(read("a"), rows(row("a", "1"))).call(write("a", "1"), DONE);
    assertFound(ONE, "what was written later");
  }

  @Test
  void aStaleReadIsFound() {
    history.call(write("a", "1"), DONE).call(write("a", "2"), DONE);
    history.call(read("a"), rows(row("a", "1")));
    assertFound(ONE, "had replaced");
  }

  @Test
  void aLostWriteIsFound() {
    history.call(write("a", "1"), DONE).call(read("a"), rows());
    assertFound(ONE, "did not return row a");
  }

  @Test
  void aRowThatCameBackIsFound() {
    history.call(write("a", "1"), DONE).call(delete("a"), DONE);
    history.call(ALL, rows(row("a", "1")));
    assertFound(ONE, "had replaced");
  }

  @Test
  void anotherRowThanTheOneReadIsFound() {
    history.call(write("b", "1"), DONE).call(read("a"), rows(row("b", "1")));
    assertFound(ONE, "another row");
  }

  @Test
  void tornRowsAreFound() {
    history.call(write("a", "1"), DONE).unknown(write("a", "2"));
    history.call(read("a"), rows(wide("a", cell("a", "q", "1"), cell("b", "q", "1"))));
    assertGood(TWO);
    history.call(read("a"), rows(wide("a", cell("a", "q", "1"), cell("b", "q", "2"))));
    assertFound(TWO, "not whole");
  }

  @Test
  void aRowWithoutAColumnOrWithOneTwiceIsFound() {
    history.call(write("a", "1"), DONE).call(ALL, rows(wide("a", cell("a", "q", "1"))));
    assertFound(TWO, "not whole");
    history.call(ALL, rows(wide("a", cell("a", "q", "1"), cell("a", "q", "1"))));
    assertThat(RowChecker.check(history.calls(), TWO)).hasSize(2);
  }

  @Test
  void anAbsenceBetweenManyDeletesIsJudgedByTheOneItSaw() {
    for (int i = 0; i < 100; i++) {
      history.call(write("a", "" + i), DONE).call(read("a"), rows(row("a", "" + i)));
      history.call(delete("a"), DONE).call(read("a"), rows());
    }
    assertGood(ONE);
    history.call(write("a", "last"), DONE).rejected(delete("a")).call(read("a"), rows());
    assertFound(ONE, "did not return row a");
  }

  @Test
  void theOrderInWhichCallsAreGivenSaysNothing() {
    history.call(delete("a"), DONE).call(read("a"), rows());
    history.call(write("a", "1"), DONE).call(read("a"), rows(row("a", "1")));
    history.call(delete("a"), DONE).call(read("a"), rows());
    List<Call> backwards = new ArrayList<>(history.calls());
    Collections.reverse(backwards);
    assertThat(RowChecker.check(backwards, ONE)).isEmpty();

    history.call(write("a", "2"), DONE).call(read("a"), rows());
    backwards = new ArrayList<>(history.calls());
    Collections.reverse(backwards);
    assertThat(RowChecker.check(backwards, ONE)).hasSize(1);
  }
}
