package io.stele.lock;

import java.io.IOException;

/**
 * The lock is lost: its session ended, or its node was deleted. The process that had it must stop
 * acting on it and take a new lock.
 */
public final class LockLostException extends IOException {
  private static final long serialVersionUID = 1L;

  /** A lock lost at {@code path}, for the reason that {@code why} gives. */
  public LockLostException(String path, String why) {
    super("the lock " + path + " is lost: " + why);
  }
}
