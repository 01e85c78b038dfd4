package io.stele.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AgreedClockTest {
  private static final Duration DAY = Duration.ofDays(1);

  private final ManualClocks clocks = new ManualClocks(77, Instant.parse("2026-01-01T00:00:00Z"));
  private final AgreedClock clock = new AgreedClock(clocks, Duration.ofSeconds(30));
  private Duration referenceAhead = Duration.ZERO;
  private Duration wallAhead = Duration.ZERO;

  @BeforeEach
  void theyAgree() {
    assertThat(clock.isTrusted()).as("before anything was compared").isFalse();
    assertThat(compare()).isTrue();
    assertThat(clock.isTrusted()).isTrue();
  }

  @Test
  void theWallClockIsFollowedWithinTheBound() {
    jump(Duration.ofSeconds(30));
    assertThat(clock.instant()).isEqualTo(clocks.wallClock().instant());
    assertThat(clock.isTrusted()).isTrue();
    assertThat(compare()).isTrue();
  }

  @Test
  void aJumpOfTheWallClockAloneChangesNoTimeAndEndsTrustUntilItIsBack() {
    Instant before = clock.instant();
    jump(DAY);
    assertThat(clock.isTrusted()).as("before anybody was asked").isFalse();
    assertThat(clock.instant()).isEqualTo(before);
    assertThat(compare()).isFalse();
    clocks.pass(Duration.ofMinutes(1));
    assertThat(compare()).isFalse();
    assertThat(clock.instant()).isEqualTo(before.plus(Duration.ofMinutes(1)));
    assertThat(clock.isTrusted()).isFalse();
    jump(DAY.negated());
    assertThat(clock.isTrusted()).as("before it was asked again").isFalse();
    assertThat(compare()).isTrue();
    assertThat(clock.isTrusted()).isTrue();
  }

  @Test
  void aJumpBackIsOneToo() {
    Instant before = clock.instant();
    jump(DAY.negated());
    assertThat(compare()).isFalse();
    assertThat(clock.instant()).isEqualTo(before);
    assertThat(clock.isTrusted()).isFalse();
  }

  @Test
  void aReferenceThatJumpsAloneEndsTrustButChangesNoTime() {
    Instant before = clock.instant();
    referenceAhead = DAY;
    assertThat(compare()).isFalse();
    assertThat(clock.instant()).isEqualTo(before);
    assertThat(clock.isTrusted()).isFalse();
    referenceAhead = Duration.ZERO;
    assertThat(compare()).isTrue();
    assertThat(clock.isTrusted()).isTrue();
  }

  @Test
  void afterAMachineWasSuspendedTheWallClockIsBelievedWhenTheReferenceAgrees() {
    clocks.passWall(DAY); // The monotonic clock stood still.
    assertThat(clock.isTrusted()).isFalse();
    assertThat(compare()).isTrue();
    assertThat(clock.instant()).isEqualTo(clocks.wallClock().instant());
    assertThat(clock.isTrusted()).isTrue();
  }

  @Test
  void whereTheWallClockIsWrongForLongTheTimeFollowsTheReference() {
    jump(DAY);
    for (int i = 0; i < 100; i++) {
      clocks.pass(Duration.ofHours(1));
      referenceAhead = referenceAhead.plusSeconds(5); // The monotonic clock is slow.
      compare();
    }
    assertThat(clock.instant()).isEqualTo(reference());
  }

  @Test
  void aSlowAnswerIsNoDisagreement() {
    AgreedClock.Reading before = clock.read();
    Instant then = reference();
    clocks.pass(Duration.ofMinutes(10));
    assertThat(clock.compare(before, then)).isTrue();
  }

  private void jump(Duration ahead) {
    wallAhead = wallAhead.plus(ahead);
    clocks.passWall(ahead);
  }

  private Instant reference() {
    return clocks.wallClock().instant().minus(wallAhead).plus(referenceAhead);
  }

  private boolean compare() {
    return clock.compare(clock.read(), reference());
  }
}
