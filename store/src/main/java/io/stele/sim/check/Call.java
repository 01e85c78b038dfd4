package io.stele.sim.check;

/**
 * One call of a client.
 *
 * @param number its place among the calls, by their beginnings, from 0 on
 * @param client which client made it; {@link History#READ_BACK} for the last look at the end
 * @param action what was asked
 * @param start when it began
 * @param end when it returned; {@link Moment#NEVER} where it has not
 * @param longestWaitNanos the longest time that the client library took at a stretch: of a scan,
 *     for one row; otherwise, for all of it
 * @param outcome how it ended
 */
public record Call(
    int number,
    int client,
    Action action,
    Moment start,
    Moment end,
    long longestWaitNanos,
    CallOutcome outcome) {
  /** How many characters of an action or outcome are shown. */
  private static final int TEXT_MAX = 200;

  /** Whether this had returned when {@code other} began. */
  public boolean isBefore(Call other) {
    return end.order() < other.start.order();
  }

  /** Whether this returned a result. */
  public boolean isAnswered() {
    return outcome instanceof CallOutcome.Answered;
  }

  /** Whether this certainly did nothing. */
  public boolean isRejected() {
    return outcome instanceof CallOutcome.Rejected;
  }

  /** Whether this has returned, one way or another. */
  public boolean hasEnded() {
    return !end.equals(Moment.NEVER);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    text.append('#').append(number);
    text.append(client == History.READ_BACK ? " reading back " : " client " + client + " ");
    text.append(shortened(action))
        .append(" [")
        .append(start.order())
        .append('@')
        .append(start.nanos());
    text.append(", ");
    if (hasEnded()) {
      text.append(end.order()).append('@').append(end.nanos());
    }
    return text.append(") -> ").append(shortened(outcome)).toString();
  }

  private static String shortened(Object part) {
    String text = part.toString();
    return text.length() <= TEXT_MAX ? text : text.substring(0, TEXT_MAX) + "...";
  }
}
