package io.stele.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.metadata.Attempts.Decision;
import io.stele.metadata.Attempts.Effect;
import io.stele.metadata.Attempts.Purpose;
import io.stele.model.SteleException;
import io.stele.runtime.Deadline;
import io.stele.runtime.Durations;
import io.stele.runtime.ProcessRuntime;
import io.stele.sim.Simulation;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class AttemptsTest {
  private static final SteleException LATER = SteleException.retryLater("it is busy");

  /** How an attempt failed. */
  private interface Try {
    Decision after(Attempts attempts);
  }

  /** Makes attempts until they end; each but the last is followed by its pause. */
  private static SteleException end(Effect effect, Duration timeout, Duration took, Try one)
      throws Exception {
    Simulation simulation = new Simulation(1, 10_000);
    SteleException[] end = new SteleException[1];
    simulation.run(
        () -> {
          ProcessRuntime runtime = simulation.outside();
          Deadline deadline = Deadline.after(runtime, timeout);
          Attempts attempts = new Attempts(runtime, Purpose.of(effect, () -> "trying"), deadline);
          while (end[0] == null) {
            runtime.sleep(took);
            Decision decision = one.after(attempts);
            if (decision instanceof Decision.Again again) {
              runtime.sleep(again.pause());
            } else if (decision instanceof Decision.End over) {
              end[0] = over.failure();
            }
          }
        });
    return end[0];
  }

  @Test
  void attemptsEndWhoseTimeWasOverBeforeTheFirst() throws Exception {
    for (Effect effect : Effect.values()) {
      assertThat(
              end(effect, Duration.ZERO, Duration.ZERO, attempts -> attempts.notSent(LATER)).code())
          .isEqualTo(SteleException.Code.RETRY_LATER);
    }
  }

  @Test
  void theLastAttemptHasTimeForItsAnswer() throws Exception {
    Duration slow = Duration.ofMillis(20);
    SteleException last =
        end(
            Effect.CHANGE_WITH_ID,
            Duration.ofSeconds(2),
            slow,
            attempts -> attempts.sent(attempts.deadline().isOver() ? lost() : LATER));
    assertThat(last.code()).isEqualTo(SteleException.Code.RETRY_LATER);
  }

  @Test
  void aPauseIsAtMostAQuarterOfTheTroubleBeforeItAndHalfASecond() throws Exception {
    Simulation simulation = new Simulation(1, 10_000);
    simulation.run(
        () -> {
          ProcessRuntime runtime = simulation.outside();
          Deadline deadline = Deadline.after(runtime, Duration.ofSeconds(20));
          Attempts attempts =
              new Attempts(runtime, Purpose.of(Effect.READ, () -> "trying"), deadline);
          long start = runtime.nanoTime();
          Duration trouble = Duration.ZERO;
          while (trouble.compareTo(Duration.ofSeconds(10)) < 0) {
            Duration pause = ((Decision.Again) attempts.sent(LATER)).pause();
            Duration quarter = trouble.dividedBy(4);
            Duration most = Durations.min(Duration.ofMillis(500), quarter);
            most = Durations.max(Duration.ofMillis(20), most);
            assertThat(pause).isBetween(most.dividedBy(2), most);
            runtime.sleep(pause);
            trouble = Duration.ofNanos(runtime.nanoTime() - start);
          }
        });
  }

  @Test
  void whatWasSentAndNotAnsweredStaysInDoubt() throws Exception {
    int[] count = {0};
    SteleException last =
        end(
            Effect.CHANGE_WITH_ID,
            Duration.ofSeconds(2),
            Duration.ofMillis(1),
            attempts -> attempts.sent(count[0]++ == 0 ? lost() : LATER));
    assertThat(last.code()).isEqualTo(SteleException.Code.OUTCOME_UNKNOWN);
    assertThat(count[0]).isGreaterThan(2);
  }

  @Test
  void whatWasBegunMayStillBeDone() throws Exception {
    SteleException last =
        end(
            Effect.CHANGE_WITH_ID,
            Duration.ofSeconds(2),
            Duration.ofMillis(1),
            attempts -> {
              attempts.begun();
              return attempts.sent(LATER);
            });
    assertThat(last.code()).isEqualTo(SteleException.Code.OUTCOME_UNKNOWN);
    assertThat(last).hasMessageContaining("begun").hasMessageNotContaining("not applied");
  }

  @Test
  void ofFailuresWithinFailuresTheInnermostIsToldOnce() throws Exception {
    Duration limit = Duration.ofSeconds(2);
    Duration took = Duration.ofMillis(1);
    SteleException inner = end(Effect.READ, limit, took, attempts -> attempts.notSent(LATER));
    SteleException middle = end(Effect.READ, limit, took, attempts -> attempts.notSent(inner));
    SteleException outer = end(Effect.READ, limit, took, attempts -> attempts.notSent(middle));
    assertThat(outer.code()).isEqualTo(SteleException.Code.RETRY_LATER);
    assertThat(outer.getMessage())
        .startsWith("trying: not done within 2000 ms and ")
        .endsWith(
            "; nothing was read. The last failure: trying: it is busy. Check that the servers run:"
                + " `stele yarn status`, `stele status`");
  }

  private static IOException lost() {
    return new IOException("the connection was lost");
  }
}
