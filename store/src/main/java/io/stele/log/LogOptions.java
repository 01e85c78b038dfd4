package io.stele.log;

import io.stele.model.Durability;
import java.time.Duration;

/**
 * How a commit log is written.
 *
 * @param segmentBytes a segment is closed when it reaches this size
 * @param queuedBytesMax {@link CommitLog#refusal()} refuses when more than this waits
 * @param batchBytesMax a batch takes no further record when it reaches this size, so that one flush
 *     does not take arbitrarily long
 * @param durability the least that every record gets
 * @param replicasMin if a segment has fewer replicas than this, nothing in it is acknowledged; if
 *     the file system creates files with fewer replicas, that number is used instead
 * @param attemptsMax how many segments in a row may fail before {@link CommitLog#refusal()}
 *     refuses, and a log that is being closed gives up
 * @param retryPause how long to wait after the first failure; doubled after each further one
 */
public record LogOptions(
    long segmentBytes,
    long queuedBytesMax,
    long batchBytesMax,
    Durability durability,
    int replicasMin,
    int attemptsMax,
    Duration retryPause) {
  private static final Duration PAUSE_MAX = Duration.ofSeconds(5);

  /**
   * 64 MiB segments, 64 MiB queued, 8 MiB a batch, hflush, 2 replicas, 6 attempts over some three
   * seconds.
   */
  public static final LogOptions DEFAULT =
      new LogOptions(
          64L << 20, 64L << 20, 8L << 20, Durability.HFLUSH, 2, 6, Duration.ofMillis(100));

  public LogOptions {
    if (segmentBytes < 1 || queuedBytesMax < 1 || batchBytesMax < 1) {
      throw new IllegalArgumentException("sizes must be 1 or more");
    }
    if (attemptsMax < 1 || replicasMin < 1) {
      throw new IllegalArgumentException("attempts and replicas must be 1 or more");
    }
    if (retryPause.isNegative()) {
      throw new IllegalArgumentException("the retry pause must not be negative");
    }
  }

  /** With another segment size. */
  public LogOptions withSegmentBytes(long bytes) {
    return new LogOptions(
        bytes, queuedBytesMax, batchBytesMax, durability, replicasMin, attemptsMax, retryPause);
  }

  /** With another least durability, such as HSYNC for METADATA's own log. */
  public LogOptions withDurability(Durability least) {
    return new LogOptions(
        segmentBytes, queuedBytesMax, batchBytesMax, least, replicasMin, attemptsMax, retryPause);
  }

  /** With another limit on what may wait. */
  public LogOptions withQueuedBytesMax(long bytes) {
    return new LogOptions(
        segmentBytes, bytes, batchBytesMax, durability, replicasMin, attemptsMax, retryPause);
  }

  /** With other limits on retries. */
  public LogOptions withRetries(int attempts, Duration pause) {
    return new LogOptions(
        segmentBytes, queuedBytesMax, batchBytesMax, durability, replicasMin, attempts, pause);
  }

  /** With another minimum of replicas. */
  public LogOptions withReplicasMin(int replicas) {
    return new LogOptions(
        segmentBytes, queuedBytesMax, batchBytesMax, durability, replicas, attemptsMax, retryPause);
  }

  /** How long to wait after this many failures in a row. */
  Duration pauseAfter(int failures) {
    if (failures == 0) {
      return Duration.ZERO;
    }
    long first = retryPause.toNanos();
    return Duration.ofNanos(
        Math.max(first, Math.min(PAUSE_MAX.toNanos(), first << Math.min(failures - 1, 20))));
  }
}
