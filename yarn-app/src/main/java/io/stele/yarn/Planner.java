package io.stele.yarn;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Decides what the ApplicationMaster does next: a pure function of a {@link ApplicationSnapshot}.
 *
 * <p>Each wanted slot has at most one container, or else one ask. An ask names a node: the one that
 * the slot had before, else one without another of its kind. If a node has no room in time, the
 * next is asked for; after {@value #NAMED_NODES_MAX} nodes, any node will do. An unwanted container
 * is drained, stopped or released, depending on its phase. One that runs goes on until as many
 * others of its kind serve as are wanted, at most for as long as a replacement may take ({@link
 * ApplicationSnapshot.Limits#replacementWait}).
 *
 * <p>A slot whose container is on a node that leaves gets a second container first. Once that one
 * can take over, or the time for it is up, the first is drained, or stopped if it is a master.
 *
 * <p>No time limit of ours ends the last container of a kind that serves: its tablets would have
 * nowhere to go. It ends only once another can take over, or if an operator or YARN demands it
 * ({@link ApplicationSnapshot#mustEndInTime}). A server that an operator drains can take over from
 * none. A container that YARN preempts is drained at once: there is no room for another before it
 * has ended.
 *
 * <p>Once every tablet server was started with the deployment that containers are started with now,
 * the masters are replaced, one at a time. The upgrade ends tablet servers one after another. An
 * outdated one that never comes up cannot be asked to end, so it is stopped.
 *
 * <p>A tablet server that has lost its lock ends itself. One that does not hangs: it is stopped,
 * and another takes its place. A master that works takes the masters' lock when it is free, and
 * holds it also while it waits for HDFS. So if the lock stays free, the masters that have had time
 * to start hang, or do not reach the lock service: they are stopped. So is every process that has
 * not started up after {@link HeldContainer#START_WAIT}.
 */
final class Planner {
  private static final int NAMED_NODES_MAX = 3;

  /**
   * A node that does not kill a container within this time is bypassed: the ResourceManager is
   * told.
   */
  private static final Duration STOP_WAIT = Duration.ofSeconds(30);

  /** An outdated tablet server may take this long to register. */
  private static final Duration OUTDATED_START_WAIT = Duration.ofSeconds(30);

  private static final Comparator<HeldContainer> UPGRADE_ORDER =
      Comparator.comparing((HeldContainer held) -> held.slot().kind() == ComponentKind.MASTER)
          .thenComparing(HeldContainer::slot);

  private final ApplicationSnapshot snapshot;
  private final List<Action> actions = new ArrayList<>();

  /** Containers and asks of each kind by node, as they will be when the actions are taken. */
  private final Map<String, List<ComponentKind>> occupants = new HashMap<>();

  /** Containers that run, are too many or must leave their node, and may wait for others. */
  private final List<HeldContainer> replaceable = new ArrayList<>();

  /** Containers whose time to drain is over, but which need not end for that. */
  private final List<HeldContainer> slowDrains = new ArrayList<>();

  /** Containers that run and whose end is among the actions. */
  private final Set<HeldContainer> ending = new HashSet<>();

  private Planner(ApplicationSnapshot snapshot) {
    this.snapshot = snapshot;
  }

  /** What to do now, in this order. Asked again with the outcome, it has nothing more to do. */
  static List<Action> plan(ApplicationSnapshot snapshot) {
    return new Planner(snapshot).plan();
  }

  private List<Action> plan() {
    Optional<String> reason = reasonToGiveUp();
    if (reason.isPresent() && !snapshot.stopping()) {
      return List.of(new Action.GiveUp(reason.get()));
    }
    for (HeldContainer container : snapshot.containers()) {
      occupants
          .computeIfAbsent(container.node(), n -> new ArrayList<>())
          .add(container.slot().kind());
    }
    Map<SlotId, HeldContainer> holders = holders();
    for (HeldContainer container : snapshot.containers()) {
      HeldContainer holder = holders.getOrDefault(container.slot(), container);
      boolean hasPlace = container.equals(holder) || onLeavingNode(container);
      tend(container, hasPlace && snapshot.wants(container.slot()), holder);
    }
    endReplaceable();
    stopSlowDrains();
    Map<SlotId, Ask> asks = new TreeMap<>();
    for (Ask ask : snapshot.slots().asks()) {
      boolean unwanted = !snapshot.wants(ask.slot()) || isFilled(ask.slot(), holders);
      if (unwanted || asks.putIfAbsent(ask.slot(), ask) != null) {
        actions.add(new Action.Cancel(ask));
      } else if (ask.placement() instanceof Placement.OnNode onNode) {
        occupants.computeIfAbsent(onNode.node(), n -> new ArrayList<>()).add(ask.slot().kind());
      }
    }
    fill(holders, asks);
    if (snapshot.stopping()) {
      finish();
    }
    return List.copyOf(actions);
  }

  /**
   * The one container that fills each slot; any other in the same slot is too many, or to be
   * replaced by it.
   */
  private Map<SlotId, HeldContainer> holders() {
    // A process that serves is never replaced by one that does not, or takes no tablets, nor one
    // that runs by one that does not; of two alike the older stays.
    Comparator<HeldContainer> best =
        Comparator.comparingInt(this::rank).thenComparing(HeldContainer::id);
    return snapshot.containers().stream()
        .collect(
            Collectors.toMap(
                HeldContainer::slot, c -> c, (a, b) -> best.compare(a, b) <= 0 ? a : b));
  }

  private int rank(HeldContainer container) {
    int leaving = onLeavingNode(container) ? 10 : 0;
    return switch (container.phase()) {
      case RUNNING -> leaving + (container.hasItsLock() ? container.isDraining() ? 1 : 0 : 2);
      case STARTING -> leaving + 3;
      case CHECKING -> leaving + 4;
      case RECOVERED -> leaving + 5;
      case EXPECTED -> leaving + 6;
      case ALLOCATED -> leaving + 7;
      case DRAINING, STOPPING, RELEASED -> 20;
    };
  }

  /** Whether the slot has a container, or one that is ending, in whose place another may come. */
  private boolean isFilled(SlotId slot, Map<SlotId, HeldContainer> holders) {
    HeldContainer holder = holders.get(slot);
    return holder != null && !onLeavingNode(holder);
  }

  /**
   * @param wanted whether it is to go on, for a while at least
   * @param holder the container that fills its slot
   */
  private void tend(HeldContainer container, boolean wanted, HeldContainer holder) {
    Duration age = container.age(snapshot.now());
    switch (container.phase()) {
      case ALLOCATED ->
          actions.add(
              wanted && !onLeavingNode(container)
                  ? new Action.Launch(container)
                  : new Action.Release(container));
      case RECOVERED -> actions.add(new Action.Check(container));
      case STARTING -> {
        if (age.compareTo(HeldContainer.START_WAIT) >= 0) {
          actions.add(new Action.Release(container));
        }
      }
      case EXPECTED, CHECKING, RELEASED -> {
        // Nothing to do until its node or the ResourceManager reports.
      }
      case RUNNING -> {
        if (cannotBeAsked(container)) {
          ending.add(container);
          actions.add(new Action.Stop(container));
        } else if (snapshot.stopping()
            ? isNextToStop(container)
            : mustLeave(container, holder) || (wanted && isToBeUpgraded(container))) {
          end(container);
        } else if (!snapshot.stopping() && (!wanted || isLate(container))) {
          replaceable.add(container);
        }
      }
      case DRAINING -> {
        if (hangs(container)) {
          actions.add(new Action.Stop(container));
        } else if (snapshot.isDrainTimeOver(container)) {
          if (snapshot.mustEndInTime(container)) {
            actions.add(new Action.Stop(container));
          } else {
            slowDrains.add(container);
          }
        }
      }
      case STOPPING -> {
        if (age.compareTo(STOP_WAIT) >= 0) {
          actions.add(new Action.Release(container));
        }
      }
    }
  }

  /** Whether it must end, and would not if it were asked to. */
  private boolean cannotBeAsked(HeldContainer container) {
    boolean isOutdated =
        !container.hasStartedUp()
            && container.slot().kind() == ComponentKind.TABLET_SERVER
            && container.marks().outdated()
            && container.withoutLock().compareTo(OUTDATED_START_WAIT) >= 0;
    return isOutdated || hangs(container);
  }

  private boolean hangs(HeldContainer container) {
    return container.hang(snapshot.now()).isPresent();
  }

  /** Those with the highest numbers end first. */
  private void endReplaceable() {
    replaceable.sort(
        Comparator.comparing(HeldContainer::slot).thenComparing(HeldContainer::id).reversed());
    for (HeldContainer container : replaceable) {
      boolean isTooMany = !snapshot.wants(container.slot()) || !onLeavingNode(container);
      boolean isLate =
          isLate(container)
              || (isTooMany && !snapshot.now().isBefore(snapshot.surplusUntil(container)));
      if ((isTooMany && othersSuffice(container)) || (isLate && !isLastThatServes(container))) {
        end(container);
      }
    }
  }

  /** Whether as many others of its kind serve as are wanted. */
  private boolean othersSuffice(HeldContainer container) {
    ComponentKind kind = container.slot().kind();
    long others =
        count(
            kind,
            other -> canTakeOver(other) && !other.equals(container) && !ending.contains(other));
    return others >= snapshot.orders().countOf(kind);
  }

  /**
   * One that cannot give its tablets away takes them back, and serves them. So it is stopped only
   * some time after it was asked to end whether or not others take them: it may yet do so in order.
   */
  private void stopSlowDrains() {
    for (HeldContainer container : slowDrains) {
      boolean hadTime =
          container
              .marks()
              .lastAsked()
              .map(asked -> asked.plus(ApplicationSnapshot.LAST_ASKED_WAIT))
              .filter(latest -> !snapshot.now().isBefore(latest))
              .isPresent();
      if (hadTime && snapshot.isToEndUndrained(container, notEnding())) {
        actions.add(new Action.Stop(container));
      }
    }
  }

  private Stream<HeldContainer> notEnding() {
    return snapshot.containers().stream().filter(other -> !ending.contains(other));
  }

  private boolean isLastThatServes(HeldContainer container) {
    return snapshot.isLastThatServes(container, notEnding());
  }

  private void end(HeldContainer container) {
    ending.add(container);
    actions.add(
        container.slot().kind().drains()
            ? new Action.Drain(container)
            : new Action.Stop(container));
  }

  private void finish() {
    if (snapshot.containers().isEmpty()) {
      actions.add(new Action.Finish());
    } else if (stopRanks().isEmpty() && !holds(ComponentKind.MASTER)) {
      actions.add(new Action.RankServers());
    }
  }

  /**
   * When all is stopped, masters go first: otherwise they would move the tablets of each tablet
   * server that ends to one that is about to end. Then the tablet servers in their order: those
   * with METADATA last, as the others still write what they have unloaded.
   */
  private boolean isNextToStop(HeldContainer container) {
    if (container.slot().kind() == ComponentKind.MASTER) {
      return true;
    }
    int rank = stopRank(container);
    return stopRanks().isPresent()
        && !holds(ComponentKind.MASTER)
        && snapshot.containers().stream().noneMatch(other -> stopRank(other) < rank);
  }

  private int stopRank(HeldContainer container) {
    return stopRanks().map(ranks -> ranks.getOrDefault(container.id(), 0)).orElse(0);
  }

  private Optional<Map<String, Integer>> stopRanks() {
    return snapshot.orders().stop().flatMap(Orders.Stop::ranks);
  }

  private boolean holds(ComponentKind kind) {
    return snapshot.containers().stream().anyMatch(c -> c.slot().kind() == kind);
  }

  /** Whether YARN wants a container's room now, or soon, or another has taken its place. */
  private boolean mustLeave(HeldContainer container, HeldContainer holder) {
    if (container.marks().preempted()) {
      return true;
    }
    if (!onLeavingNode(container)) {
      return false;
    }
    boolean replaced =
        !onLeavingNode(holder)
            && canTakeOver(holder)
            && !ending.contains(holder)
            && !holder.marks().preempted();
    return replaced || (isLate(container) && snapshot.mustEndInTime(container));
  }

  /** Whether it is on a node that leaves, and its time to wait for a replacement is over. */
  private boolean isLate(HeldContainer container) {
    return onLeavingNode(container) && !snapshot.now().isBefore(snapshot.drainBy(container.node()));
  }

  /**
   * Whether it is an outdated master's turn: all others serve but those without room, and none
   * older is left.
   */
  private boolean isToBeUpgraded(HeldContainer container) {
    Optional<HeldContainer> next =
        snapshot.containers().stream().filter(held -> held.marks().outdated()).min(UPGRADE_ORDER);
    return next.equals(Optional.of(container))
        && container.slot().kind() == ComponentKind.MASTER
        && snapshot.orders().wanted().entrySet().stream()
            .allMatch(
                kind ->
                    count(kind.getKey(), held -> snapshot.isUp(held) || held.equals(container))
                            + withoutHeadroom(kind.getKey(), container)
                        >= kind.getValue());
  }

  /**
   * How many slots of the kind need not be waited for before the master ends: they have no
   * container because YARN has no room. One that has failed lately is waited for, as its next try
   * may succeed. The only master that serves also waits for each that has run before: its own room
   * may go to another application, and then there would be none.
   */
  private long withoutHeadroom(ComponentKind kind, HeldContainer master) {
    boolean onlyOne =
        kind == ComponentKind.MASTER
            && count(kind, held -> canTakeOver(held) && !held.equals(master)) == 0;
    return snapshot.slots().withoutHeadroom().stream()
        .filter(slot -> slot.kind() == kind && snapshot.wants(slot))
        .filter(slot -> snapshot.containers().stream().noneMatch(c -> c.slot().equals(slot)))
        .map(snapshot::historyOf)
        .filter(past -> past.recentFailureCount(snapshot.now()) == 0)
        .filter(past -> !onlyOne || past.lastNode().isEmpty())
        .count();
  }

  /** How many containers of the kind {@code condition} holds for. */
  private long count(ComponentKind kind, Predicate<HeldContainer> condition) {
    return snapshot.containers().stream()
        .filter(container -> container.slot().kind() == kind && condition.test(container))
        .count();
  }

  private boolean canTakeOver(HeldContainer container) {
    return snapshot.canTakeOver(container);
  }

  private boolean onLeavingNode(HeldContainer container) {
    return snapshot.nodes().isLeaving(container.node())
        && snapshot.nodes().alive().stream().anyMatch(node -> !node.leaving());
  }

  private void fill(Map<SlotId, HeldContainer> holders, Map<SlotId, Ask> asks) {
    for (ComponentKind kind : ComponentKind.values()) {
      int wanted = snapshot.stopping() ? 0 : snapshot.orders().countOf(kind);
      List<SlotId> empty = new ArrayList<>();
      for (int index = 1; index <= wanted; index++) {
        SlotId slot = new SlotId(kind, index);
        if (isFilled(slot, holders)) {
          continue;
        }
        if (asks.containsKey(slot)) {
          escalate(asks.get(slot));
        } else if (!snapshot.now().isBefore(snapshot.historyOf(slot).notBefore())) {
          empty.add(slot);
        }
      }
      // Those with a node of their own go first, so that no other slot takes it.
      List<SlotId> homeless = new ArrayList<>();
      for (SlotId slot : empty) {
        Optional<String> home = snapshot.historyOf(slot).lastNode();
        if (home.isPresent() && candidates(slot, Set.of()).contains(home.get())) {
          request(slot, new Placement.OnNode(home.get()), Set.of(), snapshot.now());
        } else {
          homeless.add(slot);
        }
      }
      for (SlotId slot : homeless) {
        request(slot, next(slot, Set.of()), Set.of(), snapshot.now());
      }
    }
  }

  private void escalate(Ask ask) {
    if (!(ask.placement() instanceof Placement.OnNode onNode)) {
      return;
    }
    boolean alive =
        snapshot.nodes().alive().isEmpty()
            || snapshot.nodes().alive().stream()
                .anyMatch(node -> node.name().equals(onNode.node()) && !node.leaving());
    Duration age = Duration.between(ask.since(), snapshot.now());
    if (alive && age.compareTo(snapshot.limits().nodeWait()) < 0) {
      return;
    }
    Set<String> tried = new HashSet<>(ask.tried());
    tried.add(onNode.node());
    actions.add(new Action.Cancel(ask));
    List<ComponentKind> there = occupants.get(onNode.node());
    if (there != null) {
      there.remove(ask.slot().kind());
    }
    request(ask.slot(), next(ask.slot(), tried), tried, ask.begun());
  }

  private void request(SlotId slot, Placement placement, Set<String> tried, Instant begun) {
    if (placement instanceof Placement.OnNode onNode) {
      occupants.computeIfAbsent(onNode.node(), n -> new ArrayList<>()).add(slot.kind());
    }
    actions.add(new Action.Request(new Ask(slot, placement, tried, snapshot.now(), begun)));
  }

  private Placement next(SlotId slot, Set<String> tried) {
    if (tried.size() >= NAMED_NODES_MAX) {
      return new Placement.Anywhere();
    }
    return candidates(slot, tried).stream()
        .findFirst()
        .<Placement>map(Placement.OnNode::new)
        .orElseGet(Placement.Anywhere::new);
  }

  /** Nodes to ask for by name, best first: none with another of the kind. */
  private List<String> candidates(SlotId slot, Set<String> tried) {
    SlotHistory history = snapshot.historyOf(slot);
    Set<String> avoid = history.nodesToAvoid(snapshot.now());
    ApplicationSnapshot.Size need = snapshot.limits().sizeOf(slot.kind());
    return snapshot.nodes().alive().stream()
        .filter(node -> !node.leaving())
        .filter(node -> node.memoryMb() >= need.memoryMb() && node.vcores() >= need.vcores())
        .filter(node -> !tried.contains(node.name()) && !avoid.contains(node.name()))
        .filter(node -> !occupantsOf(node).contains(slot.kind()))
        .sorted(
            Comparator.comparing(
                    (Node node) -> !history.lastNode().equals(Optional.of(node.name())))
                .thenComparing(node -> node.freeMemoryMb() < need.memoryMb())
                .thenComparing(node -> occupantsOf(node).size())
                .thenComparing(Node::name))
        .map(Node::name)
        .toList();
  }

  private List<ComponentKind> occupantsOf(Node node) {
    return occupants.getOrDefault(node.name(), List.of());
  }

  private Optional<String> reasonToGiveUp() {
    return snapshot.slots().history().entrySet().stream()
        .filter(entry -> snapshot.wants(entry.getKey()))
        .filter(entry -> !snapshot.slots().provenKinds().contains(entry.getKey().kind()))
        .filter(entry -> !someServes(entry.getKey().kind()))
        .filter(
            entry ->
                entry.getValue().recentFailureCount(snapshot.now())
                    >= snapshot.limits().failuresMax())
        .map(
            entry ->
                entry.getKey()
                    + " ended "
                    + entry.getValue().recentFailureCount(snapshot.now())
                    + " times and no "
                    + entry.getKey().kind().id()
                    + " has kept running; the last one: "
                    + entry.getValue().lastExit())
        .findFirst();
  }

  private boolean someServes(ComponentKind kind) {
    return snapshot.containers().stream()
        .anyMatch(held -> held.slot().kind() == kind && held.hasStartedUp());
  }
}
