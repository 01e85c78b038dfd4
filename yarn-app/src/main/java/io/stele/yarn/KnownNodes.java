package io.stele.yarn;

import io.stele.wire.application.ApplicationProtos.ApplicationStateProto;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The nodes that YARN lists, since when it does, and those with containers of ours that it has
 * ceased to list.
 *
 * <p>Confined to the ApplicationMaster's one thread.
 */
final class KnownNodes {
  /** Between two lists no more than this counts. */
  private static final Duration GAP_MAX = Duration.ofMinutes(1);

  private final ApplicationSnapshot.Limits limits;
  private final Map<String, Node> nodes = new TreeMap<>();

  /** Since when each of the nodes has been known, without a break. */
  private final Map<String, Instant> since = new TreeMap<>();

  /** Nodes with containers of ours that YARN does not list. */
  private final Absences absent = new Absences(GAP_MAX);

  private final LeavingNodes leaving;

  /**
   * What is known of the nodes at a moment.
   *
   * @param alive those that YARN reports as alive; empty when not known yet
   * @param drainBy when what runs on a node that leaves must begin to drain, by node
   */
  record Snapshot(List<Node> alive, Map<String, Instant> drainBy) {
    Snapshot {
      alive = List.copyOf(alive);
      drainBy = Map.copyOf(drainBy);
    }

    /** Whether YARN wants the node to be left. */
    boolean isLeaving(String name) {
      return alive.stream().anyMatch(node -> node.leaving() && node.name().equals(name));
    }
  }

  /** No node is known. */
  KnownNodes(ApplicationSnapshot.Limits limits) {
    this.limits = limits;
    this.leaving = new LeavingNodes(limits.nodeExpiry());
  }

  /** Whether any node is known: a ResourceManager that has just begun knows none. */
  boolean any() {
    return !nodes.isEmpty();
  }

  /**
   * Notes a list of all nodes.
   *
   * @param ours the nodes with containers of ours
   */
  void listed(Collection<Node> alive, Set<String> ours, Instant now) {
    nodes.clear();
    alive.forEach(node -> updated(node, now));
    since.keySet().retainAll(nodes.keySet());
    if (nodes.isEmpty()) { // As it is when the ResourceManager has just begun.
      missedList();
    } else {
      absent.listed(ours, nodes.keySet(), now);
      leaving.listed(nodes.keySet(), now);
    }
  }

  /** Notes that no list could be made. */
  void missedList() {
    absent.missedList();
    leaving.missedList();
  }

  /** Notes what YARN reports of one node. */
  void updated(Node node, Instant now) {
    nodes.put(node.name(), node);
    since.putIfAbsent(node.name(), now);
    absent.seen(node.name());
    leaving.seen(node, now);
  }

  /** Notes that YARN reports the node as gone, or of no use. */
  void removed(String name) {
    nodes.remove(name);
    since.remove(name);
  }

  /** Notes that YARN has given a container on the node, so it is there. */
  void seen(String name) {
    absent.seen(name);
  }

  /** For how long YARN has listed the node without a break; zero if it does not. */
  Duration listedFor(String name, Instant now) {
    return Duration.between(since.getOrDefault(name, now), now);
  }

  /**
   * Whether YARN has not listed the node for so long that it would have reported the end of its
   * containers if it knew of them.
   */
  boolean isLost(String name) {
    return absent.of(name).compareTo(limits.nodeExpiry()) >= 0;
  }

  Snapshot snapshot(Instant now) {
    return new Snapshot(
        List.copyOf(nodes.values()),
        nodes.values().stream()
            .filter(Node::leaving)
            .collect(Collectors.toMap(Node::name, node -> drainBy(node, now))));
  }

  private Instant drainBy(Node node, Instant now) {
    return leaving.since(node.name(), now).plus(limits.replacementWait(node.timeToLeave()));
  }

  /** Writes what the next attempt must know. */
  void writeTo(ApplicationStateProto.Builder proto) {
    proto.addAllLeavingNodes(leaving.toProto());
  }

  /** Takes over what an earlier attempt knew, be it of another application. */
  void takeOver(ApplicationStateProto proto, SavedTimes times) {
    leaving.takeOver(proto.getLeavingNodesList(), times);
  }
}
