package io.stele.master;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.metadata.UniqueName;
import io.stele.model.Bytes;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * Decides when tablets are balanced: about once a second, unless an operator has turned balancing
 * off.
 *
 * <p>Whether it is on is kept in the lock service, so that it outlives masters. {@link #decide} and
 * {@link #rest} are for the master's loop alone; the rest is safe for use by any number of threads.
 */
final class BalanceSchedule {
  private static final Bytes OFF = Bytes.of("off");
  private static final Bytes ON = Bytes.of("on");
  private static final Duration EVERY = Duration.ofSeconds(1);
  private static final int SHARE = 20; // Of the loop's time, one part.
  private static final Duration REST = Duration.ofMinutes(10);
  private static final Duration REST_OF_OTHERS = Duration.ofSeconds(10);

  /**
   * A balancing of everything that was asked for. Loads change all the time, so without a slack
   * there would always be a tablet that is better off elsewhere: each moves once at most.
   *
   * @param id different from all others; empty if nothing was asked for
   * @param moved the tablets that it has moved; the loop's
   */
  private record Run(String id, RunState state, Set<TabletId> moved) {
    static final Run NONE = new Run("", RunState.DONE, Set.of());

    boolean isInProgress() {
      return state == RunState.IN_PROGRESS;
    }

    Run as(RunState next) {
      return new Run(id, next, moved);
    }
  }

  /** How far a run is. */
  enum RunState {
    IN_PROGRESS,
    DONE,
    /** Balancing was turned off meanwhile. */
    STOPPED
  }

  /** By which part of an average server's weight a server may differ from it. */
  static final double SLACK = 0.05;

  private final ProcessRuntime runtime;
  private final LockService locks;
  private final Map<TabletId, Long> restsUntilNanos = new TreeMap<>(); // The loop's.
  private long nextNanos;

  /** The last run. Written under the monitor of this. */
  private volatile Run run = Run.NONE;

  private volatile boolean on = true; // When last looked at or set.
  private final AtomicLong sets = new AtomicLong(); // How often it was set.

  BalanceSchedule(ProcessRuntime runtime, LockService locks) {
    this.runtime = runtime;
    this.locks = locks;
    this.nextNanos = runtime.nanoTime() + EVERY.toNanos();
  }

  /** Whether it is on. */
  boolean isOn() throws IOException {
    long before = sets.get();
    boolean now = locks.read(LockPaths.BALANCE).filter(node -> node.data().equals(OFF)).isEmpty();
    if (sets.get() == before) { // Otherwise it may have been read before it was set.
      on = now;
    }
    return now;
  }

  /**
   * Whether it was on when last looked at, about a second ago, or when set since; does not ask the
   * lock service.
   */
  boolean wasOn() {
    return on;
  }

  /** Turns it on or off; off, it also stops what {@link #beginNow} began. */
  void set(boolean wanted) throws IOException {
    write(wanted ? ON : OFF);
    sets.incrementAndGet();
    on = wanted;
    if (!wanted) {
      end(run, RunState.STOPPED);
    }
  }

  private void write(Bytes data) throws IOException {
    while (true) {
      Optional<VersionedData> node = locks.read(LockPaths.BALANCE);
      if (node.filter(now -> now.data().equals(data)).isPresent()) {
        return;
      }
      if (node.isPresent()) {
        if (locks.write(LockPaths.BALANCE, data, node.get().version()).isPresent()) {
          return;
        }
      } else {
        try {
          locks.create(LockPaths.BALANCE, data);
          return;
        } catch (SteleException e) {
          if (e.code() != SteleException.Code.ALREADY_EXISTS) {
            throw e;
          }
        }
      }
    }
  }

  /** Balances everything once, even if balancing is off; joins a run that is in progress. */
  synchronized void beginNow() {
    if (!run.isInProgress()) {
      run = new Run(UniqueName.of(runtime), RunState.IN_PROGRESS, new TreeSet<>());
    }
  }

  /** Ends a run, unless it has ended. */
  private synchronized void end(Run begun, RunState how) {
    if (run.id().equals(begun.id()) && run.isInProgress()) {
      run = begun.as(how);
    }
  }

  /** The id of the last run, and how far it is. */
  Map.Entry<String, RunState> lastRun() {
    Run last = run;
    return Map.entry(last.id(), last.state());
  }

  /**
   * Leaves tablets alone for a while that were just assigned to servers, for whatever reason.
   * Called in each step of the loop: those that have rested are forgotten, on or off.
   */
  void rest(Collection<TabletId> assigned) {
    long now = runtime.nanoTime();
    restsUntilNanos.values().removeIf(until -> now - until >= 0);
    long until = now + REST_OF_OTHERS.toNanos();
    for (TabletId tablet : assigned) {
      restsUntilNanos.merge(tablet, until, (old, other) -> old - other > 0 ? old : other);
    }
  }

  /** How many tablets are left alone, for tests. */
  int resting() {
    return restsUntilNanos.size();
  }

  /**
   * The moves to begin now; usually none.
   *
   * @param loads what servers have of the tables
   */
  List<Balancer.Move> decide(ServerLoads loads, Supplier<Balancer.Cluster> about)
      throws IOException {
    long start = runtime.nanoTime();
    Run asked = run;
    boolean now = asked.isInProgress();
    if (!now && (start - nextNanos < 0 || !isOn())) {
      return List.of();
    }
    restsUntilNanos.values().removeIf(until -> start - until >= 0);
    Balancer.Cluster cluster = about.get();
    int servers = cluster.servers().size();
    Balancer.Limits limits =
        now
            ? Balancer.Limits.of(loads, servers, 0, asked.moved())
            : Balancer.Limits.of(loads, servers, SLACK, restsUntilNanos.keySet());
    List<Balancer.Move> moves = Balancer.decide(loads, cluster, limits);
    moves.forEach(move -> restsUntilNanos.put(move.tablet(), start + REST.toNanos()));
    if (now) {
      moves.forEach(move -> asked.moved().add(move.tablet()));
      if (moves.isEmpty() && cluster.moves().isEmpty()) {
        end(asked, RunState.DONE);
      }
    }
    long took = runtime.nanoTime() - start;
    nextNanos = start + Math.max(EVERY.toNanos(), Math.multiplyExact(took, SHARE));
    return moves;
  }
}
