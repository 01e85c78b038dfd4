package io.stele.sim.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import org.junit.jupiter.api.Test;

class CounterCheckerTest {
  private static final Bytes ROW = Bytes.of("n");

  private final Recorded history = new Recorded();

  private static Action add(long amount) {
    return new Action.Increment(ROW, amount);
  }

  private static Action read() {
    return new Action.ReadCounter(ROW);
  }

  private static Result number(long value) {
    return new Result.Number(value);
  }

  private void assertGood() {
    assertThat(CounterChecker.check(history.calls())).isEmpty();
  }

  private void assertFound(String text) {
    assertThat(CounterChecker.check(history.calls()))
        .isNotEmpty()
        .anySatisfy(violation -> assertThat(violation.text()).contains(text));
  }

  @Test
  void incrementsThatCountOncePass() {
    history.call(read(), number(0)).call(add(2), number(2)).rejected(add(3));
    int slow = history.begin(1, add(5));
    history.call(add(1), number(8)).end(slow, number(7)).call(read(), number(8));
    history.readBack(read(), number(8));
    assertGood();
  }

  @Test
  void unknownIncrementsMayCountNowLaterOrNever() {
    history.unknown(add(3)).unknown(add(4)).call(add(1), number(1)).call(read(), number(5));
    history.readBack(read(), number(5));
    assertGood();
    history.readBack(read(), number(8));
    assertGood();
  }

  @Test
  void aLostIncrementIsFound() {
    history.call(add(1), number(1)).call(add(1), number(2)).readBack(read(), number(1));
    assertFound("outside of 2 to 2");
  }

  @Test
  void aDoubledIncrementIsFound() {
    history.call(add(1), number(1)).call(add(1), number(3));
    assertFound("outside of 2 to 2");
  }

  @Test
  void anUnknownIncrementThatCountsTwiceIsFound() {
    history.unknown(add(3)).unknown(add(2)).call(add(1), number(1)).readBack(read(), number(5));
    assertFound("some of the unknown");
  }

  @Test
  void aRejectedIncrementThatCountedIsFound() {
    history.rejected(add(1)).call(read(), number(1));
    assertFound("outside of 0 to 0");
  }

  @Test
  void theSameAnswerTwiceIsFound() {
    int one = history.begin(0, add(1));
    int two = history.begin(1, add(1));
    history.end(one, number(1)).end(two, number(1));
    assertFound("the same answer");
  }

  @Test
  void stepsThatOverlapAreFound() {
    int one = history.begin(0, add(3));
    int two = history.begin(1, add(3));
    history.end(one, number(3)).end(two, number(5));
    assertFound("one step counted for");
  }

  @Test
  void aReadWithinAStepIsFound() {
    int one = history.begin(0, add(3));
    history.call(read(), number(2)).end(one, number(3));
    assertFound("saw a part of");
  }

  @Test
  void aReadThatGoesBackIsFound() {
    int unknown = history.begin(1, add(1));
    history.call(read(), number(1)).call(read(), number(0));
    assertFound("outside of 1 to 1");
    history.end(unknown, new CallOutcome.Unknown("lost"));
    assertFound("outside of 1 to 1");
  }
}
