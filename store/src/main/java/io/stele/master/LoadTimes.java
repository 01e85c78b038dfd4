package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.Assignment;
import io.stele.metadata.TabletRecord;
import io.stele.model.ServerId;
import io.stele.model.TabletId;
import io.stele.runtime.ProcessRuntime;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * How long tablets have been ASSIGNED. A server that answers may still never load a tablet, for
 * example if METADATA or HDFS cannot be reached from there, and then says nothing of it.
 *
 * <p>A tablet may take long to load anywhere, so its time doubles with each server that had too
 * little. Another master begins to count anew.
 *
 * <p>Safe for use by any number of threads; never waits.
 */
final class LoadTimes {
  /** Longer than a server takes for the hundreds of tablets that it gets when others died. */
  static final Duration PATIENCE = Duration.ofMinutes(5);

  /** The root tablet and METADATA are small, and everything waits for them. */
  static final Duration SYSTEM_PATIENCE = Duration.ofMinutes(1);

  /** How long a server that loaded a tablet too slowly gets only what no other server takes. */
  static final Duration SLOW_FOR = Duration.ofMinutes(10);

  private static final int DOUBLINGS_MAX = 6;

  private final ProcessRuntime runtime;

  @GuardedBy("this")
  private final Map<TabletId, Load> loads = new TreeMap<>();

  /** When a tablet was last taken from a server. */
  @GuardedBy("this")
  private final Map<ServerId, Long> slowNanos = new HashMap<>();

  /**
   * A load.
   *
   * @param epoch of the assignment
   * @param sinceNanos when this master saw the assignment first
   * @param doublings how many servers had too little time before
   * @param ended whether the tablet is to be taken from its server
   */
  private record Load(long epoch, long sinceNanos, int doublings, boolean ended) {
    Load next(long newEpoch, long nowNanos) {
      return new Load(
          newEpoch, nowNanos, Math.min(DOUBLINGS_MAX, doublings + (ended ? 1 : 0)), false);
    }

    Load end() {
      return new Load(epoch, sinceNanos, doublings, true);
    }
  }

  LoadTimes(ProcessRuntime runtime) {
    this.runtime = runtime;
  }

  /**
   * Counts the time of the ASSIGNED tablets among {@code open}, and forgets tablets that are not
   * among them: they are loaded, or gone.
   *
   * @param live the servers that hold their locks
   */
  synchronized void look(Collection<TabletRecord> open, Set<ServerId> live) {
    long now = runtime.nanoTime();
    loads.keySet().retainAll(open.stream().map(TabletRecord::id).collect(Collectors.toSet()));
    for (TabletRecord record : open) {
      Assignment assignment = record.assignment();
      switch (assignment.state()) {
        case ASSIGNED ->
            loads.merge(
                record.id(),
                new Load(assignment.epoch(), now, 0, false),
                (load, first) ->
                    load.epoch == assignment.epoch() ? load : load.next(assignment.epoch(), now));
        case LOADED -> loads.remove(record.id());
        case NONE -> {} // It may be between two servers.
      }
    }
    slowNanos.keySet().retainAll(live);
    slowNanos.values().removeIf(since -> now - since > SLOW_FOR.toNanos());
  }

  /** For how long the tablet's server had it, if that was too long; empty if not. */
  synchronized Optional<Duration> overdue(TabletRecord record) {
    Load load = loads.get(record.id());
    if (load == null || load.epoch != record.assignment().epoch()) {
      return Optional.empty();
    }
    Duration patience = record.id().table().isSystem() ? SYSTEM_PATIENCE : PATIENCE;
    Duration taken = Duration.ofNanos(runtime.nanoTime() - load.sinceNanos);
    return Optional.of(taken)
        .filter(time -> time.compareTo(patience.multipliedBy(1L << load.doublings)) > 0);
  }

  /** The tablet is taken from {@code server}, as it is {@link #overdue} there. */
  synchronized void taken(TabletId tablet, ServerId server) {
    loads.computeIfPresent(tablet, (id, load) -> load.end());
    slowNanos.put(server, runtime.nanoTime());
  }

  /** Whether a tablet was taken from {@code server} lately. */
  synchronized boolean isSlow(ServerId server) {
    return slowNanos.containsKey(server);
  }
}
