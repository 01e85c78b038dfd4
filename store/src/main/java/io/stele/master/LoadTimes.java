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
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * How long tablets have been ASSIGNED. A server that answers may still never load a tablet, for
 * example if HDFS cannot be reached from there, and then says nothing of it.
 *
 * <p>A server that has loaded another tablet meanwhile is not stuck: tablets wait there behind each
 * other, so a tablet then has more time. A tablet may take long to load anywhere, so its time
 * doubles with each server that had too little. Another master begins to count anew.
 *
 * <p>Safe for use by any number of threads; never waits.
 */
final class LoadTimes {
  static final Duration PATIENCE = Duration.ofMinutes(5);

  /** The root tablet and METADATA are small, and everything waits for them. */
  static final Duration SYSTEM_PATIENCE = Duration.ofMinutes(3);

  /** So many times as long, a tablet may wait for a server that loads others. */
  static final int WHILE_OTHERS_LOAD = 4;

  private static final int DOUBLINGS_MAX = 6;

  private final ProcessRuntime runtime;

  @GuardedBy("this")
  private final Map<TabletId, Load> loads = new TreeMap<>();

  /** When a server last loaded a tablet. */
  @GuardedBy("this")
  private final Map<ServerId, Long> loadedNanos = new HashMap<>();

  /**
   * A load.
   *
   * @param server that loads the tablet
   * @param epoch of the assignment
   * @param sinceNanos from when its time counts
   * @param doublings how many servers had too little time before
   * @param ended whether the tablet is to be taken from its server
   */
  private record Load(ServerId server, long epoch, long sinceNanos, int doublings, boolean ended) {
    Load next(ServerId to, long newEpoch, long nowNanos) {
      int more = Math.min(DOUBLINGS_MAX, doublings + (ended ? 1 : 0));
      return new Load(to, newEpoch, nowNanos, more, false);
    }

    Load since(long nanos) {
      return new Load(server, epoch, nanos, doublings, ended);
    }

    Load end() {
      return new Load(server, epoch, sinceNanos, doublings, true);
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
   * @param canLoad whether a tablet is to be loaded, and its record could be written now: other
   *     time does not count
   */
  synchronized void update(
      Collection<TabletRecord> open, Set<ServerId> live, Predicate<TabletRecord> canLoad) {
    long now = runtime.nanoTime();
    Set<TabletId> waiting =
        open.stream()
            .filter(record -> record.assignment().state() != Assignment.State.LOADED)
            .map(TabletRecord::id)
            .collect(Collectors.toSet());
    for (Iterator<Map.Entry<TabletId, Load>> all = loads.entrySet().iterator(); all.hasNext(); ) {
      Map.Entry<TabletId, Load> one = all.next();
      if (!waiting.contains(one.getKey())) {
        loadedNanos.put(one.getValue().server, now);
        all.remove();
      }
    }
    loadedNanos.keySet().retainAll(live);
    for (TabletRecord record : open) {
      Assignment assignment = record.assignment();
      if (assignment.state() == Assignment.State.ASSIGNED) {
        ServerId server = assignment.server().orElseThrow();
        long epoch = assignment.epoch();
        Load before = loads.getOrDefault(record.id(), new Load(server, epoch, now, 0, false));
        Load load = before.epoch == epoch ? before : before.next(server, epoch, now);
        loads.put(record.id(), canLoad.test(record) ? load : load.since(now));
      }
    }
  }

  /** For how long the tablet's server had it, if that was too long; empty if not. */
  synchronized Optional<Duration> overdue(TabletRecord record) {
    Load load = loads.get(record.id());
    if (load == null || load.epoch != record.assignment().epoch()) {
      return Optional.empty();
    }
    long now = runtime.nanoTime();
    Duration usual = record.id().table().isSystem() ? SYSTEM_PATIENCE : PATIENCE;
    Duration patience = usual.multipliedBy(1L << load.doublings);
    Long loaded = loadedNanos.get(load.server);
    boolean othersLoad = loaded != null && now - loaded <= usual.toNanos();
    Duration taken = Duration.ofNanos(now - load.sinceNanos);
    return Optional.of(taken)
        .filter(
            time -> time.compareTo(patience.multipliedBy(othersLoad ? WHILE_OTHERS_LOAD : 1)) > 0);
  }

  /** The tablet is to be taken from its server, as it is {@link #overdue} there. */
  synchronized void end(TabletId tablet) {
    loads.computeIfPresent(tablet, (id, load) -> load.end());
  }
}
