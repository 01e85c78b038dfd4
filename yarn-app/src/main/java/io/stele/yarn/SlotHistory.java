package io.stele.yarn;

import io.stele.wire.application.ApplicationProtos.SlotFailureProto;
import io.stele.wire.application.ApplicationProtos.SlotStateProto;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * What is remembered of a slot over its containers.
 *
 * <p>Failures count in two ways. Those of the last {@link #WINDOW} tell how the slot fares. Those
 * since its process was last healthy, however long ago, tell how long the next start has to wait.
 *
 * @param lastNode the node of its last container that was started
 * @param restarts how many of its containers have ended unasked
 * @param failures the latest of those endings that were the process's own fault, oldest first
 * @param lastHealthy when its process was last found to be healthy after failures; they are over
 * @param notBefore when the next container may be asked for
 * @param lastExit how the last container ended, for people; empty when none has
 */
record SlotHistory(
    Optional<String> lastNode,
    int restarts,
    List<Failure> failures,
    Instant lastHealthy,
    Instant notBefore,
    String lastExit) {
  /** Failures older than this no longer tell how the slot fares. */
  static final Duration WINDOW = Duration.ofMinutes(10);

  /** A process that serves and has run this long is healthy: the failures before it are over. */
  static final Duration PROVEN_AFTER = Duration.ofSeconds(60);

  private static final Duration BACK_OFF_MAX = Duration.ofSeconds(60);

  /** More never come within the window, and do not lengthen the pause. */
  private static final int FAILURES_KEPT = 32;

  static final SlotHistory NEW =
      new SlotHistory(Optional.empty(), 0, List.of(), Instant.EPOCH, Instant.EPOCH, "");

  /** One ending of a process by its own fault. */
  record Failure(Instant time, String node) {}

  SlotHistory {
    failures = List.copyOf(failures);
  }

  SlotHistory startedOn(String node) {
    return new SlotHistory(Optional.of(node), restarts, failures, lastHealthy, notBefore, lastExit);
  }

  /** Its next container is not requested before {@code time}, whatever pause was due. */
  SlotHistory pausedUntil(Instant time) {
    return new SlotHistory(lastNode, restarts, failures, lastHealthy, time, lastExit);
  }

  /** Its process is healthy: it serves, and has for {@link #PROVEN_AFTER}. */
  SlotHistory healthy(Instant now) {
    return failuresSinceHealthy().isEmpty()
        ? this
        : new SlotHistory(lastNode, restarts, failures, now, notBefore, lastExit);
  }

  /** After an ending that YARN or an operator brought about: the next may follow at once. */
  SlotHistory endedInOrder(Instant now, String exit) {
    return new SlotHistory(lastNode, restarts + 1, failures, lastHealthy, now, exit);
  }

  /**
   * After an ending by the process's own fault: the first restart follows at once, later ones wait
   * 1 s, 2 s, 4 s and so on up to a minute, until a process is healthy.
   */
  SlotHistory failed(Instant now, String node, String exit) {
    List<Failure> all = new ArrayList<>(failures);
    all.add(new Failure(now, node));
    List<Failure> kept = all.subList(Math.max(0, all.size() - FAILURES_KEPT), all.size());
    SlotHistory next = new SlotHistory(lastNode, restarts + 1, kept, lastHealthy, now, exit);
    return next.pausedUntil(now.plus(backOff(next.failuresSinceHealthy().size())));
  }

  private static Duration backOff(int failures) {
    if (failures < 2) {
      return Duration.ZERO;
    }
    Duration doubled = Duration.ofSeconds(1L << Math.min(failures - 2, 6));
    return doubled.compareTo(BACK_OFF_MAX) > 0 ? BACK_OFF_MAX : doubled;
  }

  /** How often its process failed within the last {@link #WINDOW}. */
  int recentFailureCount(Instant now) {
    return recentFailures(now).size();
  }

  /**
   * Nodes on which its process failed twice, lately or since it was last healthy: not asked for by
   * name.
   */
  Set<String> nodesToAvoid(Instant now) {
    Set<String> avoid = new TreeSet<>(withTwo(recentFailures(now)));
    avoid.addAll(withTwo(failuresSinceHealthy()));
    return avoid;
  }

  private static Set<String> withTwo(List<Failure> some) {
    Map<String, Integer> counts = new HashMap<>();
    some.forEach(failure -> counts.merge(failure.node(), 1, Integer::sum));
    counts.values().removeIf(count -> count < 2);
    return counts.keySet();
  }

  private List<Failure> recentFailures(Instant now) {
    return failures.stream().filter(failure -> failure.time().plus(WINDOW).isAfter(now)).toList();
  }

  private List<Failure> failuresSinceHealthy() {
    return failures.stream().filter(failure -> failure.time().isAfter(lastHealthy)).toList();
  }

  /** The first line of {@link #lastExit}; the others are the process's last words. */
  String lastExitLine() {
    return lastExit.lines().findFirst().orElse("");
  }

  /** What the next attempt of the ApplicationMaster must know of the slot. */
  SlotStateProto toProto(SlotId slot) {
    SlotStateProto.Builder proto =
        SlotStateProto.newBuilder().setId(slot.toString()).setRestarts(restarts);
    lastNode.ifPresent(proto::setLastNode);
    for (Failure failure : failures) {
      proto.addFailures(
          SlotFailureProto.newBuilder()
              .setTimeMillis(failure.time().toEpochMilli())
              .setNode(failure.node()));
    }
    return proto
        .setLastWellMillis(lastHealthy.toEpochMilli())
        .setNotBeforeMillis(notBefore.toEpochMilli())
        .setLastExit(lastExitLine())
        .build();
  }

  /**
   * What an earlier attempt wrote. Nothing happened later than now, and no pause is longer than
   * those that are made.
   */
  static SlotHistory of(SlotStateProto proto, SavedTimes times) {
    return new SlotHistory(
        proto.hasLastNode() ? Optional.of(proto.getLastNode()) : Optional.empty(),
        proto.getRestarts(),
        proto.getFailuresList().stream()
            .map(one -> new Failure(times.past(one.getTimeMillis()), one.getNode()))
            .toList(),
        times.past(proto.getLastWellMillis()),
        times.within(proto.getNotBeforeMillis(), BACK_OFF_MAX),
        proto.getLastExit());
  }

  /** The same slot in another application: only its node counts, where its files lie. */
  SlotHistory inAnotherApplication() {
    return lastNode.map(NEW::startedOn).orElse(NEW);
  }
}
