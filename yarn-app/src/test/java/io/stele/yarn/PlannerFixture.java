package io.stele.yarn;

import io.stele.yarn.HeldContainer.Phase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A state of the application. {@link #planned()} tells in one line an action what is done in it.
 */
abstract class PlannerFixture {
  static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  final Map<ComponentKind, Integer> wanted =
      new HashMap<>(Map.of(ComponentKind.MASTER, 0, ComponentKind.TABLET_SERVER, 2));
  final Map<ComponentKind, Instant> wantedSince = new HashMap<>();
  final List<HeldContainer> containers = new ArrayList<>();
  final List<Ask> asks = new ArrayList<>();
  final Set<SlotId> withoutHeadroom = new HashSet<>();
  final Set<String> serving = new HashSet<>();
  final Set<String> draining = new HashSet<>();
  final Set<String> preempted = new HashSet<>();
  final Set<String> notYetRead = new HashSet<>();
  final Map<String, Instant> readAt = new HashMap<>(); // Now, if it is not said.
  final Set<String> notYetLastAsked = new HashSet<>();
  final Set<String> outdated = new HashSet<>();
  final Map<String, Duration> withoutLock = new HashMap<>();
  final List<Node> nodes = new ArrayList<>();
  final Map<String, Instant> drainBy = new HashMap<>();
  final Map<SlotId, SlotHistory> history = new HashMap<>();
  final Set<ComponentKind> proven = new HashSet<>();
  boolean stopping;
  Optional<Instant> stopBy = Optional.empty();
  Optional<Map<String, Integer>> stopRanks = Optional.empty();

  void holdMaster(String id, int index) {
    holdMaster(id, index, NOW.minus(ApplicationSnapshot.STANDBY_AFTER));
  }

  void holdMaster(String id, int index, Instant since) {
    containers.add(
        new HeldContainer(id, new SlotId(ComponentKind.MASTER, index), "a", Phase.RUNNING, since));
  }

  /** After all other containers. */
  private HeldContainer servingMaster() {
    Instant since = NOW.minus(ApplicationSnapshot.STANDBY_AFTER);
    return new HeldContainer(
        "m", new SlotId(ComponentKind.MASTER, 1), "of masters", Phase.RUNNING, since);
  }

  void aMasterServes() {
    wanted.put(ComponentKind.MASTER, 1);
    serving.add("m");
  }

  static ApplicationSnapshot.Limits limits() {
    return new ApplicationSnapshot.Limits(
        Duration.ofSeconds(5),
        Duration.ofSeconds(60),
        5,
        Duration.ofMinutes(5),
        Duration.ofMinutes(10),
        Map.of(
            ComponentKind.MASTER,
            new ApplicationSnapshot.Size(256, 1),
            ComponentKind.TABLET_SERVER,
            new ApplicationSnapshot.Size(1024, 2)));
  }

  ApplicationSnapshot snapshot() {
    return new ApplicationSnapshot(
        NOW,
        new Orders.Snapshot(
            wanted,
            wantedSince,
            stopping ? Optional.of(new Orders.Stop(stopBy, stopRanks)) : Optional.empty()),
        Stream.concat(
                containers.stream(),
                serving.contains("m") ? Stream.of(servingMaster()) : Stream.empty())
            .map(this::marked)
            .toList(),
        new Slots.Snapshot(asks, withoutHeadroom, history, proven),
        new KnownNodes.Snapshot(nodes, drainBy),
        limits());
  }

  private HeldContainer marked(HeldContainer container) {
    String id = container.id();
    HeldContainer.Marks none = HeldContainer.Marks.NONE;
    Instant lastAsked = NOW.minus(ApplicationSnapshot.LAST_ASKED_WAIT);
    return container.with(
        (notYetLastAsked.contains(id) ? none : none.lastAsked(Optional.of(lastAsked)))
            .registration(
                new HeldContainer.Registration(
                    serving.contains(id),
                    Optional.ofNullable(withoutLock.get(id)),
                    draining.contains(id),
                    notYetRead.contains(id)
                        ? Optional.empty()
                        : Optional.of(readAt.getOrDefault(id, NOW))))
            .preempted(preempted.contains(id))
            .outdated(outdated.contains(id)));
  }

  List<String> planned() {
    return Planner.plan(snapshot()).stream().map(PlannerFixture::tell).collect(Collectors.toList());
  }

  static String tell(Action action) {
    if (action instanceof Action.Request request) {
      Ask ask = request.ask();
      return "ask "
          + ask.slot()
          + (ask.placement() instanceof Placement.OnNode on ? " on " + on.node() : " anywhere");
    } else if (action instanceof Action.Cancel cancel) {
      return "cancel " + cancel.ask().slot();
    } else if (action instanceof Action.Launch launch) {
      return "launch " + launch.container().id();
    } else if (action instanceof Action.Check check) {
      return "check " + check.container().id();
    } else if (action instanceof Action.Drain drain) {
      return "drain " + drain.container().id();
    } else if (action instanceof Action.Stop stop) {
      return "stop " + stop.container().id();
    } else if (action instanceof Action.Release release) {
      return "release " + release.container().id();
    } else if (action instanceof Action.GiveUp giveUp) {
      return "give up: " + giveUp.reason();
    } else if (action instanceof Action.RankServers) {
      return "rank servers";
    }
    return "finish";
  }

  void nodes(String... names) {
    for (String name : names) {
      nodes.add(node(name, false, 4096, 4096));
    }
  }

  void hold(String id, int index, String node, Phase phase) {
    hold(id, index, node, phase, 0);
  }

  void hold(String id, int index, String node, Phase phase, long secondsAgo) {
    containers.add(new HeldContainer(id, slot(index), node, phase, NOW.minusSeconds(secondsAgo)));
  }

  static Ask ask(int index, Placement placement, Set<String> tried, long secondsAgo) {
    Instant made = NOW.minusSeconds(secondsAgo);
    return new Ask(slot(index), placement, tried, made, made);
  }

  static Node node(String name, boolean leaving, long memoryMb, long freeMemoryMb) {
    return new Node(name, leaving, Optional.empty(), memoryMb, 8, freeMemoryMb);
  }

  /** A node that leaves within a time of its own. */
  static Node leavingSoon(String name) {
    return new Node(name, true, Optional.of(Duration.ofMinutes(1)), 4096, 8, 0);
  }

  static SlotId slot(int index) {
    return new SlotId(ComponentKind.TABLET_SERVER, index);
  }
}
