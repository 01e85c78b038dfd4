package io.stele.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A wall clock that does not jump without the consent of a reference, another machine's clock that
 * all servers compare theirs with now and then.
 *
 * <p>Of the wall clock, the reference, and the time of the last agreement counted on by the
 * monotonic clock, two that differ by at most the limit are trusted:
 *
 * <ul>
 *   <li>the wall clock, while it keeps within the bound of the count, or where the reference agrees
 *       with it (the machine was suspended, and the monotonic clock stood still);
 *   <li>the count, where the wall clock alone has jumped: it then follows the reference.
 * </ul>
 *
 * <p>It is {@link #isTrusted trusted} only while the wall clock itself agrees with the other two,
 * as far as they have been asked. Safe for use by any number of threads.
 */
public final class AgreedClock implements ServerClock {
  private static final Logger LOG = LoggerFactory.getLogger(AgreedClock.class);

  private final ProcessRuntime runtime;
  private final Duration bound;

  private volatile Agreement last; // Written under this.
  private volatile boolean agreed;

  /**
   * When clocks agreed.
   *
   * @param at what the time was
   * @param nanos what the monotonic clock showed
   * @param holds whether the wall clock still agreed when the reference was asked last
   */
  private record Agreement(Instant at, long nanos, boolean holds) {}

  /**
   * What a process's clocks show at one moment.
   *
   * @param wall the wall clock
   * @param counted the time since the last agreement, counted on
   */
  public record Reading(Instant wall, Instant counted, long nanos) {}

  /**
   * A clock that believes the wall clock until the first comparison, and is not trusted until then.
   *
   * @param bound how far clocks may be apart
   */
  public AgreedClock(ProcessRuntime runtime, Duration bound) {
    this.runtime = runtime;
    this.bound = bound;
    this.last = new Agreement(runtime.wallClock().instant(), runtime.nanoTime(), false);
  }

  /** What the clocks show now: take it before the reference is asked. */
  public Reading read() {
    return read(last);
  }

  private Reading read(Agreement since) {
    long nanos = runtime.nanoTime();
    return new Reading(
        runtime.wallClock().instant(), since.at().plusNanos(nanos - since.nanos()), nanos);
  }

  /**
   * Compares the clocks with a reference that was asked after {@code before} was read.
   *
   * @return whether the wall clock agrees with it
   */
  public synchronized boolean compare(Reading before, Instant reference) {
    Reading now = read(last);
    boolean wallAgrees = isBetween(before.wall(), reference, now.wall());
    if (wallAgrees) {
      agree(new Agreement(now.wall(), now.nanos(), true), now, reference);
    } else if (isBetween(before.counted(), reference, now.counted())) {
      agree(new Agreement(reference, now.nanos(), false), now, reference);
    } else {
      agree(new Agreement(last.at(), last.nanos(), false), now, reference);
    }
    return wallAgrees;
  }

  @GuardedBy("this")
  private void agree(Agreement agreement, Reading now, Instant reference) {
    agreed |= agreement.holds();
    if (last.holds() && !agreement.holds()) {
      LOG.error(
          "This machine's clock shows {}, ZooKeeper's {}: they are more than {} ms apart."
              + " No cells expire until they agree. Correct the clock (NTP)",
          now.wall(),
          reference,
          bound.toMillis());
    } else if (!last.holds() && agreement.holds()) {
      LOG.info("This machine's clock agrees with ZooKeeper's");
    }
    last = agreement;
  }

  /** Whether the wall clock has ever agreed with the reference. */
  public boolean hasAgreed() {
    return agreed;
  }

  /** Whether {@code reference} may have been shown between two moments of ours. */
  private boolean isBetween(Instant from, Instant reference, Instant to) {
    return !reference.isBefore(from.minus(bound)) && !reference.isAfter(to.plus(bound));
  }

  private boolean isNear(Reading now) {
    return isBetween(now.wall(), now.counted(), now.wall());
  }

  /** The time, as far as can be told. */
  @Override
  public Instant instant() {
    Reading now = read();
    return isNear(now) ? now.wall() : now.counted();
  }

  @Override
  public boolean isTrusted() {
    Agreement since = last;
    return since.holds() && isNear(read(since));
  }
}
