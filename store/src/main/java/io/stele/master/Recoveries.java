package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.TabletRecord;
import io.stele.model.ServerId;
import io.stele.model.TabletId;
import io.stele.runtime.ProcessRuntime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records how long the tablets of dead servers were not served, and how long each stage of the
 * recovery took: for the log and for the cluster's status. Nothing depends on it, and it is lost
 * with this master.
 *
 * <p>A server's recovery has its stages in the order of {@link Stage}. Safe for use by any number
 * of threads.
 */
final class Recoveries {
  private static final Logger LOG = LoggerFactory.getLogger(Recoveries.class);
  private static final int KEPT = 20;

  /** The stages of a recovery. */
  enum Stage {
    LEASE("waiting for its lease"),
    FENCE("closing its log"),
    SORT("sorting its log"),
    ASSIGN("assigning its tablets"),
    LOAD("loading them");

    private final String text;

    Stage(String text) {
      this.text = text;
    }

    /** The stage in words. */
    String text() {
      return text;
    }
  }

  /**
   * A server's recovery, up to now.
   *
   * @param server the dead server
   * @param lost when this master saw that it was lost, by the master's clock
   * @param detection the most that passed between its death and {@code lost}: the time since its
   *     last report; empty if this master had none
   * @param tablets how many tablets it had
   * @param stages those that are over, and how long they took
   * @param first when the first of its tablets was served again, counted from {@code lost}
   */
  record Recovery(
      ServerId server,
      Instant lost,
      Optional<Duration> detection,
      int tablets,
      Map<Stage, Duration> stages,
      Optional<Duration> first) {
    /** Whether all of its tablets are served again. */
    boolean isOver() {
      return stages.containsKey(Stage.LOAD);
    }

    /** The total time of the finished stages. */
    Duration took() {
      return stages.values().stream().reduce(Duration.ZERO, Duration::plus);
    }

    private String describe() {
      return stages.entrySet().stream()
          .map(stage -> stage.getKey().text() + " " + stage.getValue().toMillis() + " ms")
          .collect(Collectors.joining(", "));
    }
  }

  /** A recovery in progress. The fields are guarded by the recoveries. */
  private static final class Running {
    final Instant lost;
    final Optional<Duration> detection;
    final long lostNanos;
    final Map<Stage, Duration> stages = new EnumMap<>(Stage.class);
    final Set<TabletId> tablets = new HashSet<>();
    final Set<TabletId> away = new HashSet<>(); // Of these, those not seen served again.
    Optional<Duration> first = Optional.empty();
    long stageNanos;

    Running(Instant lost, Optional<Long> heardNanos, long nowNanos) {
      this.lost = lost;
      this.detection = heardNanos.map(heard -> Duration.ofNanos(nowNanos - heard));
      this.lostNanos = nowNanos;
      this.stageNanos = nowNanos;
    }

    void end(Stage stage, long nowNanos) {
      if (stages.putIfAbsent(stage, Duration.ofNanos(nowNanos - stageNanos)) == null) {
        stageNanos = nowNanos;
      }
    }

    Recovery recovery(ServerId server) {
      return new Recovery(server, lost, detection, tablets.size(), new EnumMap<>(stages), first);
    }
  }

  private final ProcessRuntime runtime;

  @GuardedBy("this")
  private final Map<ServerId, Running> running = new TreeMap<>();

  @GuardedBy("this")
  private final Map<ServerId, Long> heardNanos = new TreeMap<>(); // Of servers that are not lost.

  @GuardedBy("this")
  private final Deque<Recovery> over = new ArrayDeque<>(); // Latest first.

  /** An empty record of recoveries. */
  Recoveries(ProcessRuntime runtime) {
    this.runtime = runtime;
  }

  /**
   * A live server reported.
   *
   * @param askedNanos it was alive at that moment of this master's time
   */
  synchronized void heard(ServerId server, long askedNanos) {
    if (!running.containsKey(server)) {
      heardNanos.put(server, askedNanos);
    }
  }

  /** The server is lost. */
  synchronized void lost(ServerId server) {
    Optional<Long> heard = Optional.ofNullable(heardNanos.remove(server));
    running.computeIfAbsent(
        server, any -> new Running(runtime.wallClock().instant(), heard, runtime.nanoTime()));
  }

  /** The server is not lost. */
  synchronized void spared(ServerId server) {
    running.remove(server);
  }

  /** The server may no longer answer anything: its log is taken now. */
  synchronized void leaseOver(ServerId server) {
    end(server, Stage.LEASE);
  }

  /** The server can no longer write anything. */
  synchronized void fenced(ServerId server) {
    end(server, Stage.FENCE);
  }

  @GuardedBy("this")
  private void end(ServerId server, Stage stage) {
    Running one = running.get(server);
    if (one != null) {
      one.end(stage, runtime.nanoTime());
    }
  }

  /**
   * Records the present state of the tablets.
   *
   * @param view all known tablets
   * @param tabletsOf the tablets of a server according to their records
   * @param isSorting whether the log of a server is being sorted
   * @param complete whether all records could be read
   */
  synchronized void update(
      MasterLoop.View view,
      Function<ServerId, List<TabletRecord>> tabletsOf,
      Predicate<ServerId> isSorting,
      boolean complete) {
    if (running.isEmpty()) {
      return;
    }
    Set<ServerId> unassigned = findTablets(tabletsOf);
    List<ServerId> ended = new ArrayList<>();
    long now = runtime.nanoTime();
    running.forEach(
        (server, one) -> {
          boolean served = one.away.removeIf(tablet -> isServedByAnother(view, tablet, server));
          if (served && one.first.isEmpty()) {
            one.first = Optional.of(Duration.ofNanos(now - one.lostNanos));
          }
          if (!one.stages.containsKey(Stage.FENCE) || isSorting.test(server)) {
            return;
          }
          one.end(Stage.SORT, now);
          if (!complete || unassigned.contains(server)) {
            return;
          }
          one.end(Stage.ASSIGN, now);
          if (one.away.isEmpty()) {
            one.end(Stage.LOAD, now);
            ended.add(server);
          }
        });
    ended.forEach(this::end);
  }

  /** Records which tablets the lost servers have, and returns the servers that still have some. */
  @GuardedBy("this")
  private Set<ServerId> findTablets(Function<ServerId, List<TabletRecord>> tabletsOf) {
    Set<ServerId> unassigned = new TreeSet<>();
    running.forEach(
        (server, one) -> {
          for (TabletRecord record : tabletsOf.apply(server)) {
            unassigned.add(server);
            if (one.tablets.add(record.id())) {
              one.away.add(record.id());
            }
          }
        });
    return unassigned;
  }

  /** The view may be from just before the server was lost, and so still have it. */
  private static boolean isServedByAnother(MasterLoop.View view, TabletId tablet, ServerId lost) {
    TabletRecord record = view.tablets().get(tablet);
    if (record == null) {
      return true; // Dropped, or split.
    }
    return !record.assignment().isTo(lost) && view.isServed(record);
  }

  @GuardedBy("this")
  private void end(ServerId server) {
    Running one = running.remove(server);
    if (one == null || one.tablets.isEmpty()) {
      return;
    }
    Recovery recovery = one.recovery(server);
    LOG.info(
        "The {} tablets of {}, which was seen to be lost{}, are served again after {} ms, the first after {} ms: {}",
        recovery.tablets(),
        server,
        recovery
            .detection()
            .map(most -> " at most " + most.toMillis() + " ms after its end")
            .orElse(""),
        recovery.took().toMillis(),
        recovery.first().map(Duration::toMillis).orElse(0L),
        recovery.describe());
    over.addFirst(recovery);
    if (over.size() > KEPT) {
      over.removeLast();
    }
  }

  /** The recoveries, the latest first; those in progress before all others. */
  synchronized List<Recovery> latest() {
    List<Recovery> all = new ArrayList<>();
    running.forEach(
        (server, one) -> {
          if (!one.tablets.isEmpty()) {
            all.add(one.recovery(server));
          }
        });
    all.addAll(over);
    return all;
  }
}
