package io.stele.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Something that happens once, and what waits for it. Unlike the callbacks of a future, those who
 * wait may {@link #leave}, and are then not kept in memory until it happens.
 *
 * <p>Safe for use by any number of threads.
 */
public final class Signal {
  @GuardedBy("this")
  private final Set<Runnable> waiting = new LinkedHashSet<>();

  @GuardedBy("this")
  private boolean happened;

  /**
   * Runs {@code then} when it happens, on the thread that calls {@link #happen}, or now if it has
   * happened.
   *
   * @param then must neither block nor throw
   */
  public void await(Runnable then) {
    synchronized (this) {
      if (!happened) {
        waiting.add(then);
        return;
      }
    }
    then.run();
  }

  /** No longer runs {@code then} when it happens. */
  public synchronized void leave(Runnable then) {
    waiting.remove(then);
  }

  /** It happens; later calls do nothing. */
  public void happen() {
    List<Runnable> all;
    synchronized (this) {
      happened = true;
      all = List.copyOf(waiting);
      waiting.clear();
    }
    all.forEach(Runnable::run);
  }

  /** Whether it has happened. */
  public synchronized boolean hasHappened() {
    return happened;
  }

  /** How many wait for it. */
  public synchronized int waiting() {
    return waiting.size();
  }
}
