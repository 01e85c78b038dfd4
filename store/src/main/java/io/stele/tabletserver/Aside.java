package io.stele.tabletserver;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/**
 * Whether a server is to give all its tablets away and take none, and whether a thread sees to it:
 * one at most, however often that is wanted and not wanted. Safe for use by any number of threads.
 */
final class Aside {
  @GuardedBy("this")
  private boolean wanted;

  @GuardedBy("this")
  private boolean seenTo;

  /** From now on it is wanted. Returns whether the caller must see to it: nobody does. */
  synchronized boolean want() {
    wanted = true;
    boolean first = !seenTo;
    seenTo = true;
    return first;
  }

  /** From now on it is not wanted. */
  synchronized void unwant() {
    wanted = false;
  }

  synchronized boolean isWanted() {
    return wanted;
  }

  /** Whoever sees to it has found it unwanted, and ends, unless it is wanted again by now. */
  synchronized boolean mayEnd() {
    seenTo = wanted;
    return !wanted;
  }

  /** Whoever sees to it ends: the server does, or is drained for good. */
  synchronized void end() {
    seenTo = false;
  }
}
