package io.stele.yarn;

import io.stele.runtime.ProcessRuntime;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether YARN still answers this attempt of the ApplicationMaster. YARN starts another attempt if
 * it hears nothing from this one for some time, so what was answered lately is proof that no other
 * attempt has begun.
 *
 * <p>{@link #answered} is for any thread, the rest for one.
 */
final class HeartbeatAnswers {
  private static final Logger LOG = LoggerFactory.getLogger(HeartbeatAnswers.class);

  private final ProcessRuntime runtime;
  private final Duration ageMax;
  private volatile long lastSentNanos;
  private boolean recent = true; // When last asked.

  /**
   * Starts as if YARN had just answered.
   *
   * @param ageMax how old an answered heartbeat may be
   */
  HeartbeatAnswers(ProcessRuntime runtime, Duration ageMax) {
    this.runtime = runtime;
    this.ageMax = ageMax;
    this.lastSentNanos = runtime.nanoTime();
  }

  /** A heartbeat that was sent at {@code sentNanos} has been answered. */
  void answered(long sentNanos) {
    lastSentNanos = sentNanos;
  }

  /** Whether no other attempt can have begun. */
  boolean areRecent() {
    Duration age = Duration.ofNanos(runtime.nanoTime() - lastSentNanos);
    boolean found = age.compareTo(ageMax) < 0;
    if (found && !recent) {
      LOG.info("The ResourceManager answers this attempt again");
    } else if (!found && recent) {
      LOG.warn(
          "The ResourceManager has not answered this attempt for {} s: doing nothing until it"
              + " does, as it may have begun another attempt",
          age.toSeconds());
    }
    recent = found;
    return found;
  }
}
