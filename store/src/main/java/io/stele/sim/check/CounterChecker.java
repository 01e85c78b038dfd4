package io.stele.sim.check;

import io.stele.model.Bytes;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Whether increments counted exactly once.
 *
 * <p>An increment answered with {@code v} took the counter from {@code v - amount} to {@code v}. So
 * no two may share a part of that, no read may fall inside it, and whatever is answered is at least
 * what had been answered or acknowledged before the call began, and at most the sum of all
 * increments begun before it ended that were not rejected. What is read back is the sum of those
 * answered and of some of the unknown ones.
 */
public final class CounterChecker {
  private CounterChecker() {}

  /** What is wrong with the {@link Action.Increment}s and {@link Action.ReadCounter}s. */
  public static List<Violation> check(List<Call> calls) {
    Findings findings = new Findings("counters");
    SortedMap<Bytes, List<Call>> byRow = new TreeMap<>();
    for (Call call : calls) {
      if (call.action() instanceof Action.Increment increment) {
        byRow.computeIfAbsent(increment.row(), row -> new ArrayList<>()).add(call);
      } else if (call.action() instanceof Action.ReadCounter read) {
        byRow.computeIfAbsent(read.row(), row -> new ArrayList<>()).add(call);
      }
    }
    byRow.forEach((row, ofRow) -> new OneCounter(row, ofRow, findings).check());
    return findings.violations();
  }

  private record OneCounter(Bytes row, List<Call> calls, Findings findings) {
    void check() {
      checkOrder();
      checkSteps();
      for (Call call : calls) {
        if (call.client() == History.READ_BACK && call.isAnswered() && !isIncrement(call)) {
          checkSum(call);
        }
      }
    }

    private void checkOrder() {
      record Event(long order, Call call, boolean isEnd) {}
      List<Event> events = new ArrayList<>();
      for (Call call : calls) {
        events.add(new Event(call.start().order(), call, false));
        if (call.isAnswered()) {
          events.add(new Event(call.end().order(), call, true));
        }
      }
      events.sort(Comparator.comparingLong(Event::order));
      Map<Integer, Long> floors = new TreeMap<>();
      long begun = 0;
      long applied = 0;
      long seen = 0;
      for (Event event : events) {
        Call call = event.call();
        if (!event.isEnd()) {
          floors.put(call.number(), Math.max(applied, seen));
          begun += call.isRejected() ? 0 : amount(call);
          continue;
        }
        // Its beginning comes before its end.
        long low = Objects.requireNonNull(floors.get(call.number())) + amount(call);
        long value = value(call);
        if (value < low || value > begun) {
          String bounds = " is answered with a value outside of " + low + " to " + begun;
          findings.add("counter " + row + ": " + call + bounds);
        }
        applied += amount(call);
        seen = Math.max(seen, value);
      }
    }

    private void checkSteps() {
      TreeMap<Long, Call> byValue = new TreeMap<>();
      for (Call call : calls) {
        if (!isIncrement(call) || !call.isAnswered()) {
          continue;
        }
        Call same = byValue.putIfAbsent(value(call), call);
        if (same != null) {
          findings.add("counter " + row + ": the same answer to " + same + " and " + call);
        }
      }
      Call before = null;
      for (Call call : byValue.values()) {
        if (before != null && value(before) > value(call) - amount(call)) {
          findings.add("counter " + row + ": one step counted for " + before + " and " + call);
        }
        before = call;
      }
      for (Call call : calls) {
        if (!isIncrement(call) && call.isAnswered()) {
          Map.Entry<Long, Call> above = byValue.higherEntry(value(call));
          if (above != null && value(call) > above.getKey() - amount(above.getValue())) {
            findings.add("counter " + row + ": " + call + " saw a part of " + above.getValue());
          }
        }
      }
    }

    /** Whether unknown increments explain what {@code read} has above those acknowledged. */
    private void checkSum(Call read) {
      long applied = 0;
      BitSet sums = new BitSet();
      sums.set(0);
      for (Call call : calls) {
        if (call.isAnswered()) {
          applied += amount(call);
        } else if (isIncrement(call) && !call.isRejected()) {
          int amount = Math.toIntExact(amount(call));
          for (int sum = sums.length() - 1; sum >= 0; sum = sums.previousSetBit(sum - 1)) {
            sums.set(sum + amount);
          }
        }
      }
      long rest = value(read) - applied;
      if (rest < 0 || rest >= sums.length() || !sums.get((int) rest)) {
        String expected = ", not the " + applied + " acknowledged and some of the unknown";
        findings.add("counter " + row + ": " + read + " is " + value(read) + expected);
      }
    }

    private static boolean isIncrement(Call call) {
      return call.action() instanceof Action.Increment;
    }

    private static long amount(Call call) {
      return call.action() instanceof Action.Increment increment ? increment.amount() : 0;
    }

    private static long value(Call call) {
      return ((Result.Number) ((CallOutcome.Answered) call.outcome()).result()).value();
    }
  }
}
