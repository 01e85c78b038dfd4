package io.stele.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TimeHistogramTest {
  private final TimeHistogram times = new TimeHistogram();

  @Test
  void nothingTookNoTime() {
    assertThat(times.count()).isZero();
    assertThat(times.mean()).isZero();
    assertThat(times.within(99)).contains(Duration.ZERO);
  }

  @Test
  void percentilesAreTheBoundsOfTheirBuckets() {
    for (int i = 0; i < 98; i++) {
      times.record(TimeUnit.MICROSECONDS.toNanos(400));
    }
    times.record(TimeUnit.MILLISECONDS.toNanos(2));
    assertThat(times.within(50)).contains(Duration.ofNanos(500_000));
    assertThat(times.within(98)).contains(Duration.ofNanos(500_000));
    assertThat(times.within(99)).contains(Duration.ofNanos(2_500_000));
    times.record(TimeUnit.SECONDS.toNanos(11));
    assertThat(times.within(99)).contains(Duration.ofNanos(2_500_000));
    assertThat(times.within(100)).as("longer than the largest bound").isEmpty();
    assertThat(times.count()).isEqualTo(100);
    assertThat(times.mean())
        .isEqualTo(Duration.ofNanos((98 * 400_000L + 2_000_000 + 11_000_000_000L) / 100));
  }
}
