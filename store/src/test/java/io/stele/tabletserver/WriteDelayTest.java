package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.log.LogKind;
import io.stele.model.SteleException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class WriteDelayTest {
  private final MemtableBudget budget = new MemtableBudget(1000);
  private final List<Duration> delays = new ArrayList<>();
  private final Queue<Runnable> timer = new ArrayDeque<>();
  private final List<String> done = new ArrayList<>();
  private final List<RuntimeException> refused = new ArrayList<>();
  private final WriteDelay delay =
      new WriteDelay(
          (after, work) -> {
            delays.add(after);
            timer.add(work);
          },
          3,
          100);

  private void write(String name, long bytes) {
    delay.pass(
        budget,
        bytes,
        () -> {
          budget.requireRoom(LogKind.USER);
          done.add(name);
        },
        refused::add);
  }

  @Test
  void withRoomAWriteGoesOnAtOnce() {
    budget.take(800);
    write("a", 1);
    assertThat(done).containsExactly("a");
    assertThat(delays).isEmpty();
  }

  @Test
  void theLessRoomThereIsTheLongerAWriteWaits() {
    budget.take(850);
    write("a", 1);
    budget.take(100);
    write("b", 1);
    assertThat(done).isEmpty();
    assertThat(delays).containsExactly(Duration.ofMillis(50), Duration.ofMillis(150));
    timer.remove().run();
    assertThat(done).containsExactly("a");
    timer.remove().run();
    assertThat(done).containsExactly("a", "b");
    assertThat(delay.waiting()).isZero();
    assertThat(refused).isEmpty();
  }

  @Test
  void aWriteThatWaitedIsRefusedWhereThereIsNoRoomStillAndOnlyThere() {
    budget.take(1001);
    write("a", 1);
    write("b", 1);
    assertThat(delays).containsOnly(MemtableBudget.DELAY_MAX);
    timer.remove().run();
    assertThat(refused).singleElement().satisfies(WriteDelayTest::saysRetryLater);
    budget.letGo(901);
    timer.remove().run();
    assertThat(done).containsExactly("b");
    write("c", 1);
    assertThat(done).containsExactly("b", "c");
  }

  @Test
  void noMoreWritesWaitThanLeavePlacesForReads() {
    budget.take(900);
    for (String name : List.of("a", "b", "c", "d")) {
      write(name, 1);
    }
    assertThat(timer).hasSize(3);
    assertThat(refused).singleElement().satisfies(WriteDelayTest::saysRetryLater);
    timer.remove().run();
    write("e", 99);
    assertThat(refused).hasSize(2);
    write("f", 98);
    assertThat(refused).hasSize(2);
    timer.forEach(Runnable::run);
    assertThat(done).containsExactly("a", "b", "c", "f");
    timer.clear();
    write("larger than all that may wait", 101);
    assertThat(timer).hasSize(1);
    assertThat(refused).hasSize(2);
  }

  @Test
  void aStoppingServerRefuses() {
    budget.take(900);
    WriteDelay stopped =
        new WriteDelay(
            (after, work) -> {
              throw new RejectedExecutionException();
            },
            3,
            100);
    stopped.pass(budget, 1, () -> done.add("a"), refused::add);
    assertThat(done).isEmpty();
    assertThat(refused).singleElement().satisfies(WriteDelayTest::saysRetryLater);
    assertThat(stopped.waiting()).isZero();
  }

  @Test
  void theBudgetRefusesAboveItsBoundAndIsTightLongBefore() {
    budget.take(600);
    assertThat(budget.isTight()).isFalse();
    budget.take(1);
    assertThat(budget.isTight()).isTrue();
    assertThat(budget.delay()).isZero();
    budget.take(399);
    assertThatCode(() -> budget.requireRoom(LogKind.USER)).doesNotThrowAnyException();
    budget.take(1);
    assertThatThrownBy(() -> budget.requireRoom(LogKind.USER))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("1001 bytes, of 1000 allowed");
    assertThat(budget.delay()).isEqualTo(MemtableBudget.DELAY_MAX);
  }

  private static void saysRetryLater(RuntimeException why) {
    assertThat(((SteleException) why).code()).isEqualTo(SteleException.Code.RETRY_LATER);
  }
}
