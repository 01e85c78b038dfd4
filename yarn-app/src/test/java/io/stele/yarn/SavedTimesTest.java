package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.wire.application.ApplicationProtos.ApplicationStateProto;
import java.time.Duration;
import java.time.Instant;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

/** Times that were saved by another clock. */
final class SavedTimesTest {
  private static final Duration HOUR = Duration.ofHours(1);

  /**
   * In all, YARN's 15 min without a heartbeat and 5 to start; the last saving was a minute before.
   */
  private static final Duration SILENCE_MAX = Duration.ofMinutes(21);

  private static final Instant SAVED = Instant.parse("2026-01-01T00:00:00Z");

  /** Ten minutes before the saving. */
  private static final long BEFORE = SAVED.minusSeconds(600).toEpochMilli();

  /**
   * @param fileAge how old the file is by the clock of the file system
   */
  private static SavedTimes readAt(Instant now, Duration fileAge) {
    ApplicationStateProto state =
        ApplicationStateProto.newBuilder()
            .setApplicationId("a")
            .setSavedAtMillis(SAVED.toEpochMilli())
            .build();
    Duration nextAttemptWithin = YarnSettings.of(new Configuration()).limits().nextAttemptWithin();
    return SavedTimes.of(new StateFile.Saved(state, fileAge), nextAttemptWithin, now);
  }

  private static SavedTimes readAt(Instant now) {
    return readAt(now, Duration.ZERO);
  }

  private static long ageSeconds(Instant now) {
    return ageSeconds(now, Duration.ZERO);
  }

  private static long ageSeconds(Instant now, Duration fileAge) {
    return Duration.between(readAt(now, fileAge).past(BEFORE), now).toSeconds();
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
    assertThat(ageSeconds(SAVED.plus(SILENCE_MAX))).isEqualTo(600 + 21 * 60);
    assertThat(ageSeconds(SAVED.plusSeconds(86_400))).isEqualTo(600 + 21 * 60);
  }

  @Test
  void whereAnAttemptBeganLateTheFileSystemTellsHowLate() {
    assertThat(ageSeconds(SAVED.plus(HOUR), HOUR)).isEqualTo(600 + 3600);
    assertThat(ageSeconds(SAVED.plusSeconds(86_400), HOUR)).isEqualTo(600 + 3600);
    assertThat(ageSeconds(SAVED.plusSeconds(30), HOUR))
        .as("clocks that agree need no help")
        .isEqualTo(600 + 30);
    assertThat(ageSeconds(SAVED.minusSeconds(30), HOUR)).isEqualTo(600);
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
