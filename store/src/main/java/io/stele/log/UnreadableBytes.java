package io.stele.log;

import io.stele.model.CorruptionException;
import java.io.IOException;

/** Failures to read that concern one file, such as that no replica of a block is sound. */
final class UnreadableBytes {
  private UnreadableBytes() {}

  /** The damage at {@code offset} that a failure to read {@code file} shows. */
  static CorruptionException damage(String file, long offset, IOException failure) {
    CorruptionException damage =
        new CorruptionException(
            file,
            offset,
            "it cannot be read ("
                + failure
                + "); that passes if a DataNode with another replica is only away");
    damage.initCause(failure);
    return damage;
  }
}
