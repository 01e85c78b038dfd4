package io.stele.master;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.model.Bytes;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * Decides when tablets are balanced: about once a second, unless an operator has turned balancing
 * off.
 *
 * <p>Whether it is on is kept in the lock service, so that it outlives masters. {@link #decide} and
 * {@link #rest} are for the master's loop alone; the rest is safe for use by any number of threads.
 */
final class Balance {
  private static final Bytes OFF = Bytes.of("off");
  private static final Bytes ON = Bytes.of("on");
  private static final Duration EVERY = Duration.ofSeconds(1);
  private static final int SHARE = 20; // Of the loop's time, one part.
  private static final Duration REST = Duration.ofMinutes(10);
  private static final Duration REST_OF_OTHERS = Duration.ofSeconds(10);

  /** By which part of an average server's weight a server may differ from it. */
  static final double SLACK = 0.05;

  private final ProcessRuntime runtime;
  private final LockService locks;
  private final Map<TabletId, Long> restsUntilNanos = new TreeMap<>(); // The loop's.
  private long nextNanos;
  private volatile boolean atOnce;
  private volatile boolean on = true; // When last looked at or set.
  private final AtomicLong sets = new AtomicLong(); // How often it was set.

  Balance(ProcessRuntime runtime, LockService locks) {
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

  /** Turns it on or off. */
  void set(boolean wanted) throws IOException {
    write(wanted ? ON : OFF);
    sets.incrementAndGet();
    on = wanted;
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
          if (e.code() != SteleException.Code.REFUSED) {
            throw e;
          }
        }
      }
    }
  }

  /** Balances until nothing is uneven, even if balancing is off. */
  void beginNow() {
    atOnce = true;
  }

  /** Whether such balancing is in progress. */
  boolean isUnderWayNow() {
    return atOnce;
  }

  /** Leaves a tablet alone for a while: it was just assigned to a server, for whatever reason. */
  void rest(TabletId assigned) {
    long until = runtime.nanoTime() + REST_OF_OTHERS.toNanos();
    restsUntilNanos.merge(assigned, until, (old, other) -> old - other > 0 ? old : other);
  }

  /**
   * The moves to begin now; mostly none.
   *
   * @param loads what servers have of the tables
   */
  List<Balancer.Move> decide(Loads loads, Supplier<Balancer.Cluster> about) throws IOException {
    long start = runtime.nanoTime();
    boolean now = atOnce;
    if (!now && (start - nextNanos < 0 || !isOn())) {
      return List.of();
    }
    restsUntilNanos.values().removeIf(until -> start - until >= 0);
    Balancer.Cluster cluster = about.get();
    int servers = cluster.servers().size();
    Balancer.Limits limits =
        now
            ? Balancer.Limits.of(loads, servers, 0, Set.of())
            : Balancer.Limits.of(loads, servers, SLACK, restsUntilNanos.keySet());
    List<Balancer.Move> moves = Balancer.decide(loads, cluster, limits);
    moves.forEach(move -> restsUntilNanos.put(move.tablet(), start + REST.toNanos()));
    if (now && moves.isEmpty() && cluster.moves().isEmpty()) {
      atOnce = false;
    }
    long took = runtime.nanoTime() - start;
    nextNanos = start + Math.max(EVERY.toNanos(), Math.multiplyExact(took, SHARE));
    return moves;
  }
}
