package io.stele.tablet;

import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.runtime.Signal;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The current {@link TabletState} of a tablet, swapped by one volatile write.
 *
 * <p>While a change that takes cells away, or brings in files of a job, is being committed, the
 * state is <em>unsettled</em>: METADATA may already have the change, and whoever reads it there may
 * act on it, but the state is still the one before. No reads are answered from such a state but
 * those at pins, which see the same before and after the change.
 *
 * <p>Safe for use by any number of threads; readers take no lock.
 */
final class CurrentState {
  private final TabletId tablet;
  private final Object swapping = new Object();
  private volatile TabletState state;
  private volatile Optional<Signal> settled = Optional.empty();
  private volatile boolean closed;

  CurrentState(TabletId tablet, TabletState first) {
    this.tablet = tablet;
    this.state = first;
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

  /** Begins a change: from now on the state is unsettled. One change is made at a time. */
  void beginChange() {
    settled = Optional.of(new Signal());
  }

  /** Ends a change: the state has it, or it was not made, or the tablet has stopped. */
  void endChange() {
    Signal waiting = settled.orElseThrow();
    settled = Optional.empty();
    waiting.happen();
  }

  /**
   * Returns normally if no change is being committed. A state that is taken afterwards has all
   * changes that anyone could know of before.
   *
   * @throws UnsettledException otherwise
   */
  void requireSettled() {
    Optional<Signal> waiting = settled;
    if (waiting.isPresent()) {
      throw new UnsettledException(tablet, waiting.get());
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
