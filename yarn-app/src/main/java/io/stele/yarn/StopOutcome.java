package io.stele.yarn;

import io.stele.model.Amount;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How an application was stopped. Its ApplicationMaster has told YARN in its last words how many
 * servers were not drained, and those are read again here. Immutable.
 *
 * @param inOrder whether it ended by itself once its servers had; otherwise YARN ended it, with
 *     every server that still ran
 * @param notDrained how many tablet servers are known to have ended without having given their
 *     tablets away: no acknowledged write is lost by that, but the next start recovers their logs
 */
public record StopOutcome(boolean inOrder, int notDrained) {
  private static final Pattern NOT_DRAINED =
      Pattern.compile("([0-9,]+) tablet servers? ended without being drained");

  /** The last words of an ApplicationMaster that has ended everything. */
  static String diagnostics(int notDrained) {
    return notDrained == 0
        ? "stopped as asked"
        : "stopped as asked; "
            + Amount.of(notDrained, "tablet server")
            + " ended without being drained";
  }

  /** How an application ended whose ApplicationMaster has said these words. */
  static StopOutcome of(String diagnostics) {
    Matcher found = NOT_DRAINED.matcher(diagnostics);
    return new StopOutcome(
        true, found.find() ? Integer.parseInt(found.group(1).replace(",", "")) : 0);
  }

  /** What the next start must make up for, for people; empty if nothing. */
  public String words() {
    String consequence = ". No acknowledged write is lost; the next start recovers their logs";
    String servers = Amount.of(notDrained, "tablet server");
    if (!inOrder) {
      return "YARN killed what had not ended by itself"
          + (notDrained == 0 ? "; tablet servers among it were" : ", " + servers + " among it,")
          + " not drained"
          + consequence;
    }
    return notDrained == 0 ? "" : servers + " ended without being drained" + consequence;
  }
}
