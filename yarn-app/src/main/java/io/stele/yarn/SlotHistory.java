package io.stele.yarn;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What is remembered of a slot over its containers.
 *
 * @param lastNode the node of its last container that was started
 * @param restarts how many of its containers have ended unasked
 * @param failures those endings within {@link #WINDOW} that were the process's own fault
 * @param notBefore when the next container may be asked for
 * @param lastExit how the last container ended, for people; empty when none has
 */
record SlotHistory(
    Optional<String> lastNode,
    int restarts,
    List<Failure> failures,
    Instant notBefore,
    String lastExit) {
  /** Failures older than this are forgotten. */
  static final Duration WINDOW = Duration.ofMinutes(10);

  /**
   * A process that served and ran this long was well: the failures before it no longer slow its
   * restart.
   */
  static final Duration PROVEN_AFTER = Duration.ofSeconds(60);

  private static final Duration BACK_OFF_MAX = Duration.ofSeconds(60);

  static final SlotHistory NEW = new SlotHistory(Optional.empty(), 0, List.of(), Instant.EPOCH, "");

  /** One ending of a process by its own fault. */
  record Failure(Instant time, String node) {}

  SlotHistory {
    failures = List.copyOf(failures);
  }

  SlotHistory startedOn(String node) {
    return new SlotHistory(Optional.of(node), restarts, failures, notBefore, lastExit);
  }

  /** Its next container is not requested before {@code time}, whatever pause was due. */
  SlotHistory pausedUntil(Instant time) {
    return new SlotHistory(lastNode, restarts, failures, time, lastExit);
  }

  /** After an ending that YARN or an operator brought about: the next may follow at once. */
  SlotHistory endedInOrder(Instant now, String exit) {
    return new SlotHistory(lastNode, restarts + 1, failures, now, exit);
  }

  /**
   * After an ending by the process's own fault: the first restart follows at once, later ones wait
   * 1 s, 2 s, 4 s and so on up to a minute.
   *
   * @param ran how long the process had run, if it ever served
   */
  SlotHistory failed(Instant now, String node, Duration ran, String exit) {
    List<Failure> recent = new ArrayList<>();
    if (ran.compareTo(PROVEN_AFTER) < 0) {
      recent.addAll(recentFailures(now));
    }
    recent.add(new Failure(now, node));
    int doublings = Math.min(recent.size() - 2, 6);
    Duration backOff = doublings < 0 ? Duration.ZERO : Duration.ofSeconds(1L << doublings);
    if (backOff.compareTo(BACK_OFF_MAX) > 0) {
      backOff = BACK_OFF_MAX;
    }
    return new SlotHistory(lastNode, restarts + 1, recent, now.plus(backOff), exit);
  }

  int recentFailureCount(Instant now) {
    return recentFailures(now).size();
  }

  /** Nodes on which the process failed twice within the window: not asked for by name. */
  Set<String> nodesToAvoid(Instant now) {
    return recentFailures(now).stream()
        .collect(Collectors.groupingBy(Failure::node, Collectors.counting()))
        .entrySet()
        .stream()
        .filter(entry -> entry.getValue() >= 2)
        .map(entry -> entry.getKey())
        .collect(Collectors.toUnmodifiableSet());
  }

  private Collection<Failure> recentFailures(Instant now) {
    return failures.stream().filter(failure -> failure.time().plus(WINDOW).isAfter(now)).toList();
  }
}
