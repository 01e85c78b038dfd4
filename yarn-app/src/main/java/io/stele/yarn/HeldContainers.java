package io.stele.yarn;

import io.stele.wire.application.ApplicationProtos.ApplicationStateProto;
import io.stele.wire.application.ApplicationProtos.HeldContainerProto;
import io.stele.yarn.HeldContainer.Marks;
import io.stele.yarn.HeldContainer.Phase;
import io.stele.yarn.HeldContainer.Registration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * The containers that YARN has given us and not yet reported as ended, with what was noted of them.
 *
 * <p>Confined to the ApplicationMaster's one thread.
 */
final class HeldContainers {
  /** An answer of YARN has fewer. */
  private static final int ENDED_KEPT = 10_000;

  private final Map<String, HeldContainer> held = new LinkedHashMap<>();

  /** Marks of containers that an earlier attempt had given back: YARN may tell of them yet. */
  private final Map<String, Marks> givenBack = new HashMap<>();

  /** Of containers that have ended the last ones: YARN may yet list them as those that it found. */
  private final Deque<String> ended = new ArrayDeque<>();

  /** All of them, in the order in which they came. */
  List<HeldContainer> all() {
    return List.copyOf(held.values());
  }

  /** Those for which {@code condition} holds, in the order in which they came. */
  List<HeldContainer> all(Predicate<HeldContainer> condition) {
    return held.values().stream().filter(condition).toList();
  }

  /** The container; empty when it is not held. */
  Optional<HeldContainer> find(String id) {
    return Optional.ofNullable(held.get(id));
  }

  /** The nodes that they are on. */
  Set<String> nodes() {
    return held.values().stream().map(HeldContainer::node).collect(Collectors.toUnmodifiableSet());
  }

  /** Notes a container that YARN has given. */
  void allocated(String id, SlotId slot, String node, Instant now) {
    held.putIfAbsent(id, new HeldContainer(id, slot, node, Phase.ALLOCATED, now));
  }

  /** Notes a container that YARN had given to an earlier attempt; returns whether that is news. */
  boolean recovered(String id, SlotId slot, String node, Instant now) {
    HeldContainer known = held.get(id);
    if (known != null && known.phase() != Phase.EXPECTED) {
      return false;
    }
    Marks marks = known == null ? marksOf(id) : known.marks();
    held.put(id, new HeldContainer(id, slot, node, Phase.RECOVERED, now, marks));
    return true;
  }

  /** Those that are expected are expected from {@code now} on. */
  void expectFrom(Instant now) {
    held.replaceAll((id, one) -> one.phase() == Phase.EXPECTED ? one.in(Phase.EXPECTED, now) : one);
  }

  /**
   * Notes that the container is in {@code phase}; one that has ended meanwhile stays ended.
   *
   * @return the container as it is now; empty when it is not held
   */
  Optional<HeldContainer> enter(String id, Phase phase, Instant now) {
    HeldContainer before = held.get(id);
    if (before == null) {
      return Optional.empty();
    }
    HeldContainer after = before.in(phase, now);
    if (phase == Phase.RUNNING) {
      Instant since = before.marks().runningSince().orElse(now);
      after = before.in(phase, since).with(before.marks().runningSince(since));
    } else if (before.phase() == Phase.RUNNING && phase == Phase.STOPPING) {
      after = after.with(before.marks().hang(before.hang(now)));
    }
    held.put(id, after);
    return Optional.of(after);
  }

  /** Notes something of the container; returns whether that is news. */
  boolean mark(String id, UnaryOperator<Marks> change) {
    HeldContainer before = held.get(id);
    if (before == null) {
      return false;
    }
    HeldContainer after = before.with(change.apply(before.marks()));
    held.put(id, after);
    return !after.equals(before);
  }

  /**
   * The process in a container has certainly ended, so the container is never held again. When a
   * node comes back to a ResourceManager that has restarted, one answer may have both that a
   * container was found there, and that it has ended. The ends are told first, and once: held after
   * that, it would seem to run for ever.
   */
  void ended(String id) {
    ended.add(id);
    if (ended.size() > ENDED_KEPT) {
      ended.remove();
    }
  }

  /** Whether {@link #ended} was called for the container, not long ago. */
  boolean hasEnded(String id) {
    return ended.contains(id);
  }

  /** Forgets a container; returns what was known of it, empty when it was not held. */
  Optional<HeldContainer> remove(String id) {
    givenBack.remove(id);
    return Optional.ofNullable(held.remove(id));
  }

  /** Writes what the next attempt must know. */
  void writeTo(ApplicationStateProto.Builder proto) {
    marked(Marks::outdated).forEach(proto::addOutdated);
    marked(marks -> marks.registration().startedUp()).forEach(proto::addStartedUp);
    held.values().stream()
        .filter(one -> one.phase() != Phase.ALLOCATED && one.phase() != Phase.RELEASED)
        .forEach(one -> proto.addContainers(toProto(one)));
  }

  /** The ids of all containers, given back or not, that have the mark; in one order. */
  private List<String> marked(Predicate<Marks> mark) {
    Map<String, Marks> all = new TreeMap<>(givenBack);
    held.forEach((id, one) -> all.put(id, one.marks()));
    return all.keySet().stream().filter(id -> mark.test(all.get(id))).toList();
  }

  private static HeldContainerProto toProto(HeldContainer one) {
    HeldContainerProto.Builder proto =
        HeldContainerProto.newBuilder()
            .setId(one.id())
            .setSlot(one.slot().toString())
            .setNode(one.node());
    one.marks()
        .runningSince()
        .ifPresent(since -> proto.setRunningSinceMillis(since.toEpochMilli()));
    return proto.build();
  }

  /** Expects the containers that an earlier attempt of this application held. */
  void takeOver(ApplicationStateProto proto, SavedTimes times) {
    proto
        .getStartedUpList()
        .forEach(id -> givenBack.put(id, marksOf(id).registration(Registration.SERVING)));
    proto.getOutdatedList().forEach(id -> givenBack.put(id, marksOf(id).outdated(true)));
    for (HeldContainerProto one : proto.getContainersList()) {
      Marks marks = marksOf(one.getId());
      if (one.hasRunningSinceMillis()) {
        marks = marks.runningSince(times.past(one.getRunningSinceMillis()));
      }
      SlotId slot = SlotId.parse(one.getSlot());
      held.put(
          one.getId(),
          new HeldContainer(one.getId(), slot, one.getNode(), Phase.EXPECTED, times.now(), marks));
      givenBack.remove(one.getId()); // It was held.
    }
  }

  private Marks marksOf(String id) {
    return givenBack.getOrDefault(id, Marks.NONE);
  }
}
