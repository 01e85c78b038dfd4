package io.stele.yarn;

import io.stele.wire.application.ApplicationProtos.ComponentProto;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;

/**
 * What operators see of the application's components: the state of each, and in a note what it
 * waits for, until when, and why it last ended. Made of one snapshot; immutable.
 */
final class StatusReport {
  /** A process that has been starting for less than this is not worth a note. */
  private static final Duration SLOW_START = Duration.ofSeconds(30);

  private final ApplicationSnapshot snapshot;
  private final Optional<String> unclaimed;
  private final Optional<String> registrationsUnknown;
  private final Map<SlotId, String> refusals;
  private final OptionalLong headroomMb;

  /**
   * @param unclaimed why the cluster cannot be claimed, so nothing is asked for; empty if it can
   * @param registrationsUnknown why it is not known which processes serve; empty if it is
   * @param refusals why YARN refuses containers, by slot
   * @param headroomMb the headroom in the queue, as far as it is known
   */
  StatusReport(
      ApplicationSnapshot snapshot,
      Optional<String> unclaimed,
      Optional<String> registrationsUnknown,
      Map<SlotId, String> refusals,
      OptionalLong headroomMb) {
    this.snapshot = snapshot;
    this.unclaimed = unclaimed;
    this.registrationsUnknown = registrationsUnknown;
    this.refusals = Map.copyOf(refusals);
    this.headroomMb = headroomMb;
  }

  /** One entry a slot that is wanted or filled, in their order. */
  List<ComponentProto> components() {
    Set<SlotId> slots = new TreeSet<>();
    if (!snapshot.stopping()) {
      snapshot
          .orders()
          .wanted()
          .forEach(
              (kind, count) -> {
                for (int index = 1; index <= count; index++) {
                  slots.add(new SlotId(kind, index));
                }
              });
    }
    snapshot.containers().forEach(container -> slots.add(container.slot()));
    List<ComponentProto> components = new ArrayList<>();
    for (SlotId slot : slots) {
      List<HeldContainer> held =
          snapshot.containers().stream().filter(c -> c.slot().equals(slot)).toList();
      if (held.isEmpty()) {
        components.add(waiting(slot));
      }
      held.forEach(container -> components.add(placed(container)));
    }
    return components;
  }

  private ComponentProto.Builder component(SlotId slot) {
    SlotHistory past = snapshot.historyOf(slot);
    return ComponentProto.newBuilder()
        .setId(slot.toString())
        .setRestarts(past.restarts())
        .setFailures(past.recentFailureCount(snapshot.now()))
        .setLastExit(past.lastExitLine());
  }

  private ComponentProto placed(HeldContainer container) {
    return component(container.slot())
        .setState(stateOf(container))
        .setContainer(container.id())
        .setNode(container.node())
        .setNote(
            registrationsUnknown
                .or(() -> noteOf(container))
                .orElseGet(() -> pastOf(container.slot())))
        .setOutdated(container.marks().outdated())
        .build();
  }

  private ComponentProto waiting(SlotId slot) {
    if (unclaimed.isPresent()) {
      return component(slot).setState("WAITING").setNote(unclaimed.get()).build();
    }
    Optional<Ask> ask =
        snapshot.slots().asks().stream().filter(made -> made.slot().equals(slot)).findFirst();
    if (ask.isPresent()) {
      return component(slot).setState("ASKED").setNote(waitOf(ask.get())).build();
    }
    Instant notBefore = snapshot.historyOf(slot).notBefore();
    List<String> words = new ArrayList<>();
    if (snapshot.now().isBefore(notBefore)) {
      words.add("will be asked for in " + secondsUntil(notBefore) + " s");
    }
    String refusal = refusals.get(slot);
    String why = refusal == null ? pastOf(slot) : "YARN refuses a container for it: " + refusal;
    if (!why.isEmpty()) {
      words.add(why);
    }
    return component(slot).setState("WAITING").setNote(String.join("; ", words)).build();
  }

  /** Why the ask has not been met yet. */
  String waitOf(Ask ask) {
    long need = snapshot.limits().sizeOf(ask.slot().kind()).memoryMb();
    return WaitLog.words(ask, need, headroomMb, snapshot.nodes().alive(), snapshot.now());
  }

  /** How the slot's processes have ended; empty if none has. */
  private String pastOf(SlotId slot) {
    SlotHistory past = snapshot.historyOf(slot);
    int failures = past.recentFailureCount(snapshot.now());
    return failures < 2
        ? past.lastExitLine()
        : "failed "
            + failures
            + " times in "
            + SlotHistory.WINDOW.toMinutes()
            + " min; the last one "
            + past.lastExitLine();
  }

  private String stateOf(HeldContainer container) {
    return switch (container.phase()) {
      case RUNNING ->
          hasLostItsLock(container) ? "LOST" : container.hasStartedUp() ? "RUNNING" : "STARTING";
      case ALLOCATED, STARTING, EXPECTED, RECOVERED, CHECKING -> "STARTING";
      case DRAINING -> "DRAINING";
      case STOPPING, RELEASED -> "STOPPING";
    };
  }

  private static boolean hasLostItsLock(HeldContainer container) {
    return container.hasStartedUp() && !container.hasItsLock();
  }

  /** What the container's process waits for; empty if it just runs. */
  private Optional<String> noteOf(HeldContainer container) {
    if (container.marks().preempted()) {
      return Optional.of("YARN is preempting its container");
    }
    return switch (container.phase()) {
      case EXPECTED -> Optional.of("YARN has restarted and has yet to report its container");
      case DRAINING ->
          Optional.of(
              (leaves(container) ? "its node is being decommissioned" : "gives its tablets away")
                  + endOfDrain(container));
      case RUNNING -> noteOfRunning(container);
      case ALLOCATED, STARTING, RECOVERED, CHECKING, STOPPING, RELEASED -> Optional.empty();
    };
  }

  /** When a container that drains ends. */
  private String endOfDrain(HeldContainer container) {
    long seconds = secondsUntil(snapshot.drainUntil(container));
    if (snapshot.mustEndInTime(container)) {
      return ": ends in " + seconds + " s at the latest";
    }
    if (snapshot.waitsForAnother(container)) {
      return ", but no other could take them: ends once another serves";
    }
    if (container.hasItsLock() && !snapshot.hasMaster()) {
      return ", but no master serves that gives them to others: ends once one does";
    }
    return snapshot.isDrainTimeOver(container)
        ? ": its time is over, so it ends once ZooKeeper says again that others serve"
        : ": has " + seconds + " s to drain";
  }

  private Optional<String> noteOfRunning(HeldContainer container) {
    Duration withoutLock = container.withoutLock();
    if (isTooMany(container.slot())) {
      return Optional.of(
          "is no longer needed: ends once "
              + (snapshot.waitsForAnother(container)
                  ? "another serves"
                  : "enough others serve, in "
                      + secondsUntil(snapshot.surplusUntil(container))
                      + " s at the latest"));
    }
    if (container.marks().outdated()) {
      return Optional.of("has yet to be upgraded");
    }
    if (container.isDraining() && !leaves(container)) {
      return Optional.of(
          "takes no tablets: it is drained ('stele server drain --undo' ends that) or restarted");
    }
    if (hasLostItsLock(container)) {
      return Optional.of(
          "has had no lock for "
              + withoutLock.toSeconds()
              + " s: will be stopped after "
              + HeldContainer.LOST_LOCK_WAIT.toSeconds()
              + " s");
    }
    if (leaves(container)) {
      Instant latest = snapshot.drainBy(container.node());
      return Optional.of(
          "its node is being decommissioned: ends once "
              + (snapshot.waitsForAnother(container)
                  ? "another serves"
                  : "its replacement serves, in " + secondsUntil(latest) + " s at the latest"));
    }
    if (!container.hasStartedUp() && withoutLock.compareTo(SLOW_START) >= 0) {
      String past = pastOf(container.slot());
      return Optional.of(
          "has been starting for "
              + withoutLock.toSeconds()
              + " s: will be stopped after "
              + HeldContainer.START_WAIT.toSeconds()
              + " s"
              + (past.isEmpty() ? "" : "; " + past));
    }
    return Optional.empty();
  }

  private boolean isTooMany(SlotId slot) {
    return !snapshot.stopping() && !snapshot.wants(slot);
  }

  private boolean leaves(HeldContainer container) {
    return snapshot.nodes().isLeaving(container.node());
  }

  /** Rounded up; zero if the time is over. */
  private long secondsUntil(Instant time) {
    return Math.max(0, Duration.between(snapshot.now(), time).plusMillis(999).toSeconds());
  }
}
