package io.stele.files;

import java.io.IOException;

/**
 * A file has fewer replicas than the minimum: what was written to it does not count. Another
 * process would get no more.
 */
public final class TooFewReplicasException extends IOException {
  private static final long serialVersionUID = 1L;

  TooFewReplicasException(String message) {
    super(message);
  }
}
