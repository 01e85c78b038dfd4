package io.stele.log;

import io.stele.model.Bytes;
import io.stele.model.OperationId;

/**
 * What the log keeps of an operation besides its cells, so that a retry after a crash is known.
 *
 * @param id the operation's id
 * @param firstIncomplete the lowest number of that client's that may still be retried
 * @param digest of the operation's bytes: the same id with another digest is an error; at most 64
 *     bytes
 * @param result what the client was or would have been told; empty if there is nothing to tell
 */
public record LoggedOperation(OperationId id, long firstIncomplete, Bytes digest, Bytes result) {
  /** Longest digest, in bytes. */
  public static final int DIGEST_BYTES_MAX = 64;

  public LoggedOperation {
    if (digest.length() > DIGEST_BYTES_MAX) {
      throw new IllegalArgumentException(
          "a digest has at most " + DIGEST_BYTES_MAX + " bytes, not " + digest.length());
    }
  }
}
