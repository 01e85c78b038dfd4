package io.stele.sim.check;

import static io.stele.sim.check.Recorded.DONE;
import static io.stele.sim.check.Recorded.row;
import static io.stele.sim.check.Recorded.rows;
import static io.stele.sim.check.Recorded.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.RowRange;
import org.junit.jupiter.api.Test;

class LinkedListCheckerTest {
  private static final Action ALL = new Action.Scan(RowRange.ALL, Long.MAX_VALUE);

  private final Recorded history =
      new Recorded()
          .call(write("x", ""), DONE)
          .call(write("a", "x"), DONE)
          .unknown(write("k", "a"));

  private void assertFound(String text) {
    assertThat(LinkedListChecker.check(history.calls()))
        .isNotEmpty()
        .anySatisfy(violation -> assertThat(violation.text()).contains(text));
  }

  @Test
  void wholeListsPassWithAndWithoutTheUnknownNodes() {
    history.readBack(ALL, rows(row("a", "x"), row("x", "")));
    history.readBack(ALL, rows(row("a", "x"), row("k", "a"), row("x", "")));
    assertThat(LinkedListChecker.check(history.calls())).isEmpty();
  }

  @Test
  void aLostNodeIsFoundAndSoIsTheReferenceToIt() {
    history.readBack(ALL, rows(row("a", "x")));
    assertFound("node x is not there at the end");
    assertFound("node a refers to node x");
  }

  @Test
  void aNodeThatRefersElsewhereIsFound() {
    history.readBack(ALL, rows(row("a", ""), row("x", "")));
    assertFound("node a has another value");
  }
}
