package io.stele.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.runtime.SystemRuntime;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SlowFlushesTest {
  private final SlowFlushes flushes = new SlowFlushes();

  private static long millis(long millis) {
    return Duration.ofMillis(millis).toNanos();
  }

  private void add(int count, long millis) {
    for (int i = 0; i < count; i++) {
      flushes.add(millis(millis));
    }
  }

  @Test
  void slowIsFarAboveWhatIsUsualAndNeverUnderAFifthOfASecond() {
    assertThat(flushes.isSlow(millis(201), false)).isTrue();
    add(64, 1);
    assertThat(flushes.isSlow(millis(200), false)).isFalse();
    assertThat(flushes.isSlow(millis(201), false)).isTrue();
    add(64, 100);
    assertThat(flushes.isSlow(millis(800), false)).isFalse();
    assertThat(flushes.isSlow(millis(801), false)).isTrue();
  }

  @Test
  void someSlowFlushesDoNotMakeSlownessUsualButManyDo() {
    add(100, 1);
    add(31, 1000);
    assertThat(flushes.isSlow(millis(201), false)).isTrue();
    add(2, 1000);
    assertThat(flushes.isSlow(millis(8000), false)).isFalse();
  }

  @Test
  void theFlushThatSyncsAWholeSegmentMayTakeLonger() {
    add(64, 1);
    assertThat(flushes.isSlow(millis(1600), true)).isFalse();
    assertThat(flushes.isSlow(millis(1700), true)).isTrue();
  }

  @Test
  void aFlushIsSwitchedAwayFromWhenItIsStillSlowAtTheNextLook() {
    Optional<BatchInFlight> one = batchSince(0);
    assertThat(flushes.switchIfSlow(one, millis(200))).isFalse();
    assertThat(flushes.switchIfSlow(one, millis(1000))).isFalse();
    assertThat(flushes.switchIfSlow(Optional.empty(), millis(1020))).isFalse();
    assertThat(flushes.switchIfSlow(one, millis(1040))).isFalse();
    assertThat(flushes.switchIfSlow(batchSince(5), millis(1060))).isFalse();
    assertThat(flushes.switchIfSlow(one, millis(1080))).isFalse();
    assertThat(flushes.switchIfSlow(one, millis(1100))).isTrue();
    assertThat(flushes.switches()).isEqualTo(1);
    assertThat(flushes.switchIfSlow(one, millis(1120))).isFalse();
    assertThat(flushes.switchIfSlow(one, millis(1140))).isFalse(); // Too soon after the last.
    assertThat(flushes.switchIfSlow(one, millis(11_100))).isTrue();
  }

  private static WriterState writer() {
    return new WriterState(SystemRuntime.INSTANCE.newLock().newCondition());
  }

  private static Optional<BatchInFlight> batchSince(long nanos) {
    return Optional.of(new BatchInFlight(writer(), List.of(), false, nanos));
  }

  @Test
  void aBatchThatHasMovedMayMoveAgainAtOnceButHasTwiceTheTime() {
    long now = 0;
    BatchInFlight batch = batchSince(now).orElseThrow();
    for (int moves = 1; moves <= 20; moves++) {
      flushes.switched(now);
      batch = batch.to(writer(), now);
      Optional<BatchInFlight> moved = Optional.of(batch);
      long time = millis(1000) << Math.min(moves - 1, 10);
      assertThat(flushes.switchIfSlow(moved, now + time - 2)).as("move %d", moves).isFalse();
      assertThat(flushes.switchIfSlow(moved, now + time - 1)).as("move %d", moves).isFalse();
      assertThat(flushes.switchIfSlow(moved, now + time)).as("move %d", moves).isTrue();
      now += time;
    }
  }

  @Test
  void switchesKeepTheirDistance() {
    assertThat(flushes.maySwitch(-5)).isTrue();
    flushes.switched(-5);
    assertThat(flushes.maySwitch(millis(9_999))).isFalse();
    assertThat(flushes.maySwitch(millis(10_000))).isTrue();
    assertThat(flushes.switches()).isEqualTo(1);
  }

  @Test
  void percentilesAreOfTheLastFlushes() {
    assertThat(flushes.percentile(50)).isZero();
    for (int i = 1; i <= 100; i++) {
      flushes.add(i);
    }
    assertThat(flushes.percentile(50)).isEqualTo(Duration.ofNanos(51));
    assertThat(flushes.percentile(99)).isEqualTo(Duration.ofNanos(100));
    add(1024, 7);
    assertThat(flushes.percentile(1)).isEqualTo(Duration.ofMillis(7));
  }
}
