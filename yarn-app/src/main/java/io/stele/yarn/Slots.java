package io.stele.yarn;

import io.stele.wire.application.ApplicationProtos.ApplicationStateProto;
import io.stele.wire.application.ApplicationProtos.SlotStateProto;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What is known of the slots beside their containers: what YARN has been asked for, what it
 * refuses, and what is remembered over containers.
 *
 * <p>Confined to the ApplicationMaster's one thread.
 */
final class Slots {
  /** What YARN refuses is asked for again after this: queues, labels and nodes change. */
  static final Duration REFUSAL_PAUSE = Duration.ofSeconds(30);

  /** YARN gives a container within this if it has room: otherwise others go on without it. */
  private static final Duration ROOM_WAIT = Duration.ofMinutes(1);

  private final Map<SlotId, Ask> asks = new TreeMap<>();

  /** Why YARN refused the last request for a slot that has not got a container since. */
  private final Map<SlotId, String> refusals = new TreeMap<>();

  private final Map<SlotId, SlotHistory> history = new TreeMap<>();

  private final Set<ComponentKind> provenKinds = EnumSet.noneOf(ComponentKind.class);

  /**
   * What is known of the slots at a moment.
   *
   * @param asks the containers that we have requested from YARN
   * @param withoutHeadroom those for which YARN refuses a container, or has had no room for a while
   * @param history what is remembered of each
   * @param provenKinds kinds of which some process has served and kept running
   */
  record Snapshot(
      List<Ask> asks,
      Set<SlotId> withoutHeadroom,
      Map<SlotId, SlotHistory> history,
      Set<ComponentKind> provenKinds) {
    Snapshot {
      asks = List.copyOf(asks);
      withoutHeadroom = Set.copyOf(withoutHeadroom);
      history = Map.copyOf(history);
      provenKinds = Set.copyOf(provenKinds);
    }
  }

  /** The outstanding requests. */
  List<Ask> asks() {
    return List.copyOf(asks.values());
  }

  /** Notes a request to YARN. */
  void asked(Ask ask) {
    asks.put(ask.slot(), ask);
  }

  /** Notes that the slot's request was withdrawn. */
  void notAsked(SlotId slot) {
    asks.remove(slot);
  }

  /** Notes that YARN refuses the slot's request; returns whether there is one. */
  boolean refused(SlotId slot, String reason, Instant now) {
    if (asks.remove(slot) == null) {
      return false;
    }
    refusals.put(slot, reason);
    remember(slot, historyOf(slot).pausedUntil(now.plus(REFUSAL_PAUSE)));
    return true;
  }

  /** Notes that YARN has given a container for the slot. */
  void given(SlotId slot) {
    refusals.remove(slot);
  }

  /** Why YARN refuses containers, by slot. */
  Map<SlotId, String> refusals() {
    return Map.copyOf(refusals);
  }

  /** What is remembered of the slot. */
  SlotHistory historyOf(SlotId slot) {
    return history.getOrDefault(slot, SlotHistory.NEW);
  }

  /** Remembers of the slot from now on what {@code past} says. */
  void remember(SlotId slot, SlotHistory past) {
    history.put(slot, past);
  }

  /** Notes that a process of the slot serves, and has for {@link SlotHistory#PROVEN_AFTER}. */
  void healthy(SlotId slot, Instant now) {
    provenKinds.add(slot.kind());
    history.computeIfPresent(slot, (key, past) -> past.healthy(now));
  }

  Snapshot snapshot(Instant now) {
    return new Snapshot(asks(), withoutHeadroom(now), history, provenKinds);
  }

  private Set<SlotId> withoutHeadroom(Instant now) {
    Set<SlotId> slots = new TreeSet<>(refusals.keySet());
    asks.values().stream()
        .filter(ask -> !now.isBefore(ask.begun().plus(ROOM_WAIT)))
        .forEach(ask -> slots.add(ask.slot()));
    return slots;
  }

  /** Writes what the next attempt must know. */
  void writeTo(ApplicationStateProto.Builder proto) {
    history.forEach((slot, past) -> proto.addSlots(past.toProto(slot)));
    provenKinds.forEach(kind -> proto.addProvenKinds(kind.id()));
  }

  /**
   * Takes over what an earlier attempt knew.
   *
   * @param same whether it was one of this application; of another only the nodes are kept
   */
  void takeOver(ApplicationStateProto proto, boolean same, SavedTimes times) {
    for (SlotStateProto entry : proto.getSlotsList()) {
      SlotHistory past = SlotHistory.of(entry, times);
      remember(SlotId.parse(entry.getId()), same ? past : past.inAnotherApplication());
    }
    if (same) {
      proto.getProvenKindsList().forEach(kind -> provenKinds.add(ComponentKind.parse(kind)));
    }
  }
}
