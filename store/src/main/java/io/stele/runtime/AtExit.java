package io.stele.runtime;

/** Work that is done when the process is asked to end. Safe for use by any number of threads. */
@FunctionalInterface
public interface AtExit {
  /** Keeps it from being done, unless the process is ending. */
  void cancel();
}
