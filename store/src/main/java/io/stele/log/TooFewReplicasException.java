package io.stele.log;

import java.io.IOException;

/**
 * A segment has fewer replicas than the minimum: its records are not acknowledged. Another server
 * would have no more, so this does not stop the server.
 */
final class TooFewReplicasException extends IOException {
  private static final long serialVersionUID = 1L;

  TooFewReplicasException(String message) {
    super(message);
  }
}
