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
   * The current state, held: the caller releases it.
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
      // It was replaced a moment ago: the next look finds another.
    }
  }

  /**
   * Replaces the current state by what {@code change} makes of it.
   *
   * @throws SteleException RETRY_LATER if the tablet was closed
   */
  void swap(UnaryOperator<TabletState> change) {
    swap(change, () -> {});
  }

  /**
   * As above.
   *
   * @param then done as soon as the new state is there, before anything that takes time: where no
   *     read point could be read at it, readers wait for that
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
