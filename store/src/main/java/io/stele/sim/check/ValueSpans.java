package io.stele.sim.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

  @SuppressWarnings("ReferenceEquality") // Each span but this one.
  private Optional<String> conflict() {
    for (Span span : spans) {
      if (!span.isThroughout()) {
        continue;
      }
      for (Span other : spans) {
        long begin = Math.min(other.start(), other.end());
        long end = Math.max(other.start(), other.end());
        boolean meets =
            other.isThroughout()
                ? begin < span.start() && span.end() < end
                : span.end() < begin && end < span.start();
        if (other != span && meets) {
          return Optional.of(
              "two values at once: one from the end of the first to the beginning of the second,"
                  + text(span.firstEnded())
                  + text(span.lastBegun())
                  + "\nand another one meanwhile"
                  + text(other.firstEnded())
                  + text(other.lastBegun()));
        }
      }
      Optional<RegisterCall> between = callWithin(span);
      if (between.isPresent()) {
        return Optional.of(
            "one value from the end of the first to the beginning of the second,"
                + text(span.firstEnded())
                + text(span.lastBegun())
                + "\nand another one between them"
                + text(between.get()));
      }
    }
    return Optional.empty();
  }

  /** A call that wrote or saw another value, and took place wholly within the span. */
  private Optional<RegisterCall> callWithin(Span span) {
    return calls.stream()
        .filter(RegisterCall::isCertain)
        .filter(call -> span.end() < call.start() && call.end() < span.start())
        .filter(call -> call.values().stream().anyMatch(value -> value != span.value()))
        .findFirst();
  }

  private static String text(RegisterCall call) {
    return "\n  " + call.call();
  }
}
