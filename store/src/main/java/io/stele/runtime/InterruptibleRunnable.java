package io.stele.runtime;

/** A {@link Runnable} whose waits may be interrupted. */
@FunctionalInterface
public interface InterruptibleRunnable {
  /** Does its work. */
  void run() throws InterruptedException;
}
