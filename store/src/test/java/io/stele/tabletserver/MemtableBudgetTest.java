package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.SteleException;
import io.stele.model.TabletKind;
import io.stele.runtime.ManualRuntime;
import org.junit.jupiter.api.Test;

class MemtableBudgetTest {
  private static final long BYTES_MAX = 1000;
  private static final long SMALL = 10;

  private final ManualRuntime runtime = new ManualRuntime();
  private final MemtableBudget budget = new MemtableBudget(runtime, BYTES_MAX);

  /** Whether a write was taken, whose cells are in a memtable then. */
  private boolean write(long bytes) {
    try {
      MemtableBudget.Reservation room = budget.reserve(TabletKind.USER, bytes);
      budget.take(bytes);
      room.close();
      return true;
    } catch (SteleException e) {
      assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER);
      return false;
    }
  }

  /** Small writes until there is no more room for them. */
  private void fill() {
    while (write(SMALL)) {
      assertThat(budget.bytes()).isLessThanOrEqualTo(BYTES_MAX);
    }
  }

  @Test
  void aWriteThatNeedsAlmostAllIsTakenAfterOneRoundOfCompactionsHoweverManySmallOnesCome() {
    fill();
    assertThat(write(BYTES_MAX)).isFalse();
    assertThat(budget.excess()).isEqualTo(BYTES_MAX);
    for (int round = 0; round < 4; round++) {
      budget.release(BYTES_MAX / 4);
      fill();
      assertThat(budget.excess()).as("what is still to be compacted").isEqualTo(budget.bytes());
    }
    assertThat(write(BYTES_MAX)).isTrue();
    budget.release(BYTES_MAX);
    fill();
    assertThat(budget.bytes()).isEqualTo(BYTES_MAX);
  }

  @Test
  void smallWritesGoOnInWhatIsNotKept() {
    fill();
    assertThat(write(400)).isFalse();
    budget.release(BYTES_MAX);
    fill();
    assertThat(budget.bytes()).isEqualTo(600);
    assertThat(write(400)).isTrue();
  }

  @Test
  void roomIsKeptForAWhileAndThenForAsLongNot() {
    fill();
    assertThat(write(BYTES_MAX)).isFalse();
    budget.release(100);
    assertThat(write(SMALL)).isFalse();
    runtime.pass(MemtableBudget.KEPT);
    assertThat(write(SMALL)).as("its client has given up, or goes on elsewhere").isTrue();
    assertThat(write(BYTES_MAX)).isFalse();
    assertThat(write(SMALL)).as("not at once again").isTrue();
    runtime.pass(MemtableBudget.KEPT);
    assertThat(write(BYTES_MAX)).isFalse();
    assertThat(write(SMALL)).isFalse();
  }

  /** As when a large tablet cannot be compacted: the write never finds room. */
  @Test
  void roomThatWasKeptInVainIsKeptTheLessOften() {
    fill();
    budget.release(100);
    for (int pauses = 1; pauses <= 4; pauses *= 2) {
      assertThat(write(BYTES_MAX)).isFalse();
      assertThat(write(SMALL)).as("room is kept").isFalse();
      runtime.pass(MemtableBudget.KEPT);
      for (int i = 0; i < pauses; i++) {
        assertThat(write(SMALL)).as("none is kept").isTrue();
        assertThat(write(BYTES_MAX)).isFalse();
        runtime.pass(MemtableBudget.KEPT);
      }
    }
    assertThat(write(BYTES_MAX)).isFalse();
    assertThat(write(SMALL)).isFalse();
    budget.release(budget.bytes());
    assertThat(write(BYTES_MAX)).isTrue();
    budget.release(100);
    runtime.pass(MemtableBudget.KEPT);
    assertThat(write(BYTES_MAX)).isFalse();
    runtime.pass(MemtableBudget.KEPT);
    assertThat(write(SMALL)).isTrue();
    runtime.pass(MemtableBudget.KEPT);
    assertThat(write(BYTES_MAX)).isFalse();
    assertThat(write(SMALL)).as("as often as at first, since one was taken").isFalse();
  }

  @Test
  void whatWasKeptInVainLongAgoDoesNotCount() {
    fill();
    budget.release(100);
    assertThat(write(BYTES_MAX)).isFalse();
    runtime.pass(MemtableBudget.KEPT);
    assertThat(write(SMALL)).isTrue();
    runtime.pass(MemtableBudget.KEPT.plus(MemtableBudget.PAUSE_MAX));
    assertThat(write(BYTES_MAX)).isFalse();
    runtime.pass(MemtableBudget.KEPT);
    assertThat(write(SMALL)).isTrue();
    runtime.pass(MemtableBudget.KEPT);
    assertThat(write(BYTES_MAX)).isFalse();
    assertThat(write(SMALL)).isFalse();
  }

  @Test
  void noRoomIsKeptForASmallWrite() {
    fill();
    budget.release(20);
    assertThat(write(50)).isFalse();
    assertThat(write(SMALL)).isTrue();
  }
}
