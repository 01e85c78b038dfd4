package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.wire.application.ApplicationProtos.ApplicationStateProto;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Times that were saved by another clock. */
final class SavedTimesTest {
  private static final Duration ANSWER_AGE = Duration.ofMinutes(5);
  private static final Instant SAVED = Instant.parse("2026-01-01T00:00:00Z");

  /** Ten minutes before the saving. */
  private static final long BEFORE = SAVED.minusSeconds(600).toEpochMilli();

  private static SavedTimes readAt(Instant now) {
    return SavedTimes.of(
        ApplicationStateProto.newBuilder()
            .setApplicationId("a")
            .setSavedAtMillis(SAVED.toEpochMilli())
            .build(),
        ANSWER_AGE,
        now);
  }

  private static long ageSeconds(Instant now) {
    return Duration.between(readAt(now).past(BEFORE), now).toSeconds();
  }

  @Test
  void byClocksThatAgreeTimesAreAsTheyWere() {
    assertThat(ageSeconds(SAVED.plusSeconds(30))).isEqualTo(630);
    assertThat(readAt(SAVED.plusSeconds(30)).shift()).isZero();
  }

  @Test
  void byAClockThatIsBehindNoTimeHasPassedSinceTheSaving() {
    assertThat(ageSeconds(SAVED.minusSeconds(86_400))).isEqualTo(600);
  }

  @Test
  void byAClockThatIsAheadNotMoreHasPassedThanAnAttemptCanBeSilent() {
    assertThat(ageSeconds(SAVED.plusSeconds(86_400))).isEqualTo(600 + 2 * 300 + 60 + 300);
  }

  @Test
  void whatIsDueIsAsFarAwayAsItWasButNotFartherThanItMayBe() {
    Instant now = SAVED.minusSeconds(86_400);
    long due = SAVED.plusSeconds(40).toEpochMilli();
    assertThat(readAt(now).any(due)).isEqualTo(now.plusSeconds(40));
    assertThat(readAt(now).within(due, Duration.ofSeconds(60))).isEqualTo(now.plusSeconds(40));
    assertThat(readAt(now).within(due, Duration.ofSeconds(20))).isEqualTo(now.plusSeconds(20));
  }

  @Test
  void ofAnotherApplicationNothingHappenedLaterThanNow() {
    SavedTimes times = SavedTimes.ofAnother(SAVED.minusSeconds(3600));
    assertThat(times.past(BEFORE)).isEqualTo(SAVED.minusSeconds(3600));
    assertThat(times.past(BEFORE - 86_400_000))
        .isEqualTo(Instant.ofEpochMilli(BEFORE - 86_400_000));
  }
}
