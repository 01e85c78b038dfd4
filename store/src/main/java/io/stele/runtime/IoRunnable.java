package io.stele.runtime;

import java.io.IOException;

/** A {@link Runnable} that may throw an {@link IOException}. */
@FunctionalInterface
public interface IoRunnable {
  /** Does its work. */
  void run() throws IOException;
}
