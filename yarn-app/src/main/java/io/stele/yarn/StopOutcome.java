package io.stele.yarn;

import io.stele.model.Amount;

/**
 * How an application was stopped. Immutable.
 *
 * @param inOrder whether it ended by itself once its servers had; otherwise YARN ended it, with
 *     every server that still ran
 * @param notDrained how many tablet servers are known to have ended without having given their
 *     tablets away: no acknowledged write is lost by that, but the next start recovers their logs
 */
public record StopOutcome(boolean inOrder, int notDrained) {
  /** The last words of an ApplicationMaster that has ended everything, for people. */
  static String diagnostics(int notDrained) {
    return notDrained == 0 ? "stopped as asked" : "stopped as asked; " + endedUndrained(notDrained);
  }

  private static String endedUndrained(int notDrained) {
    return Amount.of(notDrained, "tablet server") + " ended without being drained";
  }

  /** What the next start must make up for, for people; empty if nothing. */
  public String words() {
    String consequence = ". No acknowledged write is lost; the next start recovers their logs";
    if (!inOrder) {
      return "YARN killed what had not ended by itself"
          + (notDrained == 0
              ? "; tablet servers among it were"
              : ", " + Amount.of(notDrained, "tablet server") + " among it,")
          + " not drained"
          + consequence;
    }
    return notDrained == 0 ? "" : endedUndrained(notDrained) + consequence;
  }
}
