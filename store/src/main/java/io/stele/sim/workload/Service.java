package io.stele.sim.workload;

import io.stele.sim.check.Call;
import io.stele.sim.check.CallOutcome;
import io.stele.sim.check.History;
import java.time.Duration;
import java.util.List;

/**
 * How well clients were served. What was read back at the end is not counted.
 *
 * @param answered how many calls were answered to the end
 * @param rejected how many failed and did nothing; scans that were cut short among them
 * @param unknown how many failed, or have not returned, and may have done what they asked for
 * @param longestGap the longest time in which no call was answered
 * @param p99 the time in which 99 of 100 answered calls returned
 */
public record Service(int answered, int rejected, int unknown, Duration longestGap, Duration p99) {
  private static final double QUANTILE = 0.99;

  /**
   * How well the clients that made {@code calls} were served.
   *
   * @param fromNanos when they began to work, by the clock of the history
   * @param toNanos when they were told to stop
   */
  public static Service of(List<Call> calls, long fromNanos, long toNanos) {
    List<Call> counted = calls.stream().filter(call -> call.client() != History.READ_BACK).toList();
    List<Call> answered = answered(counted);
    int unknown =
        (int)
            counted.stream().filter(call -> call.outcome() instanceof CallOutcome.Unknown).count();
    return new Service(
        answered.size(),
        counted.size() - answered.size() - unknown,
        unknown,
        longestGap(calls, fromNanos, toNanos),
        p99(answered));
  }

  /** How many calls there were. */
  public int calls() {
    return answered + rejected + unknown;
  }

  /**
   * A time without an answer.
   *
   * @param length how long it was, as far as it is known
   * @param open whether no answer ended it
   */
  public record Gap(Duration length, boolean open) {}

  private static List<Call> answered(List<Call> calls) {
    return calls.stream()
        .filter(call -> call.client() != History.READ_BACK)
        .filter(call -> RecordedTable.isWhole(call.outcome()))
        .toList();
  }

  /** The longest time between the two in which none of {@code calls} was answered. */
  static Duration longestGap(List<Call> calls, long fromNanos, long toNanos) {
    long[] ends =
        answered(calls).stream()
            .mapToLong(call -> call.end().nanos())
            .filter(end -> end - fromNanos >= 0 && toNanos - end >= 0)
            .sorted()
            .toArray();
    long longest = 0;
    long before = fromNanos;
    for (long end : ends) {
      longest = Math.max(longest, end - before);
      before = end;
    }
    return Duration.ofNanos(Math.max(longest, toNanos - before));
  }

  /**
   * The longest time in which none of {@code calls} was answered, of those that begin between the
   * two. One that goes on afterwards ends with the next answer.
   *
   * @param cutNanos a gap that goes on then is cut there
   */
  static Gap longestGap(List<Call> calls, long fromNanos, long toNanos, long cutNanos) {
    long[] ends =
        answered(calls).stream()
            .mapToLong(call -> call.end().nanos())
            .filter(end -> end - fromNanos >= 0 && cutNanos - end >= 0)
            .sorted()
            .toArray();
    Gap longest = new Gap(Duration.ZERO, false);
    long before = fromNanos;
    for (int i = 0; i < ends.length && toNanos - before >= 0; i++) {
      longest = longer(longest, new Gap(Duration.ofNanos(ends[i] - before), false));
      before = ends[i];
    }
    long cut = Math.min(toNanos, cutNanos);
    return cut - before > 0
        ? longer(longest, new Gap(Duration.ofNanos(cut - before), true))
        : longest;
  }

  /** The longer of the two. */
  static Gap longer(Gap one, Gap other) {
    return other.length().compareTo(one.length()) > 0 ? other : one;
  }

  /** The answered ones of {@code calls} that were under way at some time between the two. */
  static List<Call> answered(List<Call> calls, long fromNanos, long toNanos) {
    return answered(calls).stream()
        .filter(call -> call.end().nanos() - fromNanos >= 0)
        .filter(call -> toNanos - call.start().nanos() >= 0)
        .toList();
  }

  /** Those of {@code calls} that began and failed between the two, or were cut short. */
  static List<Call> failed(List<Call> calls, long fromNanos, long toNanos) {
    return calls.stream()
        .filter(call -> call.client() != History.READ_BACK && call.hasEnded())
        .filter(call -> call.start().nanos() - fromNanos >= 0)
        .filter(call -> toNanos - call.end().nanos() >= 0)
        .filter(call -> !RecordedTable.isWhole(call.outcome()))
        .toList();
  }

  /** The time in which 99 of 100 of {@code answered} returned. */
  static Duration p99(List<Call> answered) {
    long[] times =
        answered.stream()
            .mapToLong(call -> call.end().nanos() - call.start().nanos())
            .sorted()
            .toArray();
    return times.length == 0
        ? Duration.ZERO
        : Duration.ofNanos(times[(int) Math.ceil(times.length * QUANTILE) - 1]);
  }
}
