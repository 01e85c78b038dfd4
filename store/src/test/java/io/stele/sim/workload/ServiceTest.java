package io.stele.sim.workload;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.SteleException.Code;
import io.stele.sim.check.Action;
import io.stele.sim.check.CallOutcome;
import io.stele.sim.check.History;
import io.stele.sim.check.Result;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ServiceTest {
  private static final CallOutcome ANSWERED = new CallOutcome.Answered(new Result.Done());
  private static final CallOutcome REJECTED = new CallOutcome.Rejected(Code.RETRY_LATER, "later");
  private static final CallOutcome UNKNOWN = new CallOutcome.Unknown("lost");

  private final History history = new History();

  private void call(int client, CallOutcome outcome, long start, long end) {
    history.end(history.begin(client, new Action.Other("call"), start), outcome, end);
  }

  private Service service(long from, long to) {
    return Service.of(history.calls(), from, to);
  }

  @Test
  void whatWasNotAnsweredLeavesAGap() {
    call(0, ANSWERED, 100, 110);
    call(0, UNKNOWN, 110, 150);
    call(1, REJECTED, 110, 160);
    call(1, ANSWERED, 160, 180);
    call(0, ANSWERED, 160, 190);
    assertThat(service(90, 200))
        .isEqualTo(new Service(3, 1, 1, Duration.ofNanos(70), Duration.ofNanos(30)));
  }

  @Test
  void aGapMayBeAtTheBeginningOrAtTheEnd() {
    call(0, ANSWERED, 100, 110);
    assertThat(service(50, 120).longestGap()).isEqualTo(Duration.ofNanos(60));
    assertThat(service(90, 150).longestGap()).isEqualTo(Duration.ofNanos(40));
  }

  private Service.Gap gap(long from, long to, long cut) {
    return Service.longestGap(history.calls(), from, to, cut);
  }

  private static Service.Gap gap(long nanos, boolean open) {
    return new Service.Gap(Duration.ofNanos(nanos), open);
  }

  @Test
  void aGapGoesOnToTheFirstAnswerAfterTheTimeInQuestion() {
    call(0, ANSWERED, 100, 110);
    call(0, UNKNOWN, 110, 150);
    call(0, ANSWERED, 150, 400);
    call(0, ANSWERED, 400, 900);
    assertThat(gap(100, 200, 1000)).isEqualTo(gap(290, false));
    assertThat(gap(100, 105, 1000)).isEqualTo(gap(10, false));
    assertThat(gap(100, 110, 1000)).isEqualTo(gap(290, false));
    assertThat(gap(130, 140, 1000)).isEqualTo(gap(270, false));
    assertThat(gap(100, 1000, 1000)).isEqualTo(gap(500, false));
  }

  @Test
  void aGapThatNoAnswerEndsIsOpen() {
    call(0, ANSWERED, 100, 110);
    assertThat(gap(100, 200, 1000)).isEqualTo(gap(90, true));
    assertThat(gap(100, 200, 150)).isEqualTo(gap(40, true));
    assertThat(gap(100, 115, 1000)).isEqualTo(gap(10, false));
    assertThat(gap(200, 300, 1000)).isEqualTo(gap(100, true));
  }

  @Test
  void aGapEndsWhereItIsCutAndWhatIsAnsweredLaterIsOfNoImportance() {
    call(0, ANSWERED, 100, 110);
    call(0, ANSWERED, 110, 400);
    call(0, ANSWERED, 400, 900);
    assertThat(gap(100, 200, 200)).isEqualTo(gap(90, true));
    assertThat(gap(100, 120, 120)).isEqualTo(gap(10, false));
    assertThat(gap(100, 500, 500)).isEqualTo(gap(290, false));
  }

  @Test
  void answeredIsWhatWasUnderWayAtSomeTime() {
    call(0, ANSWERED, 10, 99);
    call(0, ANSWERED, 99, 100);
    call(1, ANSWERED, 50, 300);
    call(0, REJECTED, 110, 120);
    call(0, ANSWERED, 200, 210);
    call(0, ANSWERED, 210, 220);
    assertThat(Service.answered(history.calls(), 100, 200))
        .extracting(call -> call.end().nanos())
        .containsExactly(100L, 300L, 210L);
  }

  @Test
  void aScanCutShortIsNoService() {
    Result.Rows part = new Result.Rows(List.of(), Optional.of(Code.RETRY_LATER));
    call(0, new CallOutcome.Answered(part), 100, 110);
    assertThat(service(90, 150))
        .isEqualTo(new Service(0, 1, 0, Duration.ofNanos(60), Duration.ZERO));
  }

  @Test
  void whatBeganAndFailedInATimeIsFailedThere() {
    Result.Rows part = new Result.Rows(List.of(), Optional.of(Code.RETRY_LATER));
    call(0, REJECTED, 99, 110);
    call(0, REJECTED, 100, 111);
    call(1, ANSWERED, 100, 112);
    call(0, UNKNOWN, 111, 120);
    call(0, new CallOutcome.Answered(part), 120, 200);
    call(History.READ_BACK, REJECTED, 120, 150);
    call(0, REJECTED, 180, 201);
    history.begin(1, new Action.Other("call"), 130);
    assertThat(Service.failed(history.calls(), 100, 200))
        .extracting(failed -> failed.end().nanos())
        .containsExactly(111L, 120L, 200L);
  }

  @Test
  void aCallThatHasNotReturnedIsUnknown() {
    history.begin(0, new Action.Other("call"), 100);
    assertThat(service(90, 150).unknown()).isEqualTo(1);
  }

  @Test
  void whatWasReadBackIsNotCounted() {
    call(History.READ_BACK, ANSWERED, 100, 110);
    assertThat(service(90, 150).calls()).isZero();
  }

  @Test
  void ninetyNineOfAHundredReturnWithinP99() {
    for (int i = 1; i <= 200; i++) {
      call(0, ANSWERED, 1000L * i, 1000L * i + i);
    }
    assertThat(service(0, 300_000).p99()).isEqualTo(Duration.ofNanos(198));
  }
}
