package io.stele.log;

import io.stele.model.Durability;
import java.time.Duration;

/**
 * How a commit log is written.
 *
 * @param segmentBytes a segment is closed when it has this size
 * @param queuedBytesMax {@link CommitLog#hasRoom()} is false when more than this waits
 * @param batchBytesMax a batch takes no further record when it has this size, so that one flush
 *     does not take arbitrarily long
 * @param durability the least that every record gets
 * @param attemptsMax how many segments in a row may fail before the log fails for good
 * @param retryPause how long to wait after the first failure; doubled after each further one
 */
public record LogOptions(
    long segmentBytes,
    long queuedBytesMax,
    long batchBytesMax,
    Durability durability,
    int attemptsMax,
    Duration retryPause) {
  /** 64 MiB segments, 64 MiB queued, 8 MiB a batch, hflush, 6 attempts over some three seconds. */
  public static final LogOptions DEFAULT =
      new LogOptions(64L << 20, 64L << 20, 8L << 20, Durability.HFLUSH, 6, Duration.ofMillis(100));

  public LogOptions {
    if (segmentBytes < 1 || queuedBytesMax < 1 || batchBytesMax < 1 || attemptsMax < 1) {
      throw new IllegalArgumentException("sizes and attempts are 1 or more");
    }
    if (retryPause.isNegative()) {
      throw new IllegalArgumentException("the retry pause is not negative");
    }
  }

  /** With another segment size. */
  public LogOptions withSegmentBytes(long bytes) {
    return new LogOptions(
        bytes, queuedBytesMax, batchBytesMax, durability, attemptsMax, retryPause);
  }

  /** With another least durability, such as HSYNC for METADATA's own log. */
  public LogOptions withDurability(Durability least) {
    return new LogOptions(
        segmentBytes, queuedBytesMax, batchBytesMax, least, attemptsMax, retryPause);
  }

  /** With another limit on what may wait. */
  public LogOptions withQueuedBytesMax(long bytes) {
    return new LogOptions(segmentBytes, bytes, batchBytesMax, durability, attemptsMax, retryPause);
  }

  /** With other limits on retries. */
  public LogOptions withRetries(int attempts, Duration pause) {
    return new LogOptions(segmentBytes, queuedBytesMax, batchBytesMax, durability, attempts, pause);
  }
}
