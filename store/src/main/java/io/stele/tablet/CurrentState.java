package io.stele.tablet;

import io.stele.model.SteleException;
import java.util.function.UnaryOperator;

/**
 * The current {@link TabletState} of a tablet, swapped by one volatile write. Safe for use by any
 * number of threads; readers take no lock.
 */
final class CurrentState {
  private final Object swapping = new Object();
  private volatile TabletState state;
  private volatile boolean closed;

  CurrentState(TabletState first) {
    state = first;
  }

  /** The current state, for callers that need none of its files. */
  TabletState peek() {
    return state;
  }

  /**
   * The current state, held for the caller, who must release it.
   *
   * @throws SteleException RETRY_LATER if the tablet was closed
   */
  TabletState acquire() {
    while (true) {
      TabletState now = state;
      checkOpen();
      if (now.retain()) {
        return now;
      }
      // It was replaced just now: the next look finds another.
    }
  }

  /**
   * Replaces the current state by the result of {@code change}.
   *
   * @throws SteleException RETRY_LATER if the tablet was closed
   */
  void swap(UnaryOperator<TabletState> change) {
    swap(change, () -> {});
  }

  /**
   * Replaces the current state by the result of {@code change}.
   *
   * @param then called as soon as the new state is visible, before anything slow: if the new state
   *     has no readable point yet, readers wait for this
   */
  void swap(UnaryOperator<TabletState> change, Runnable then) {
    TabletState old;
    synchronized (swapping) {
      checkOpen();
      old = state;
      state = change.apply(old);
    }
    then.run();
    old.release(); // May close files.
  }

  /** Closes the files once no read uses them. */
  void close() {
    synchronized (swapping) {
      if (closed) {
        return;
      }
      closed = true;
    }
    state.release(); // May close files.
  }

  private void checkOpen() {
    if (closed) {
      throw SteleException.retryLater("the tablet is closed: locate the row again");
    }
  }
}
