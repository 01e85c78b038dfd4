package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import io.stele.model.TabletKind;
import io.stele.runtime.ForwardingRuntime;
import io.stele.runtime.ManualRuntime;
import io.stele.runtime.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WriteDelayTest {
  private final ManualRuntime runtime = new ManualRuntime();
  private final MemtableBudget budget = new MemtableBudget(runtime, 1000);
  private final List<String> done = new ArrayList<>();
  private final List<Throwable> refused = new ArrayList<>();
  private final WriteDelay delay = new WriteDelay(runtime, 3, 100);

  private void write(String name, long bytes) {
    delay.pass(
        budget,
        bytes,
        () -> {
          budget.reserve(TabletKind.USER, 1).close();
          done.add(name);
        },
        refused::add);
  }

  @Test
  void withRoomAWriteGoesOnAtOnce() {
    budget.take(800);
    write("a", 1);
    assertThat(done).containsExactly("a");
    assertThat(runtime.timers()).isEmpty();
  }

  @Test
  void theLessRoomThereIsTheLongerAWriteWaits() {
    budget.take(850);
    write("a", 1);
    budget.take(100);
    write("b", 1);
    assertThat(done).isEmpty();
    assertThat(runtime.timers()).containsExactly(Duration.ofMillis(50), Duration.ofMillis(150));
    runtime.pass(Duration.ofMillis(50));
    assertThat(done).containsExactly("a");
    runtime.pass(Duration.ofMillis(100));
    assertThat(done).containsExactly("a", "b");
    assertThat(delay.waiting()).isZero();
    assertThat(refused).isEmpty();
  }

  @Test
  void aWriteThatWaitedIsRefusedWhereThereIsNoRoomStillAndOnlyThere() {
    budget.take(1001);
    write("a", 1);
    assertThat(runtime.timers()).containsOnly(MemtableBudget.DELAY_MAX);
    runtime.pass(MemtableBudget.DELAY_MAX.dividedBy(2));
    write("b", 1);
    runtime.pass(MemtableBudget.DELAY_MAX.dividedBy(2));
    assertThat(refused).singleElement().satisfies(WriteDelayTest::saysRetryLater);
    budget.release(901);
    runtime.pass(MemtableBudget.DELAY_MAX);
    assertThat(done).containsExactly("b");
    write("c", 1);
    assertThat(done).containsExactly("b", "c");
  }

  @Test
  void noMoreWritesWaitThanLeavePlacesForReads() {
    budget.take(900);
    for (String name : List.of("a", "b", "c", "d")) {
      write(name, 1);
      runtime.pass(Duration.ofMillis(10));
    }
    assertThat(runtime.timers()).hasSize(3);
    assertThat(refused).singleElement().satisfies(WriteDelayTest::saysRetryLater);
    runtime.pass(budget.delay().minusMillis(40));
    assertThat(done).containsExactly("a");
    write("e", 99);
    assertThat(refused).hasSize(2);
    write("f", 98);
    assertThat(refused).hasSize(2);
    runtime.pass(budget.delay());
    assertThat(done).containsExactly("a", "b", "c", "f");
    write("larger than all that may wait", 101);
    assertThat(runtime.timers()).hasSize(1);
    assertThat(refused).hasSize(2);
  }

  @Test
  void whateverAWriteThrowsAfterItsDelayItIsRefusedWith() {
    budget.take(900);
    AssertionError error = new AssertionError("a fault");
    delay.pass(
        budget,
        1,
        () -> {
          throw error;
        },
        refused::add);
    runtime.pass(MemtableBudget.DELAY_MAX);
    assertThat(refused).containsExactly(error);
    assertThat(delay.waiting()).isZero();
  }

  @Test
  void aWriteForWhichThereIsNoTimerLeavesNothingBehind() {
    budget.take(900);
    AssertionError error = new AssertionError("no timer");
    WriteDelay untimed =
        new WriteDelay(
            new ForwardingRuntime() {
              @Override
              public Timer after(Duration time, Runnable work) {
                throw error;
              }
            },
            10,
            100);
    assertThatThrownBy(() -> untimed.pass(budget, 1, () -> {}, refused::add)).isSameAs(error);
    assertThat(untimed.waiting()).isZero();
  }

  @Test
  void theBudgetRefusesAboveItsBoundAndIsTightLongBefore() {
    budget.take(600);
    assertThat(budget.excess()).isNotPositive();
    budget.take(1);
    assertThat(budget.excess()).isPositive();
    assertThat(budget.delay()).isZero();
    budget.take(398);
    assertThatCode(() -> budget.reserve(TabletKind.USER, 1).close()).doesNotThrowAnyException();
    budget.take(1);
    assertThatThrownBy(() -> budget.reserve(TabletKind.USER, 1).close())
        .isInstanceOf(SteleException.class)
        .satisfies(WriteDelayTest::saysRetryLater)
        .hasMessageContaining("1000 bytes, of 1000 allowed. There is no room for 1 more");
    assertThat(budget.delay()).isEqualTo(MemtableBudget.DELAY_MAX);
  }

  @Test
  void aWriteThatNeverFitsIsRefusedWithWhatToDo() {
    assertThatCode(() -> budget.reserve(TabletKind.USER, 1000).close()).doesNotThrowAnyException();
    assertThatThrownBy(() -> budget.reserve(TabletKind.USER, 1001).close())
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("stele.tabletserver.memtable.total.bytes")
        .extracting(e -> ((SteleException) e).code())
        .isEqualTo(SteleException.Code.REFUSED);
  }

  @Test
  void aLargeWriteThatWasRefusedHasMemtablesCompactedThatAreInItsWay() {
    budget.take(500);
    assertThat(budget.excess()).isNotPositive();
    assertThatThrownBy(() -> budget.reserve(TabletKind.USER, 700).close())
        .isInstanceOf(SteleException.class);
    assertThat(budget.excess()).isPositive();
    budget.release(200);
    assertThat(budget.excess()).isNotPositive();
    assertThatCode(() -> budget.reserve(TabletKind.USER, 700).close()).doesNotThrowAnyException();
  }

  private static void saysRetryLater(Throwable why) {
    assertThat(((SteleException) why).code()).isEqualTo(SteleException.Code.RETRY_LATER);
  }

  @Test
  void aWriteThatTurnsOutLargerAsksForMoreAndGivesAllBack() {
    budget.take(300);
    MemtableBudget.Reservation write = budget.reserve(TabletKind.USER, 200);
    write.take(500);
    assertThatThrownBy(() -> write.take(1))
        .isInstanceOf(SteleException.class)
        .satisfies(WriteDelayTest::saysRetryLater);
    assertThat(budget.hasRoom(1)).isFalse();
    assertThatThrownBy(() -> write.take(301))
        .isInstanceOf(SteleException.class)
        .extracting(e -> ((SteleException) e).code())
        .isEqualTo(SteleException.Code.REFUSED);
    write.close();
    assertThat(budget.hasRoom(700)).isTrue();
  }

  @Test
  void writesOnTheirWayDoNotSeeTheSameRoom() {
    budget.take(300);
    MemtableBudget.Reservation first = budget.reserve(TabletKind.USER, 600);
    assertThatThrownBy(() -> budget.reserve(TabletKind.USER, 600))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("try again");
    first.close();
    assertThatCode(() -> budget.reserve(TabletKind.USER, 600).close()).doesNotThrowAnyException();
  }
}
