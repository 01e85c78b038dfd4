package io.stele.log;

import io.stele.model.CorruptionException;
import java.io.IOException;
import org.apache.hadoop.fs.ChecksumException;
import org.apache.hadoop.hdfs.BlockMissingException;

/**
 * Failures to read that concern the bytes of one file: no replica of a block is sound, or none can
 * be reached. To a reader of segments this is damage. Any other failure may concern the whole file
 * system.
 */
final class UnreadableBytes {
  private UnreadableBytes() {}

  /** Whether {@code failure} is one of these. */
  static boolean is(IOException failure) {
    return failure instanceof ChecksumException || failure instanceof BlockMissingException;
  }

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
