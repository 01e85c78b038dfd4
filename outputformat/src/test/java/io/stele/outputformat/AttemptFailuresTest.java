package io.stele.outputformat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class AttemptFailuresTest {
  private final AttemptFailures failures = new AttemptFailures();
  private final List<Integer> done = new ArrayList<>();

  private AttemptFailures.Step good(int number) {
    return () -> done.add(number);
  }

  private static AttemptFailures.Step bad(RuntimeException failure) {
    return () -> {
      throw failure;
    };
  }

  @Test
  void theEndThrowsWhatHasFailedFirstAndTheRestAsSuppressed() {
    SteleException first = SteleException.refused("a bad row");
    SteleException later = SteleException.retryLater("nothing more is sent");
    failures.add(first);
    failures.add(first); // Thrown again.
    failures.add(later);
    SteleException last = SteleException.refused("fewer records than an earlier attempt");
    assertThatThrownBy(() -> failures.end(List.of(good(1), bad(last), good(2)))).isSameAs(first);
    assertThat(first.getSuppressed()).containsExactly(later, last);
    assertThat(done).containsExactly(1, 2);
  }

  @Test
  void ofTheStepsOfAnEndTheFirstThatFailsIsThrown() {
    SteleException first = SteleException.refused("a bad row");
    SteleException last = SteleException.refused("fewer records");
    assertThatThrownBy(() -> failures.end(List.of(bad(first), bad(last)))).isSameAs(first);
    assertThat(first.getSuppressed()).containsExactly(last);
  }

  @Test
  void anEndOfWhichAllStepsSucceedThrowsNothing() throws IOException {
    failures.add(SteleException.refused("a bad operation, which the reducer has left out"));
    failures.end(List.of(good(1), good(2)));
    assertThat(done).containsExactly(1, 2);
  }

  @Test
  void nothingIsWaitedForAfterAnInterruption() {
    IOException interrupted = new InterruptedIOException("interrupted");
    AttemptFailures.Step step =
        () -> {
          throw interrupted;
        };
    assertThatThrownBy(() -> failures.end(List.of(step, good(1)))).isSameAs(interrupted);
    assertThat(done).isEmpty();
  }

  @Test
  @Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aFailureThatIsItsOwnCauseIsShown() {
    IllegalStateException first = new IllegalStateException("a driver's");
    first.initCause(new IllegalStateException("and its cause", first));
    failures.add(first);
    SteleException last = SteleException.refused("fewer records");
    assertThatThrownBy(() -> failures.end(List.of(bad(last)))).isSameAs(first);
    assertThat(first.getSuppressed()).containsExactly(last);
  }
}
