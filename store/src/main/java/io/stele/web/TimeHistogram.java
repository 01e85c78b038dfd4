package io.stele.web;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts how often something took how long, in buckets from 100 us to 10 s, since the process
 * began: a histogram as Prometheus has it, from which a Prometheus server computes percentiles of
 * any period.
 *
 * <p>Safe for use by any number of threads, which do not wait for each other.
 */
public final class TimeHistogram {
  /** The longest time of each bucket but the last, which has all longer ones. */
  private static final long[] BOUNDS_MICROS = {
    100,
    250,
    500,
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000
  };

  private final LongAdder[] counts = new LongAdder[BOUNDS_MICROS.length + 1];
  private final LongAdder nanos = new LongAdder();

  /** Nothing is counted yet. */
  public TimeHistogram() {
    Arrays.setAll(counts, any -> new LongAdder());
  }

  /** Counts something that took so long. */
  public void record(long elapsedNanos) {
    int bucket = 0;
    while (bucket < BOUNDS_MICROS.length
        && elapsedNanos > TimeUnit.MICROSECONDS.toNanos(BOUNDS_MICROS[bucket])) {
      bucket++;
    }
    counts[bucket].increment();
    nanos.add(elapsedNanos);
  }

  /** How many were counted. */
  public long count() {
    return Arrays.stream(counts).mapToLong(LongAdder::sum).sum();
  }

  /** The mean of all; zero if there were none. */
  public Duration mean() {
    return Duration.ofNanos(nanos.sum() / Math.max(1, count()));
  }

  /**
   * Within what time at least so many of a hundred were done, as the bound of a bucket; zero if
   * there were none, and empty if some of these took longer than the largest bound.
   */
  public Optional<Duration> within(int percent) {
    long[] now = Arrays.stream(counts).mapToLong(LongAdder::sum).toArray();
    long wanted = (Arrays.stream(now).sum() * percent + 99) / 100;
    if (wanted == 0) {
      return Optional.of(Duration.ZERO);
    }
    long done = 0;
    for (int bucket = 0; bucket < BOUNDS_MICROS.length; bucket++) {
      done += now[bucket];
      if (done >= wanted) {
        return Optional.of(Duration.of(BOUNDS_MICROS[bucket], ChronoUnit.MICROS));
      }
    }
    return Optional.empty();
  }

  List<Metric.Sample> samples() {
    List<Metric.Sample> samples = new ArrayList<>();
    double sum = nanos.sum() / 1e9; // Before the counts: a mean is never longer than it was.
    long upTo = 0;
    for (int bucket = 0; bucket < counts.length; bucket++) {
      upTo += counts[bucket].sum();
      samples.add(new Metric.Sample("_bucket{le=\"" + bound(bucket) + "\"}", upTo));
    }
    samples.add(new Metric.Sample("_sum", sum));
    samples.add(new Metric.Sample("_count", upTo));
    return samples;
  }

  private static String bound(int bucket) {
    return bucket == BOUNDS_MICROS.length ? "+Inf" : Double.toString(BOUNDS_MICROS[bucket] / 1e6);
  }
}
