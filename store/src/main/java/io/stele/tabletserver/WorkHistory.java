package io.stele.tabletserver;

import io.stele.runtime.ProcessRuntime;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Predicate;

/**
 * Which background work on a tablet is queued or runs, and which has failed and rests before it is
 * tried again. Each kind of work rests by itself: the others continue.
 *
 * <p>Safe for use by any number of threads.
 */
final class WorkHistory {
  private static final Duration REST_AFTER_FAILURE = Duration.ofSeconds(5);
  private static final int REST_DOUBLINGS_MAX = 6;

  private final ProcessRuntime runtime;
  private final Set<Work> queued = ConcurrentHashMap.newKeySet();
  private final Set<Work> running = ConcurrentHashMap.newKeySet();
  private final Map<Work, Rest> restByWork = new ConcurrentSkipListMap<>();
  private final Map<Work, Trouble> troubleByWork = new ConcurrentSkipListMap<>();

  /** Why work failed, and until when it is not tried again. */
  private record Rest(long untilNanos, String reason) {}

  WorkHistory(ProcessRuntime runtime) {
    this.runtime = runtime;
  }

  /** Remembers that {@code work} is queued for a thread; returns false if it was already. */
  boolean markQueued(Work work) {
    return queued.add(work);
  }

  /** {@code work} has a thread now, or will not get one. */
  void unmarkQueued(Work work) {
    queued.remove(work);
  }

  /** {@code work} has its permits, and runs until {@link #unmarkRunning}. */
  void markRunning(Work work) {
    running.add(work);
  }

  /** {@code work} has ended. */
  void unmarkRunning(Work work) {
    running.remove(work);
  }

  /** Whether {@code work} is queued or runs. */
  boolean isUnderWay(Work work) {
    return queued.contains(work) || running.contains(work);
  }

  /** Delays {@code work} for a while because it just failed for a transient reason. */
  void rest(Work work, String reason) {
    restByWork.put(work, new Rest(runtime.nanoTime() + REST_AFTER_FAILURE.toNanos(), reason));
  }

  /**
   * Delays {@code work}, longer each time, because it failed because of the tablet. Other work on
   * the tablet continues.
   *
   * @param damage whether it failed because something is damaged
   */
  void failed(Work work, String reason, boolean damage) {
    Trouble before = troubleByWork.get(work);
    Trouble now =
        before == null
            ? new Trouble(work, reason, runtime.wallClock().instant(), 1, damage)
            : new Trouble(work, reason, before.since(), before.failures() + 1, damage);
    troubleByWork.put(work, now);
    int doublings = Math.min(now.failures() - 1, REST_DOUBLINGS_MAX);
    long rest = REST_AFTER_FAILURE.toNanos() << doublings;
    restByWork.put(work, new Rest(runtime.nanoTime() + rest, reason));
  }

  /** {@code work} succeeded: it is no longer in trouble. */
  void succeeded(Work work) {
    troubleByWork.remove(work);
    restByWork.remove(work);
  }

  /**
   * Forgets the failures of work that could have been tried again for a {@code time}, but was not:
   * nobody needs it any more.
   *
   * @param which the work that is tried only when it is asked for
   */
  void forgetUntried(Predicate<Work> which, Duration time) {
    long now = runtime.nanoTime();
    restByWork.forEach(
        (work, rest) -> {
          if (which.test(work)
              && now - rest.untilNanos() > time.toNanos()
              && restByWork.remove(work, rest)) {
            troubleByWork.remove(work);
          }
        });
  }

  /** Whether {@code work} failed recently. */
  boolean isResting(Work work) {
    Rest rest = restByWork.get(work);
    return rest != null && runtime.nanoTime() - rest.untilNanos() < 0;
  }

  /** Why {@code work} failed, if it has not succeeded since. */
  Optional<String> failureOf(Work work) {
    return Optional.ofNullable(restByWork.get(work)).map(Rest::reason);
  }

  /** The work that fails repeatedly. */
  List<Trouble> troubles() {
    return List.copyOf(troubleByWork.values());
  }
}
