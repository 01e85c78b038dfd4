package io.stele.yarn;

import io.stele.wire.application.ApplicationProtos.ApplicationStateProto;
import io.stele.wire.application.ApplicationProtos.StatusResponseProto;
import io.stele.yarn.HeldContainer.Marks;
import io.stele.yarn.HeldContainer.Phase;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The state of the ApplicationMaster, in parts with one subject each: what operators want, the
 * slots, the containers it holds, what the lock service says of them, and the nodes. Reports of
 * YARN and the actions taken change it; decisions are made from a {@link #snapshot}. It performs no
 * action itself. Here is what concerns several parts.
 *
 * <p>Confined to the ApplicationMaster's one thread, with its parts.
 */
final class ApplicationState {
  /** A container given back is forgotten after this, should YARN never report its end. */
  private static final Duration RELEASE_WAIT = Duration.ofSeconds(30);

  /**
   * A ResourceManager that has restarted reports containers when their nodes come back to it, which
   * takes them half a minute by default. So containers of an earlier attempt are expected for this
   * long before others take their places.
   */
  static final Duration EXPECTED_WAIT = Duration.ofMinutes(1);

  private final ApplicationSnapshot.Limits limits;
  private final Orders orders;
  private final Slots slots = new Slots();
  private final HeldContainers containers = new HeldContainers();
  private final Registrations registrations = new Registrations(containers);
  private final KnownNodes nodes;

  /** Why the cluster could not be claimed when that was last tried; empty otherwise. */
  private Optional<String> unclaimed = Optional.empty();

  /** Our headroom in the queue, as far as it is known. */
  private OptionalLong headroomMb = OptionalLong.empty();

  /** Tablet servers that ended, since all is stopped, without having given their tablets away. */
  private int notDrained;

  /**
   * @param deployment what the application was submitted with
   */
  ApplicationState(YarnSettings settings, Deployment deployment) {
    this.limits = settings.limits();
    this.orders = new Orders(settings, deployment);
    this.nodes = new KnownNodes(limits);
  }

  ApplicationSnapshot.Limits limits() {
    return limits;
  }

  /** What operators want. */
  Orders orders() {
    return orders;
  }

  Slots slots() {
    return slots;
  }

  /** What the lock service says of the processes. */
  Registrations registrations() {
    return registrations;
  }

  KnownNodes nodes() {
    return nodes;
  }

  ApplicationSnapshot snapshot(Instant now) {
    return new ApplicationSnapshot(
        now, orders.snapshot(), containers.all(), slots.snapshot(now), nodes.snapshot(now), limits);
  }

  // What we were told.

  /** Notes what containers are started with from now on. */
  void deploy(Deployment next) {
    if (orders.deploy(next)) {
      containers
          .all(held -> held.phase() != Phase.ALLOCATED && !held.ending())
          .forEach(held -> containers.mark(held.id(), marks -> marks.outdated(true)));
    }
  }

  /** Notes a list of the nodes that run or are about to leave. */
  void replaceNodes(Collection<Node> alive, Instant now) {
    nodes.listed(alive, containers.nodes(), now);
  }

  /** The cluster is this application's. */
  void claimed() {
    unclaimed = Optional.empty();
  }

  /** It cannot be told whether another application has the cluster. */
  void notClaimed(String reason) {
    unclaimed =
        Optional.of(
            "cannot ask ZooKeeper or YARN whether another application runs the cluster, so"
                + " no container is asked for yet: "
                + reason);
  }

  /** Why the cluster could not be claimed; empty if it is, or that has yet to be tried. */
  Optional<String> unclaimed() {
    return unclaimed;
  }

  void setHeadroom(OptionalLong mb) {
    headroomMb = mb;
  }

  /** Notes that YARN preempts the container; returns whether that is news. */
  boolean markPreempted(String id) {
    return containers.mark(id, marks -> marks.preempted(true));
  }

  void allocated(String id, SlotId slot, String node, Instant now) {
    slots.given(slot);
    nodes.seen(node);
    containers.allocated(id, slot, node, now);
  }

  void recovered(String id, SlotId slot, String node, Instant now) {
    if (containers.recovered(id, slot, node, now)) {
      slots.remember(slot, slots.historyOf(slot).startedOn(node));
    }
  }

  /** Notes that YARN has begun to tell this attempt of the containers of the one before. */
  void registered(Instant now) {
    containers.expectFrom(now);
  }

  /** Notes that the container is in {@code phase}; one that has ended meanwhile stays ended. */
  void enter(String id, Phase phase, Instant now) {
    Optional<HeldContainer> held = containers.enter(id, phase, now);
    if (phase == Phase.STARTING) {
      held.ifPresent(
          one -> slots.remember(one.slot(), slots.historyOf(one.slot()).startedOn(one.node())));
    }
  }

  /** The container's phase; empty when it is not held. */
  Optional<Phase> phaseOf(String id) {
    return containers.find(id).map(HeldContainer::phase);
  }

  /** Notes that a container could not be started; it is given back. */
  void launchFailed(String id, String reason, Instant now) {
    Optional<HeldContainer> held = containers.find(id);
    if (held.isPresent()) {
      SlotId slot = held.get().slot();
      slots.remember(slot, slots.historyOf(slot).failed(now, held.get().node(), reason));
      enter(id, Phase.RELEASED, now);
    }
  }

  /**
   * Notes the end of a container; returns what was known of it, empty when it is not held. If its
   * end was not seen, its process may go on, and YARN find it again.
   */
  Optional<HeldContainer> ended(String id, ContainerExit exit, Instant now) {
    if (exit.wasSeen()) {
      containers.ended(id);
    }
    Optional<HeldContainer> held = containers.remove(id);
    if (held.isPresent()) {
      slots.remember(held.get().slot(), historyAfter(held.get(), exit, now));
      countUnlessDrained(held.get(), exit.status() == 0);
    }
    return held;
  }

  /** Whether the container's end was seen, not long ago. */
  boolean hasEnded(String id) {
    return containers.hasEnded(id);
  }

  private SlotHistory historyAfter(HeldContainer held, ContainerExit exit, Instant now) {
    SlotHistory before = slots.historyOf(held.slot());
    Marks marks = held.marks();
    String node = held.node();
    if (marks.preempted() && held.ending()) {
      return before.endedInOrder(
          now, "was ended on " + node + " because YARN preempted its container");
    }
    if (marks.hang().isPresent()) {
      return before.failed(now, node, "was stopped on " + node + ": " + marks.hang().get().words());
    }
    if (held.ending() || (marks.outdated() && exit.status() == 0)) {
      return before; // It was asked to end, or an upgrade drained it.
    }
    boolean drained = exit.status() == 0 && held.hasStartedUp();
    return exit.itsOwnFault() && !drained
        ? before.failed(now, node, exit.describe(held.id(), node))
        : before.endedInOrder(now, exit.describe(held.id(), node));
  }

  /** Forgets a container whose end need not be awaited. */
  void forget(String id) {
    containers.remove(id).ifPresent(held -> countUnlessDrained(held, false));
  }

  /** A tablet server that has given its tablets away ends in order. */
  private void countUnlessDrained(HeldContainer held, boolean inOrder) {
    if (orders.isStopping() && held.slot().kind().drains() && held.hasStartedUp() && !inOrder) {
      notDrained++;
    }
  }

  /**
   * How many tablet servers ended, since all is stopped, without having given their tablets away.
   */
  int notDrained() {
    return notDrained;
  }

  /** Notes what time alone brings about. */
  void passTime(Instant now) {
    containers
        .all(held -> held.phase() == Phase.RELEASED && held.age(now).compareTo(RELEASE_WAIT) >= 0)
        .forEach(held -> forget(held.id()));
    containers.all(held -> isHealthy(held, now)).forEach(held -> slots.healthy(held.slot(), now));
  }

  private static boolean isHealthy(HeldContainer held, Instant now) {
    return held.phase() == Phase.RUNNING
        && held.hasItsLock()
        && held.age(now).compareTo(SlotHistory.PROVEN_AFTER) >= 0;
  }

  // What is to be done.

  /** Containers in which tablet servers run, or are about to. */
  Set<String> tabletServers() {
    return containers.all(held -> held.slot().kind() == ComponentKind.TABLET_SERVER).stream()
        .map(HeldContainer::id)
        .collect(Collectors.toUnmodifiableSet());
  }

  /**
   * Containers whose nodes YARN has not listed for so long that it would have reported their end if
   * it knew of them, and those of an earlier attempt that it should have reported by now. A
   * ResourceManager that has restarted does not know the containers of a node that never came back.
   */
  List<HeldContainer> unknownToYarn(Instant now) {
    return containers.all(
        held ->
            held.phase() != Phase.RELEASED
                && (nodes.isLost(held.node()) || isExpectedInVain(held, now)));
  }

  /**
   * Whether YARN has not reported a container in time though its node is there, or its process is
   * not. One whose process has its lock is waited for as long as its node is away.
   */
  private boolean isExpectedInVain(HeldContainer held, Instant now) {
    boolean nodeIsThere = nodes.listedFor(held.node(), now).compareTo(EXPECTED_WAIT) >= 0;
    return held.phase() == Phase.EXPECTED
        && held.age(now).compareTo(EXPECTED_WAIT) >= 0
        && (nodeIsThere || !held.hasItsLock() || orders.isStopping());
  }

  /**
   * Whether the container, if it is held, is to end whether or not others take its tablets: it must
   * end in time, or its time to drain is over. It is noted since when the latter holds: a server
   * that went on because no other served any more has its tablets again, and time to give them
   * away.
   */
  boolean isToEndAtOnce(String id, Instant now) {
    ApplicationSnapshot snapshot = snapshot(now);
    Optional<HeldContainer> held = containers.find(id);
    if (held.filter(snapshot::mustEndInTime).isPresent()) {
      return true;
    }
    boolean isOver =
        held.filter(one -> snapshot.isToEndUndrained(one, snapshot.containers().stream()))
            .isPresent();
    containers.mark(
        id,
        marks ->
            marks.lastAsked(
                isOver ? marks.lastAsked().or(() -> Optional.of(now)) : Optional.empty()));
    return isOver;
  }

  // What others see.

  StatusResponseProto status(Instant now) {
    return StatusResponseProto.newBuilder()
        .setStopping(orders.isStopping())
        .setNotDrained(notDrained)
        .setDeployment(orders.deployment().toProto())
        .addAllComponents(report(now).components())
        .build();
  }

  /** Why the ask has not been met yet. */
  String wait(Ask ask, Instant now) {
    return report(now).waitOf(ask);
  }

  private StatusReport report(Instant now) {
    return new StatusReport(
        snapshot(now), unclaimed, registrations.whyUnknown(now), slots.refusals(), headroomMb);
  }

  // What the next attempt must know.

  ApplicationStateProto toProto(String applicationId) {
    ApplicationStateProto.Builder proto =
        ApplicationStateProto.newBuilder()
            .setApplicationId(applicationId)
            .setNotDrained(notDrained);
    orders.writeTo(proto);
    slots.writeTo(proto);
    containers.writeTo(proto);
    registrations.writeTo(proto);
    nodes.writeTo(proto);
    return proto.build();
  }

  /**
   * Takes over what an earlier attempt knew. Of an earlier application only the nodes are kept:
   * those of its slots, where the files of its tablets lie, and those that leave.
   */
  void takeOver(StateFile.Saved saved, String applicationId, Instant now) {
    ApplicationStateProto proto = saved.state();
    boolean same = proto.getApplicationId().equals(applicationId);
    SavedTimes times =
        same ? SavedTimes.of(saved, limits.nextAttemptWithin(), now) : SavedTimes.ofAnother(now);
    slots.takeOver(proto, same, times);
    nodes.takeOver(proto, times);
    if (same) {
      orders.takeOver(proto, times);
      containers.takeOver(proto, times);
      registrations.takeOver(proto);
      notDrained = proto.getNotDrained();
    }
  }
}
