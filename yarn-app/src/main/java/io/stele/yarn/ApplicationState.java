package io.stele.yarn;

import io.stele.wire.application.ApplicationProtos.ApplicationStateProto;
import io.stele.wire.application.ApplicationProtos.HeldContainerProto;
import io.stele.wire.application.ApplicationProtos.KindCountProto;
import io.stele.wire.application.ApplicationProtos.SlotStateProto;
import io.stele.wire.application.ApplicationProtos.StatusResponseProto;
import io.stele.yarn.HeldContainer.Phase;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The state of the ApplicationMaster: the containers it holds, its outstanding requests, the nodes,
 * and the history of its slots. Reports of YARN and the actions taken change it; decisions are made
 * from a {@link #snapshot}. It performs no action itself.
 *
 * <p>Confined to the ApplicationMaster's one thread.
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

  /** Between two lists no more than this counts, of nodes and of registered servers. */
  private static final Duration NODES_GAP_MAX = Duration.ofMinutes(1);

  /** Enough for YARN to stop servers, and for those with METADATA to drain after them. */
  private static final Duration STOP_RESERVE_MAX = Duration.ofSeconds(15);

  private static final Duration REGISTERED_GAP_MAX = Duration.ofSeconds(20);

  /** Operators are told when the lock service has been away for this long. */
  private static final Duration REGISTRATIONS_UNKNOWN_MAX = Duration.ofMinutes(1);

  /** What YARN refuses is asked for again after this: queues, labels and nodes change. */
  static final Duration REFUSAL_PAUSE = Duration.ofSeconds(30);

  /** YARN gives a container within this if it has room: otherwise others go on without it. */
  private static final Duration ROOM_WAIT = Duration.ofMinutes(1);

  private final ApplicationSnapshot.Limits limits;
  private final Map<ComponentKind, Integer> wanted = new EnumMap<>(ComponentKind.class);

  /** Since when other numbers are wanted than those that the application was submitted with. */
  private final Map<ComponentKind, Instant> wantedSince = new EnumMap<>(ComponentKind.class);

  private final Map<String, HeldContainer> containers = new LinkedHashMap<>();

  /** When inherited containers began to run, as the attempt before this one knew. */
  private final Map<String, Instant> runningSince = new TreeMap<>();

  private final Map<SlotId, Ask> asks = new TreeMap<>();
  private final Map<String, Node> nodes = new TreeMap<>();

  /** Since when each of the nodes has been known, without a break. */
  private final Map<String, Instant> nodesSince = new TreeMap<>();

  private final Map<SlotId, SlotHistory> history = new TreeMap<>();

  /** Why YARN refused the last request for a slot that has not got a container since. */
  private final Map<SlotId, String> refusals = new TreeMap<>();

  /** Why the cluster could not be claimed when that was last tried; empty otherwise. */
  private Optional<String> unclaimed = Optional.empty();

  /** The lock service has not said since then which processes it knows. */
  private record Unknown(Instant since, String reason) {}

  private Optional<Unknown> registrationsUnknown = Optional.empty();

  private final Set<ComponentKind> provenKinds = EnumSet.noneOf(ComponentKind.class);

  /** Nodes with containers of ours that YARN does not list. */
  private final Absences nodesAbsent = new Absences(NODES_GAP_MAX);

  /** Containers of running tablet servers that hold no lock, and of masters while none holds it. */
  private final Absences locksAbsent = new Absences(REGISTERED_GAP_MAX);

  private final LeavingNodes leaving;

  /** Containers whose process has started up, of those held. */
  private final Set<String> serving = new HashSet<>();

  /** Containers that YARN preempts, of those held. */
  private final Set<String> preempted = new HashSet<>();

  /** Containers that were stopped because their processes hung, of those held. */
  private final Map<String, HeldContainer.Hang> hung = new TreeMap<>();

  /** What containers are started with. */
  private Deployment deployment;

  /** Containers that were started with an earlier deployment, of those held. */
  private final Set<String> outdated = new TreeSet<>();

  /** Our headroom in the queue, as far as it is known. */
  private OptionalLong headroomMb = OptionalLong.empty();

  private boolean stopping;

  /** Until when servers may drain while all is stopped, if the operator has said so. */
  private Optional<Instant> stopBy = Optional.empty();

  /** Tablet servers that ended, since all is stopped, without having given their tablets away. */
  private int notDrained;

  private Optional<Map<String, Integer>> stopRanks = Optional.empty();

  /**
   * @param deployment what the application was submitted with
   */
  ApplicationState(YarnSettings settings, Deployment deployment) {
    this.limits = settings.limits();
    this.leaving = new LeavingNodes(limits.nodeExpiry());
    this.deployment = deployment;
    settings.kinds().forEach((kind, component) -> wanted.put(kind, component.count()));
  }

  ApplicationSnapshot.Limits limits() {
    return limits;
  }

  ApplicationSnapshot snapshot(Instant now) {
    return new ApplicationSnapshot(
        now,
        wanted,
        wantedSince,
        stopping,
        stopBy,
        List.copyOf(containers.values()),
        serving,
        preempted,
        outdated,
        withoutLock(),
        asks(),
        withoutHeadroom(now),
        List.copyOf(nodes.values()),
        drainBy(now),
        history,
        provenKinds,
        stopRanks,
        limits);
  }

  private Map<String, Instant> drainBy(Instant now) {
    return nodes.values().stream()
        .filter(Node::leaving)
        .collect(
            Collectors.toMap(
                Node::name,
                node ->
                    leaving
                        .since(node.name(), now)
                        .plus(limits.replacementWait(node.timeToLeave()))));
  }

  private Set<SlotId> withoutHeadroom(Instant now) {
    Set<SlotId> slots = new TreeSet<>(refusals.keySet());
    asks.values().stream()
        .filter(ask -> !now.isBefore(ask.begun().plus(ROOM_WAIT)))
        .forEach(ask -> slots.add(ask.slot()));
    return slots;
  }

  /** The outstanding requests. */
  List<Ask> asks() {
    return List.copyOf(asks.values());
  }

  // What we were told.

  void want(ComponentKind kind, int count, Instant now) {
    if (!Integer.valueOf(count).equals(wanted.put(kind, count))) {
      wantedSince.put(kind, now);
    }
  }

  /**
   * Notes that all is to end.
   *
   * @param timeout for how long the operator waits; empty if each server has the time to drain that
   *     is configured
   */
  void stop(Optional<Duration> timeout, Instant now) {
    stopping = true;
    stopBy = timeout.map(all -> now.plus(all).minus(stopReserve(all)));
  }

  /** What is left of the operator's time when servers that drain are stopped: they must end too. */
  private static Duration stopReserve(Duration timeout) {
    Duration quarter = timeout.dividedBy(4);
    return quarter.compareTo(STOP_RESERVE_MAX) < 0 ? quarter : STOP_RESERVE_MAX;
  }

  /**
   * How long servers with METADATA may take to unload all else before any server ends: half of the
   * time that is left, so that the others have the other half.
   */
  Duration unloadTimeout(Instant now) {
    Duration half =
        stopBy.map(by -> Duration.between(now, by).dividedBy(2)).orElse(limits.drainTimeout());
    return half.isNegative() ? Duration.ZERO : half;
  }

  /**
   * How many tablet servers ended, since all is stopped, without having given their tablets away.
   */
  int notDrained() {
    return notDrained;
  }

  /** Notes what containers are started with from now on. */
  void deploy(Deployment next) {
    if (next.equals(deployment)) {
      return;
    }
    deployment = next;
    containers.values().stream()
        .filter(container -> container.phase() != Phase.ALLOCATED && !container.ending())
        .forEach(container -> outdated.add(container.id()));
  }

  /** What containers are started with. */
  Deployment deployment() {
    return deployment;
  }

  boolean isStopping() {
    return stopping;
  }

  void setStopRanks(Map<String, Integer> ranks) {
    stopRanks = Optional.of(ranks);
  }

  /** Containers in which tablet servers run, or are about to. */
  Set<String> tabletServers() {
    return containers.values().stream()
        .filter(container -> container.slot().kind() == ComponentKind.TABLET_SERVER)
        .map(HeldContainer::id)
        .collect(Collectors.toUnmodifiableSet());
  }

  void replaceNodes(Collection<Node> alive, Instant now) {
    nodes.clear();
    alive.forEach(node -> updateNode(node, now));
    nodesSince.keySet().retainAll(nodes.keySet());
    if (nodes.isEmpty()) { // As it is when the ResourceManager has just begun.
      nodesUnknown();
    } else {
      Set<String> ours =
          containers.values().stream().map(HeldContainer::node).collect(Collectors.toSet());
      nodesAbsent.listed(ours, nodes.keySet(), now);
      leaving.listed(nodes.keySet(), now);
    }
  }

  /** Whether any node is known: a ResourceManager that has just begun knows none. */
  boolean knowsNodes() {
    return !nodes.isEmpty();
  }

  /** Notes that nodes could not be listed. */
  void nodesUnknown() {
    nodesAbsent.missedList();
    leaving.missedList();
  }

  /**
   * Containers whose nodes YARN has not listed for so long that it would have reported their end if
   * it knew of them, and those of an earlier attempt that it should have reported by now. A
   * ResourceManager that has restarted does not know the containers of a node that never came back.
   */
  List<HeldContainer> unknownToYarn(Instant now) {
    return containers.values().stream()
        .filter(container -> container.phase() != Phase.RELEASED)
        .filter(
            container ->
                nodesAbsent.of(container.node()).compareTo(limits.nodeExpiry()) >= 0
                    || isExpectedInVain(container, now))
        .toList();
  }

  /**
   * Whether YARN has not reported a container in time though its node is there, or its process is
   * not. One whose process has its lock is waited for as long as its node is away.
   */
  private boolean isExpectedInVain(HeldContainer container, Instant now) {
    Instant nodeSince = nodesSince.getOrDefault(container.node(), now);
    boolean nodeIsThere = Duration.between(nodeSince, now).compareTo(EXPECTED_WAIT) >= 0;
    return container.phase() == Phase.EXPECTED
        && since(container, now).compareTo(EXPECTED_WAIT) >= 0
        && (nodeIsThere || !holdsLock(container) || stopping);
  }

  void updateNode(Node node, Instant now) {
    nodes.put(node.name(), node);
    nodesSince.putIfAbsent(node.name(), now);
    nodesAbsent.seen(node.name());
    leaving.seen(node, now);
  }

  void removeNode(String name) {
    nodes.remove(name);
    nodesSince.remove(name);
  }

  /** The cluster is this application's. */
  void claimed() {
    unclaimed = Optional.empty();
  }

  /** It cannot be told whether another application has the cluster. */
  void notClaimed(String reason) {
    unclaimed =
        Optional.of(
            "cannot ask the lock service or YARN whether another application runs the cluster, so"
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
    return containers.containsKey(id) && preempted.add(id);
  }

  /** Notes that YARN refuses the slot's request; returns whether there is one. */
  boolean refused(SlotId slot, String reason, Instant now) {
    if (asks.remove(slot) == null) {
      return false;
    }
    refusals.put(slot, reason);
    history.put(slot, historyOf(slot).pausedUntil(now.plus(REFUSAL_PAUSE)));
    return true;
  }

  void allocated(String id, SlotId slot, String node, Instant now) {
    refusals.remove(slot);
    nodesAbsent.seen(node);
    containers.putIfAbsent(id, new HeldContainer(id, slot, node, Phase.ALLOCATED, now));
  }

  void recovered(String id, SlotId slot, String node, Instant now) {
    HeldContainer known = containers.get(id);
    if (known == null || known.phase() == Phase.EXPECTED) {
      containers.put(id, new HeldContainer(id, slot, node, Phase.RECOVERED, now));
      history.put(slot, historyOf(slot).startedOn(node));
    }
  }

  /** Notes that YARN has begun to tell this attempt of the containers of the one before. */
  void registered(Instant now) {
    containers.replaceAll(
        (id, held) -> held.phase() == Phase.EXPECTED ? held.in(Phase.EXPECTED, now) : held);
  }

  /** Notes that the container is in {@code phase}; one that has ended meanwhile stays ended. */
  void enter(String id, Phase phase, Instant now) {
    HeldContainer before = containers.get(id);
    if (before != null && before.phase() == Phase.RUNNING && phase == Phase.STOPPING) {
      before
          .hang(serving.contains(id), locksAbsent.of(id), now)
          .ifPresent(how -> hung.put(id, how));
    }
    Instant since = phase == Phase.RUNNING ? runningSince.getOrDefault(id, now) : now;
    HeldContainer container =
        containers.computeIfPresent(id, (key, known) -> known.in(phase, since));
    if (container != null && phase == Phase.STARTING) {
      history.put(container.slot(), historyOf(container.slot()).startedOn(container.node()));
    }
  }

  /** The container's phase; empty when it is not held. */
  Optional<Phase> phaseOf(String id) {
    return Optional.ofNullable(containers.get(id)).map(HeldContainer::phase);
  }

  /** Notes that a container could not be started; it is given back. */
  void launchFailed(String id, String reason, Instant now) {
    HeldContainer container = containers.get(id);
    if (container != null) {
      history.put(
          container.slot(), historyOf(container.slot()).failed(now, container.node(), reason));
      enter(id, Phase.RELEASED, now);
    }
  }

  /** What was noted of a container besides its phase; it is forgotten with the container. */
  private record Flags(
      boolean served, boolean preempted, Optional<HeldContainer.Hang> hang, boolean outdated) {}

  private Flags takeFlags(String id) {
    runningSince.remove(id);
    return new Flags(
        serving.remove(id),
        preempted.remove(id),
        Optional.ofNullable(hung.remove(id)),
        outdated.remove(id));
  }

  /** Notes the end of a container; returns what was known of it, empty when it is not held. */
  Optional<HeldContainer> ended(String id, ContainerExit exit, Instant now) {
    HeldContainer container = containers.remove(id);
    Flags flags = takeFlags(id);
    if (container != null) {
      history.put(container.slot(), historyAfter(container, exit, flags, now));
      countUnlessDrained(container, flags, exit.status() == 0);
    }
    return Optional.ofNullable(container);
  }

  private SlotHistory historyAfter(
      HeldContainer container, ContainerExit exit, Flags flags, Instant now) {
    SlotHistory before = historyOf(container.slot());
    String node = container.node();
    if (flags.preempted() && container.ending()) {
      return before.endedInOrder(
          now, "was ended on " + node + " because YARN preempted its container");
    }
    if (flags.hang().isPresent()) {
      return before.failed(now, node, "was stopped on " + node + ": " + flags.hang().get().words());
    }
    if (container.ending() || (flags.outdated() && exit.status() == 0)) {
      return before; // It was asked to end, or an upgrade drained it.
    }
    boolean drained = exit.status() == 0 && flags.served();
    return exit.itsOwnFault() && !drained
        ? before.failed(now, node, exit.describe(container.id(), node))
        : before.endedInOrder(now, exit.describe(container.id(), node));
  }

  /** Forgets a container whose end need not be awaited. */
  void forget(String id) {
    HeldContainer container = containers.remove(id);
    Flags flags = takeFlags(id);
    if (container != null) {
      countUnlessDrained(container, flags, false);
    }
  }

  /** A tablet server that has given its tablets away ends in order. */
  private void countUnlessDrained(HeldContainer container, Flags flags, boolean inOrder) {
    if (stopping && container.slot().kind().drains() && flags.served() && !inOrder) {
      notDrained++;
    }
  }

  /** Whether some process runs and is not known to have started up. */
  boolean someStart() {
    return containers.values().stream()
        .anyMatch(held -> held.phase() == Phase.RUNNING && !serving.contains(held.id()));
  }

  /**
   * Containers of which the lock service may know something new. A tablet server holds a lock as
   * long as it serves, also while it drains; of the masters that serve one does.
   */
  Map<String, ComponentKind> toBeRegistered() {
    Map<String, ComponentKind> running = new TreeMap<>();
    for (HeldContainer container : containers.values()) {
      if (container.phase() == Phase.RUNNING
          || container.phase() == Phase.DRAINING
          || container.phase() == Phase.EXPECTED) {
        running.put(container.id(), container.slot().kind());
      }
    }
    return running;
  }

  /** Notes which of the containers asked for have processes that the lock service knows. */
  void updateRegistered(Set<String> asked, Set<String> registered, Instant now) {
    registrationsUnknown = Optional.empty();
    registered.stream().filter(containers::containsKey).forEach(serving::add);
    locksAbsent.listed(
        asked.stream().filter(containers::containsKey).collect(Collectors.toSet()),
        registered,
        now);
  }

  /** Notes that the lock service does not say which processes it knows. */
  void registrationsUnknown(String reason, Instant now) {
    locksAbsent.missedList();
    Instant since = registrationsUnknown.map(Unknown::since).orElse(now);
    registrationsUnknown = Optional.of(new Unknown(since, reason));
  }

  /** Why it is not known which processes serve; empty if it is, or has not been for a moment. */
  private Optional<String> registrationsUnknown(Instant now) {
    return registrationsUnknown
        .filter(
            unknown ->
                Duration.between(unknown.since(), now).compareTo(REGISTRATIONS_UNKNOWN_MAX) >= 0)
        .map(
            unknown ->
                "the lock service has not answered the ApplicationMaster for "
                    + Duration.between(unknown.since(), now).toSeconds()
                    + " s, so it does not see which processes serve, and replaces none that hangs: "
                    + unknown.reason());
  }

  private Map<String, Duration> withoutLock() {
    return containers.keySet().stream()
        .filter(locksAbsent::isAbsent)
        .collect(Collectors.toMap(id -> id, locksAbsent::of));
  }

  /** Notes what time alone brings about. */
  void passTime(Instant now) {
    containers.values().stream()
        .filter(c -> c.phase() == Phase.RELEASED && since(c, now).compareTo(RELEASE_WAIT) >= 0)
        .map(HeldContainer::id)
        .toList()
        .forEach(this::forget);
    for (HeldContainer container : containers.values()) {
      if (isHealthy(container) && since(container, now).compareTo(SlotHistory.PROVEN_AFTER) >= 0) {
        provenKinds.add(container.slot().kind());
        history.computeIfPresent(container.slot(), (slot, past) -> past.healthy(now));
      }
    }
  }

  private boolean isHealthy(HeldContainer container) {
    return container.phase() == Phase.RUNNING && holdsLock(container);
  }

  /** Whether its process has its lock, or some master the masters' if it is one, when last told. */
  private boolean holdsLock(HeldContainer container) {
    return serving.contains(container.id()) && !locksAbsent.isAbsent(container.id());
  }

  private static Duration since(HeldContainer container, Instant now) {
    return Duration.between(container.since(), now);
  }

  // What we did.

  void asked(Ask ask) {
    asks.put(ask.slot(), ask);
  }

  void notAsked(SlotId slot) {
    asks.remove(slot);
  }

  // What others see.

  StatusResponseProto status(Instant now) {
    return StatusResponseProto.newBuilder()
        .setStopping(stopping)
        .setNotDrained(notDrained)
        .setDeployment(deployment.toProto())
        .addAllComponents(report(now).components())
        .build();
  }

  /** Why the ask has not been met yet. */
  String wait(Ask ask, Instant now) {
    return report(now).waitOf(ask);
  }

  private StatusReport report(Instant now) {
    return new StatusReport(
        snapshot(now), unclaimed, registrationsUnknown(now), refusals, headroomMb);
  }

  // What the next attempt must know.

  ApplicationStateProto toProto(String applicationId) {
    ApplicationStateProto.Builder proto =
        ApplicationStateProto.newBuilder().setApplicationId(applicationId).setStopping(stopping);
    stopBy.ifPresent(by -> proto.setStopByMillis(by.toEpochMilli()));
    proto.setNotDrained(notDrained);
    wanted.forEach(
        (kind, count) -> {
          KindCountProto.Builder entry =
              KindCountProto.newBuilder().setKind(kind.id()).setCount(count);
          Optional.ofNullable(wantedSince.get(kind))
              .ifPresent(since -> entry.setSinceMillis(since.toEpochMilli()));
          proto.addCounts(entry);
        });
    history.forEach((slot, past) -> proto.addSlots(past.toProto(slot)));
    provenKinds.forEach(kind -> proto.addProvenKinds(kind.id()));
    proto.setDeployment(deployment.toProto()).addAllOutdated(outdated);
    serving.stream().filter(containers::containsKey).sorted().forEach(proto::addServing);
    proto.addAllLeavingNodes(leaving.toProto());
    containers.values().stream()
        .filter(held -> held.phase() != Phase.ALLOCATED && held.phase() != Phase.RELEASED)
        .forEach(held -> proto.addContainers(toProto(held)));
    return proto.build();
  }

  private HeldContainerProto toProto(HeldContainer held) {
    HeldContainerProto.Builder proto =
        HeldContainerProto.newBuilder()
            .setId(held.id())
            .setSlot(held.slot().toString())
            .setNode(held.node());
    Optional.ofNullable(held.phase() == Phase.RUNNING ? held.since() : runningSince.get(held.id()))
        .ifPresent(since -> proto.setRunningSinceMillis(since.toEpochMilli()));
    return proto.build();
  }

  /**
   * Takes over what an earlier attempt knew. Of an earlier application only the nodes are kept:
   * those of its slots, where the files of its tablets lie, and those that leave.
   */
  void takeOver(ApplicationStateProto proto, String applicationId, Instant now) {
    boolean same = proto.getApplicationId().equals(applicationId);
    for (SlotStateProto entry : proto.getSlotsList()) {
      SlotHistory past = SlotHistory.of(entry, now);
      history.put(SlotId.parse(entry.getId()), same ? past : past.inAnotherApplication());
    }
    leaving.takeOver(proto.getLeavingNodesList(), now);
    if (same) {
      stopping = proto.getStopping();
      if (proto.hasStopByMillis()) {
        stopBy = Optional.of(Instant.ofEpochMilli(proto.getStopByMillis()));
      }
      notDrained = proto.getNotDrained();
      for (KindCountProto count : proto.getCountsList()) {
        ComponentKind kind = ComponentKind.parse(count.getKind());
        wanted.put(kind, count.getCount());
        if (count.hasSinceMillis()) {
          wantedSince.put(kind, earlier(count.getSinceMillis(), now));
        }
      }
      proto.getProvenKindsList().forEach(kind -> provenKinds.add(ComponentKind.parse(kind)));
      if (proto.hasDeployment()) {
        deployment = Deployment.of(proto.getDeployment());
      }
      outdated.addAll(proto.getOutdatedList());
      serving.addAll(proto.getServingList());
      for (HeldContainerProto held : proto.getContainersList()) {
        SlotId slot = SlotId.parse(held.getSlot());
        containers.put(
            held.getId(),
            new HeldContainer(held.getId(), slot, held.getNode(), Phase.EXPECTED, now));
        if (held.hasRunningSinceMillis()) {
          runningSince.put(held.getId(), earlier(held.getRunningSinceMillis(), now));
        }
      }
    }
  }

  /** A time by the clock of an earlier attempt, which may have been ahead. */
  private static Instant earlier(long millis, Instant now) {
    Instant time = Instant.ofEpochMilli(millis);
    return time.isBefore(now) ? time : now;
  }

  private SlotHistory historyOf(SlotId slot) {
    return history.getOrDefault(slot, SlotHistory.NEW);
  }
}
