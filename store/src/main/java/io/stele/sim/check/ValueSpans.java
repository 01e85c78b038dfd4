package io.stele.sim.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A quick way to show that a register is not linearizable ("zones" of Gibbons and Korach, 1997): a
 * value that is written only once is the register's value from the first end to the last beginning
 * of the calls that wrote or read it, and no other value is during that time.
 *
 * <p>It finds most of what is wrong, and says it best, but not all: {@link RegisterSearch} decides.
 */
final class ValueSpans {
  private final List<RegisterCall> calls;
  private final List<Span> spans;

  /** The calls of one value; the register has it between the two, whichever is first. */
  private record Span(int value, RegisterCall firstEnded, RegisterCall lastBegun) {
    long end() {
      return firstEnded.end();
    }

    long start() {
      return lastBegun.start();
    }

    boolean isThroughout() {
      return end() < start();
    }

    Span with(RegisterCall call) {
      return new Span(
          value, call.end() < end() ? call : firstEnded, call.start() > start() ? call : lastBegun);
    }
  }

  private ValueSpans(List<RegisterCall> calls, List<Span> spans) {
    this.calls = calls;
    this.spans = spans;
  }

  /** What cannot be, if this shows it. */
  static Optional<String> conflict(List<RegisterCall> calls) {
    Map<Integer, Integer> comings = RegisterCall.comings(calls);
    SortedMap<Integer, Span> spans = new TreeMap<>();
    for (RegisterCall call : calls) {
      if (call.isObserver() && comings.getOrDefault(call.observed(), 0) == 0) {
        return Optional.of("nobody wrote what this call saw:" + text(call));
      }
      if (call.isCertain() && call.end() < call.start()) {
        return Optional.of("what this call wrote was seen before it began:" + text(call));
      }
      if (call.isCertain()) {
        call.values().stream()
            .filter(value -> value != RegisterCall.UNSEEN && comings.getOrDefault(value, 0) == 1)
            .forEach(
                value -> spans.merge(value, new Span(value, call, call), (a, b) -> a.with(call)));
      }
    }
    return new ValueSpans(calls, new ArrayList<>(spans.values())).conflict();
  }

  private Optional<String> conflict() {
    NavigableMap<Long, Span> throughout = new TreeMap<>(); // By their first end.
    for (Span span : spans) {
      if (span.isThroughout()) {
        Map.Entry<Long, Span> before = throughout.floorEntry(span.start());
        if (before != null && before.getValue().start() > span.end()) {
          return Optional.of(twoAtOnce(before.getValue(), span));
        }
        throughout.put(span.end(), span);
      }
    }
    for (Span span : spans) {
      Optional<Span> around = around(throughout, span.start(), span.end());
      if (!span.isThroughout() && around.isPresent()) {
        return Optional.of(twoAtOnce(around.get(), span));
      }
    }
    for (RegisterCall call : calls) {
      Optional<Span> around = around(throughout, call.start(), call.end());
      if (call.isCertain()
          && around.isPresent()
          && call.values().stream().anyMatch(value -> value != around.get().value())) {
        return Optional.of(oneBetween(around.get(), call));
      }
    }
    return Optional.empty();
  }

  /** The one of {@code spans}, of which no two meet, that has all between the two inside it. */
  private static Optional<Span> around(NavigableMap<Long, Span> spans, long begin, long end) {
    return Optional.ofNullable(spans.lowerEntry(begin))
        .map(Map.Entry::getValue)
        .filter(span -> end < span.start());
  }

  private static String twoAtOnce(Span one, Span other) {
    return "two values at once: one from the end of the first to the beginning of the second,"
        + text(one.firstEnded())
        + text(one.lastBegun())
        + "\nand another one meanwhile"
        + text(other.firstEnded())
        + text(other.lastBegun());
  }

  private static String oneBetween(Span span, RegisterCall call) {
    return "one value from the end of the first to the beginning of the second,"
        + text(span.firstEnded())
        + text(span.lastBegun())
        + "\nand another one between them"
        + text(call);
  }

  private static String text(RegisterCall call) {
    return "\n  " + call.call();
  }
}
