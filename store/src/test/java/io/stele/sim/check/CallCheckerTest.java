package io.stele.sim.check;

import static io.stele.sim.check.Recorded.DONE;
import static io.stele.sim.check.Recorded.read;
import static io.stele.sim.check.Recorded.rejection;
import static io.stele.sim.check.Recorded.rows;
import static io.stele.sim.check.Recorded.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.RowRange;
import io.stele.model.SteleException.Code;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CallCheckerTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  private static final Duration GRACE = Duration.ofSeconds(1);

  private static long seconds(long count) {
    return Duration.ofSeconds(count).toNanos();
  }

  private static List<Violation> deadlines(History history, long now) {
    return CallChecker.checkDeadlines(history.calls(), TIMEOUT, GRACE, now);
  }

  @Test
  void aCallThatEndsByItsDeadlinePasses() {
    History history = new History();
    int call = history.begin(0, read("a"), 0);
    history.end(call, rejection(Code.RETRY_LATER), seconds(3));
    assertThat(deadlines(history, seconds(9))).isEmpty();
  }

  @Test
  void aLateCallIsFound() {
    History history = new History();
    int call = history.begin(0, read("a"), 0);
    history.end(call, new CallOutcome.Answered(rows()), seconds(3) + 1);
    assertThat(deadlines(history, seconds(9))).hasSize(1);
  }

  @Test
  void aCallThatNeverReturnsIsFoundOnceItIsLate() {
    History history = new History();
    history.begin(0, read("a"), seconds(1));
    assertThat(deadlines(history, seconds(4))).isEmpty();
    assertThat(deadlines(history, seconds(4) + 1)).hasSize(1);
  }

  @Test
  void ofALongScanTheLongestWaitCounts() {
    History history = new History();
    int scan = history.begin(0, new Action.Scan(RowRange.ALL, 9), 0);
    history.end(scan, new CallOutcome.Answered(rows()), seconds(8), seconds(2));
    assertThat(deadlines(history, seconds(9))).isEmpty();
  }

  @Test
  void failuresWithoutACauseAreFound() {
    Recorded history = new Recorded();
    history.call(write("a", "1"), DONE).rejected(read("a")).unknown(write("a", "2"));
    assertThat(CallChecker.checkFailures(history.calls(), Set.of(Code.RETRY_LATER))).isEmpty();
    history.end(history.begin(0, read("a")), rejection(Code.NOT_FOUND));
    assertThat(CallChecker.checkFailures(history.calls(), Set.of(Code.RETRY_LATER))).hasSize(1);
    Result cut = new Result.Rows(List.of(), Optional.of(Code.CORRUPTION));
    history.call(new Action.Scan(RowRange.ALL, 9), cut);
    assertThat(CallChecker.checkFailures(history.calls(), Set.of(Code.RETRY_LATER))).hasSize(2);
  }

  @Test
  void whatIsNotReadBackIsFound() {
    Recorded history = new Recorded().call(read("a"), rows());
    assertThat(CallChecker.checkReadBack(history.calls())).hasSize(1);
    history.readBack(read("a"), rows());
    assertThat(CallChecker.checkReadBack(history.calls())).isEmpty();
    int failing = history.begin(History.READ_BACK, read("b"));
    history.end(failing, rejection(Code.RETRY_LATER));
    assertThat(CallChecker.checkReadBack(history.calls())).hasSize(1);
    history.readBack(read("b"), rows());
    assertThat(CallChecker.checkReadBack(history.calls())).isEmpty();
  }
}
