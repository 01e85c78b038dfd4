package io.stele.files;

import java.io.IOException;

/**
 * The file system cannot flush or sync files, or take them from a dead writer, now or later: it is
 * of no use for a root directory.
 */
public final class NotDurableException extends IOException {
  private static final long serialVersionUID = 1L;

  NotDurableException(String message) {
    super(message);
  }
}
