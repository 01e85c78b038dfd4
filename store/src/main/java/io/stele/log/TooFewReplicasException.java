package io.stele.log;

import java.io.IOException;

/**
 * A segment has fewer replicas than the minimum: what is in it is not acknowledged. Another server
 * would have no more, so that this does not end one.
 */
final class TooFewReplicasException extends IOException {
  private static final long serialVersionUID = 1L;

  TooFewReplicasException(String message) {
    super(message);
  }
}
