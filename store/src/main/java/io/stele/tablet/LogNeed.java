package io.stele.tablet;

import io.stele.model.Durability;

/**
 * What an operation needs of the commit log.
 *
 * @param durability the least durability that an acknowledgement promises
 * @param moreFollow see {@link TabletLog#append}
 */
public record LogNeed(Durability durability, boolean moreFollow) {
  /** That of an operation which none follows. */
  static LogNeed of(Durability durability) {
    return new LogNeed(durability, false);
  }

  /** The same with at least {@code least}. */
  LogNeed and(Durability least) {
    return new LogNeed(durability.and(least), moreFollow);
  }
}
