package io.stele.runtime;

/** Work scheduled for later. Safe for use by any number of threads. */
public interface Timer {
  /** Keeps it from happening, unless it has begun. */
  void cancel();
}
