package io.stele.yarn;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * Says why slots wait for containers, and decides when to say it again: after a while, then once a
 * minute. For use by one thread.
 */
final class WaitLog {
  /** Containers that arrive sooner are not worth reporting. */
  private static final Duration FIRST = Duration.ofSeconds(10);

  private static final Duration AGAIN = Duration.ofMinutes(1);

  private final Map<SlotId, Instant> said = new HashMap<>();

  /** The slots of those asks of which there is something to say now. */
  List<Ask> due(List<Ask> asks, Instant now) {
    said.keySet().retainAll(asks.stream().map(Ask::slot).toList());
    List<Ask> due = new ArrayList<>();
    for (Ask ask : asks) {
      Instant last = said.get(ask.slot());
      Instant next = last == null ? ask.begun().plus(FIRST) : last.plus(AGAIN);
      if (!now.isBefore(next)) {
        said.put(ask.slot(), now);
        due.add(ask);
      }
    }
    return due;
  }

  private record Wait(ComponentKind kind, String words) {}

  /**
   * A line for all {@code asks} for processes of a kind that wait for the same, in their order.
   *
   * @param words says what an ask waits for
   */
  static List<String> lines(List<Ask> asks, Function<Ask, String> words) {
    Map<Wait, List<SlotId>> waiting = new LinkedHashMap<>();
    for (Ask ask : asks) {
      waiting
          .computeIfAbsent(new Wait(ask.slot().kind(), words.apply(ask)), wait -> new ArrayList<>())
          .add(ask.slot());
    }
    List<String> lines = new ArrayList<>();
    waiting.forEach(
        (wait, slots) ->
            lines.add(
                AlikeComponents.named(slots.get(0).toString(), slots.size() - 1)
                    + ": "
                    + wait.words()));
    return lines;
  }

  /** How long the ask has waited, for what, and why as far as that is known. */
  static String words(
      Ask ask, long needMb, OptionalLong headroomMb, List<Node> nodes, Instant now) {
    return "asked YARN "
        + Duration.between(ask.begun(), now).toSeconds()
        + " s ago for a container of "
        + needMb
        + " MB, now "
        + ask.placement()
        + why(ask, needMb, headroomMb, nodes).map(reason -> ": " + reason).orElse("");
  }

  private static Optional<String> why(
      Ask ask, long needMb, OptionalLong headroomMb, List<Node> nodes) {
    if (headroomMb.isPresent() && headroomMb.getAsLong() < needMb) {
      return Optional.of("its queue has only " + headroomMb.getAsLong() + " MB left for it");
    }
    List<Node> possible =
        nodes.stream()
            .filter(node -> !node.leaving())
            .filter(
                node ->
                    !(ask.placement() instanceof Placement.OnNode on)
                        || on.node().equals(node.name()))
            .toList();
    long most = possible.stream().mapToLong(Node::freeMemoryMb).max().orElse(0);
    if (nodes.isEmpty() || most >= needMb) {
      return Optional.empty(); // It is about to come, or another application goes first.
    }
    return Optional.of("no such node has more than " + Math.max(0, most) + " MB free");
  }
}
