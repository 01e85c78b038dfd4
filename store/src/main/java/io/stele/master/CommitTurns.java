package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.runtime.ProcessRuntime;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Whose turn it is where commits and pinnings exclude each other. A commit waits while tables are
 * being pinned, and pinnings may overlap without end. So after a commit has waited for {@link
 * #WAITS_AT_MOST}, no further pinning begins before it is done, or its client has given up.
 *
 * <p>This is fairness only: whoever pins or commits is still checked by the nodes of jobs. It is in
 * memory, so a commit begins to wait anew with a new master. Safe for use by any number of threads.
 */
final class CommitTurns {
  /** How long a commit waits before pinnings wait for it. */
  static final Duration WAITS_AT_MOST = Duration.ofMinutes(1);

  /** A client that waits with a commit asks several times a second. */
  static final Duration GIVEN_UP_AFTER = Duration.ofSeconds(15);

  private final ProcessRuntime runtime;

  @GuardedBy("this")
  private final Map<String, Waiting> waiting = new TreeMap<>(); // By job.

  /** Since when a commit has waited, and when its client last asked. */
  private record Waiting(long sinceNanos, long askedNanos) {}

  CommitTurns(ProcessRuntime runtime) {
    this.runtime = runtime;
  }

  /** Notes that a job was to commit, and must wait. */
  synchronized void waits(String job) {
    long nanos = runtime.nanoTime();
    removeGivenUp(nanos);
    Waiting before = waiting.get(job);
    waiting.put(job, new Waiting(before == null ? nanos : before.sinceNanos(), nanos));
  }

  /** Notes that a job is over, or has no commit to wait with. */
  synchronized void isOver(String job) {
    waiting.remove(job);
  }

  /** Forgets all jobs but these. */
  synchronized void retain(Collection<String> jobs) {
    waiting.keySet().retainAll(jobs);
  }

  /** A job that must commit before another pinning begins. */
  synchronized Optional<String> next() {
    long nanos = runtime.nanoTime();
    removeGivenUp(nanos);
    return waiting.entrySet().stream()
        .filter(one -> nanos - one.getValue().sinceNanos() >= WAITS_AT_MOST.toNanos())
        .map(Map.Entry::getKey)
        .findFirst();
  }

  @GuardedBy("this")
  private void removeGivenUp(long nanos) {
    waiting.values().removeIf(one -> nanos - one.askedNanos() > GIVEN_UP_AFTER.toNanos());
  }
}
