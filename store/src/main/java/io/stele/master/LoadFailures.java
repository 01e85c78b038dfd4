package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.Assignment;
import io.stele.metadata.LoadTrouble;
import io.stele.metadata.RecordChangedException;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.runtime.IoCallable;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tablets that could not be loaded. Each is released from the server that failed and assigned
 * again, to another server if there is one, after a growing pause. One that failed too often
 * because of the tablet itself is <em>quarantined</em>: its record says why, and it is tried again
 * only after pauses that grow from minutes to an hour, or when an operator releases it. The root
 * tablet and METADATA are never quarantined, because nothing works without them.
 *
 * <p>Any thread may call {@link #failed} and {@link #release}, and may ask when the next attempt
 * is; these calls wait for nothing. The rest is for the one thread of the master's loop. The
 * records store everything except the pauses.
 */
final class LoadFailures {
  private static final Logger LOG = LoggerFactory.getLogger(LoadFailures.class);
  private static final Duration PAUSE_FIRST = Duration.ofMillis(500);
  private static final int PAUSE_DOUBLINGS_MAX = 7;

  /** Everything waits for METADATA: it is tried every four seconds at least. */
  private static final int SYSTEM_PAUSE_DOUBLINGS_MAX = 3;

  private static final int FAILURES_MAX = 4;
  private static final int RETRY_DOUBLINGS_MAX = 6;
  private static final int RETRY_FACTOR_MAX = 60;
  private static final int REASON_CHARS_MAX = 1000;

  private final ProcessRuntime runtime;
  private final TabletRecords records;

  @GuardedBy("this")
  private final Map<TabletId, LoadFailureReport> said = new LinkedHashMap<>();

  @GuardedBy("this")
  private final Set<TabletId> toRelease = new TreeSet<>();

  @GuardedBy("this")
  private final Map<TabletId, Pause> pauses = new TreeMap<>();

  @GuardedBy("this")
  private Duration retry = Duration.ofMinutes(1);

  /**
   * Until when a tablet is left alone.
   *
   * @param failures how often it failed since it was loaded or quarantined, as far as this master
   *     saw
   * @param quarantined whether it is quarantined
   */
  private record Pause(int failures, boolean quarantined, long untilNanos) {}

  LoadFailures(ProcessRuntime runtime, TabletRecords records) {
    this.runtime = runtime;
    this.records = records;
  }

  /** Sets the first pause of a tablet in quarantine. */
  synchronized void retryAfter(Duration pause) {
    retry = pause;
  }

  /** How long until a tablet in quarantine is retried; empty if no retry is due. */
  synchronized Optional<Duration> retryIn(TabletId tablet) {
    return Optional.ofNullable(pauses.get(tablet))
        .filter(Pause::quarantined)
        .map(pause -> Duration.ofNanos(Math.max(0, pause.untilNanos - runtime.nanoTime())));
  }

  /** A server could not load a tablet. */
  synchronized void failed(LoadFailureReport failure) {
    said.put(failure.tablet(), failure);
  }

  /** Somebody requested that a tablet be retried. */
  synchronized void release(TabletId tablet) {
    toRelease.add(tablet);
  }

  /**
   * Writes the failures and releases reported since the last call into the records, and returns the
   * changed records. A tablet that is being tried now is released when that has failed.
   *
   * @param known all records by tablet
   * @param reachable whether a record can be written now; reports about others are forgotten,
   *     because servers repeat them
   */
  List<TabletRecord> apply(Map<TabletId, TabletRecord> known, Predicate<TabletRecord> reachable) {
    List<LoadFailureReport> failures;
    Set<TabletId> releases;
    synchronized (this) {
      failures = new ArrayList<>(said.values());
      said.clear();
      releases = new TreeSet<>(toRelease);
      toRelease.clear();
      pauses.keySet().retainAll(known.keySet());
    }
    List<TabletRecord> changed = new ArrayList<>();
    for (LoadFailureReport failure : failures) {
      Optional.ofNullable(known.get(failure.tablet()))
          .filter(record -> isAbout(failure, record) && reachable.test(record))
          .ifPresent(record -> tried(() -> take(record, failure), changed));
    }
    for (TabletId tablet : releases) {
      Optional.ofNullable(known.get(tablet))
          .filter(record -> record.isQuarantined() && reachable.test(record))
          .ifPresent(record -> release(record, changed));
    }
    return changed;
  }

  private void release(TabletRecord record, List<TabletRecord> changed) {
    if (record.assignment().state() == Assignment.State.NONE) {
      tried(() -> free(record), changed);
    } else {
      release(record.id());
    }
  }

  private static boolean isAbout(LoadFailureReport failure, TabletRecord record) {
    return record.assignment().state() == Assignment.State.ASSIGNED
        && record.assignment().isTo(failure.server())
        && record.assignment().epoch() == failure.epoch();
  }

  private static void tried(IoCallable<TabletRecord> change, List<TabletRecord> changed) {
    try {
      changed.add(change.call());
    } catch (RecordChangedException e) {
      LOG.debug("The record was changed by somebody else", e);
    } catch (IOException | SteleException e) {
      // The server is asked to load it again, and people see that it is still in quarantine.
      LOG.info("Cannot record now that a tablet failed to load: {}", e.toString());
    } catch (RuntimeException e) {
      LOG.error("The record of a tablet that failed to load was not changed; others are", e);
    }
  }

  private TabletRecord take(TabletRecord record, LoadFailureReport failure) throws IOException {
    Optional<LoadTrouble> before = record.trouble();
    int failures = before.map(LoadTrouble::failures).orElse(0) + (failure.failsElsewhere() ? 1 : 0);
    boolean quarantined = failures >= FAILURES_MAX && !record.id().table().isSystem();
    String reason = failure.reason();
    TabletRecord taken =
        records.notLoaded(
            record,
            new LoadTrouble(
                reason.substring(0, Math.min(reason.length(), REASON_CHARS_MAX)),
                failure.server(),
                before.map(LoadTrouble::sinceMillis).orElse(runtime.wallClock().millis()),
                failures,
                quarantined));
    if (before.isEmpty()) {
      forgetPauses(record.id()); // It was loaded since.
    }
    Duration pause = pause(record.id(), quarantined);
    if (quarantined) {
      LOG.error(
          "Tablet {} is quarantined: it failed to load {} times. It is tried again in {}; sooner after"
              + " `stele tablet release {}`. {}",
          record.id(),
          failures,
          pause,
          record.id(),
          reason);
    } else {
      LOG.warn("{} could not be loaded; will retry: {}", record, reason);
    }
    return taken;
  }

  /** Begins the next pause of a tablet. */
  private synchronized Duration pause(TabletId tablet, boolean quarantined) {
    int before =
        Optional.ofNullable(pauses.get(tablet))
            .filter(pause -> pause.quarantined == quarantined)
            .map(Pause::failures)
            .orElse(0);
    int doublings = tablet.table().isSystem() ? SYSTEM_PAUSE_DOUBLINGS_MAX : PAUSE_DOUBLINGS_MAX;
    Duration pause =
        quarantined
            ? retry.multipliedBy(
                Math.min(1L << Math.min(before, RETRY_DOUBLINGS_MAX), RETRY_FACTOR_MAX))
            : PAUSE_FIRST.multipliedBy(1L << Math.min(before, doublings));
    pauses.put(tablet, new Pause(before + 1, quarantined, runtime.nanoTime() + pause.toNanos()));
    return pause;
  }

  private synchronized void forgetPauses(TabletId tablet) {
    pauses.remove(tablet);
  }

  private TabletRecord free(TabletRecord record) throws IOException {
    TabletRecord freed = records.releaseFromQuarantine(record);
    forgetPauses(record.id());
    LOG.info("Tablet {} is released from quarantine", record.id());
    return freed;
  }

  /** Whether an unassigned tablet must not be assigned now. */
  synchronized boolean holds(TabletRecord record) {
    if (record.assignment().state() != Assignment.State.NONE || record.trouble().isEmpty()) {
      return false;
    }
    if (record.isQuarantined() && !pauses.containsKey(record.id())) {
      pause(record.id(), true); // An earlier master began the pause.
    }
    Pause pause = pauses.get(record.id());
    return pause != null && runtime.nanoTime() - pause.untilNanos() < 0;
  }
}
