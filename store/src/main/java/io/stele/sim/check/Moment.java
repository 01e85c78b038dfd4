package io.stele.sim.check;

/**
 * When a call began or ended.
 *
 * @param order its place among all beginnings and ends of the history. Virtual time often stands
 *     still, so only this tells what came first
 * @param nanos the time, by the clock common to all clients
 */
public record Moment(long order, long nanos) {
  /** After everything: the end of a call that has not returned. */
  public static final Moment NEVER = new Moment(Long.MAX_VALUE, Long.MAX_VALUE);
}
