package io.stele.master;

import io.stele.metadata.TabletRecord;
import io.stele.model.ServerId;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.HostShare;
import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;

/**
 * Lets tablets wait a moment for servers when a whole cluster starts: otherwise the first server
 * would get all tablets, wherever their bytes lie, and most would have to move.
 *
 * <p>It is a cold start if no live server has a tablet of a table when a master first sees records
 * of such tablets. A tablet whose last server was on a host of which no server was seen yet then
 * waits, until no server has come for a few seconds.
 *
 * <p>For one thread.
 */
final class ColdStart {
  private static final Duration QUIET = Duration.ofSeconds(3);
  private static final Duration LONGEST = Duration.ofSeconds(20);

  private enum State {
    NOTHING_SEEN,
    COLD,
    OVER
  }

  private final ProcessRuntime runtime;
  private State state = State.NOTHING_SEEN;
  private Set<ServerId> servers = Set.of();
  private final Set<String> hosts = new HashSet<>(); // Of all servers that were seen.
  private long beganNanos;
  private long lastNanos; // When the last server came.

  ColdStart(ProcessRuntime runtime) {
    this.runtime = runtime;
  }

  /**
   * Looks at what there is now.
   *
   * @param live the servers that hold their locks
   * @param owners the servers that have tablets of tables, according to the records
   * @param anyRecords whether there are records of such tablets
   */
  void update(Set<ServerId> live, Set<ServerId> owners, boolean anyRecords) {
    if (state == State.OVER) {
      return;
    }
    long now = runtime.nanoTime();
    if (!servers.containsAll(live)) {
      lastNanos = now;
    }
    servers = Set.copyOf(live);
    live.forEach(server -> hosts.add(HostShare.name(server.host())));
    if (state == State.NOTHING_SEEN && anyRecords && !live.isEmpty()) {
      beganNanos = now;
      state = Collections.disjoint(live, owners) ? State.COLD : State.OVER;
    }
    if (state == State.COLD
        && (now - lastNanos >= QUIET.toNanos() || now - beganNanos >= LONGEST.toNanos())) {
      state = State.OVER;
    }
  }

  /** Whether tablets may be waiting. */
  boolean isInProgress() {
    return state == State.COLD;
  }

  /** Whether the tablet waits for the first server on its host. */
  boolean holds(TabletRecord record) {
    return state == State.COLD
        && !record.id().table().isSystem()
        && record
            .assignment()
            .host()
            .filter(host -> !hosts.contains(HostShare.name(host)))
            .isPresent();
  }
}
