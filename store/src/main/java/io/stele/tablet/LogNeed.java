package io.stele.tablet;

import io.stele.model.Durability;

/**
 * What an operation needs of the commit log.
 *
 * @param durability the least durability that an acknowledgement promises; never less than the
 *     log's own
 * @param moreFollow whether records follow at once, so that the log need not write this one by
 *     itself: it is written with the next record that none follows
 */
public record LogNeed(Durability durability, boolean moreFollow) {
  /** The need of an operation that no other follows. */
  static LogNeed of(Durability durability) {
    return new LogNeed(durability, false);
  }

  /** This need, with a durability of at least {@code least}. */
  LogNeed and(Durability least) {
    return new LogNeed(durability.and(least), moreFollow);
  }
}
