package io.stele.sim.check;

import io.stele.model.SteleException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Whether calls ended as a client may expect, whatever they were about. */
public final class CallChecker {
  /** How much longer than its timeout a call may take. */
  public static final Duration DEADLINE_GRACE = Duration.ofSeconds(1);

  private CallChecker() {}

  /**
   * Calls that took too long, or have not returned though they should.
   *
   * @param timeout how long one call may take by the client's configuration
   * @param grace how much longer is let pass
   * @param nowNanos when the run ended, by the clock of the history
   */
  public static List<Violation> checkDeadlines(
      List<Call> calls, Duration timeout, Duration grace, long nowNanos) {
    Findings findings = new Findings("deadlines");
    long maxNanos = timeout.plus(grace).toNanos();
    for (Call call : calls) {
      long waited = call.hasEnded() ? call.longestWaitNanos() : nowNanos - call.start().nanos();
      if (waited > maxNanos) {
        String text = " took " + Duration.ofNanos(waited) + " with a timeout of " + timeout;
        findings.add(call + text);
      }
    }
    return findings.violations();
  }

  /**
   * Calls that failed for a reason that they gave no cause for. Workloads ask for nothing wrong, so
   * only RETRY_LATER and unknown outcomes are usual.
   *
   * @param allowed the codes that calls may fail with
   */
  public static List<Violation> checkFailures(List<Call> calls, Set<SteleException.Code> allowed) {
    Findings findings = new Findings("failures");
    for (Call call : calls) {
      code(call.outcome())
          .filter(code -> !allowed.contains(code))
          .ifPresent(code -> findings.add(call + " failed though nothing was wrong with it"));
    }
    return findings.violations();
  }

  private static Optional<SteleException.Code> code(CallOutcome outcome) {
    if (outcome instanceof CallOutcome.Rejected rejected) {
      return Optional.of(rejected.code());
    }
    return outcome instanceof CallOutcome.Answered answer
            && answer.result() instanceof Result.Rows rows
        ? rows.cutShort()
        : Optional.empty();
  }

  /** What could not be read back at the end: the last try of each action counts. */
  public static List<Violation> checkReadBack(List<Call> calls) {
    Findings findings = new Findings("read back");
    Map<Action, Call> last = new LinkedHashMap<>();
    for (Call call : calls) {
      if (call.client() == History.READ_BACK) {
        last.put(call.action(), call);
      }
    }
    if (last.isEmpty()) {
      findings.add("nothing was read back");
    }
    for (Call call : last.values()) {
      if (!call.isAnswered() || code(call.outcome()).isPresent()) {
        findings.add("not read to the end though the cluster is whole: " + call);
      }
    }
    return findings.violations();
  }
}
