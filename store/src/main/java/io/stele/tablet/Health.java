package io.stele.tablet;

import io.stele.model.SteleException;
import io.stele.model.TabletId;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Whether a tablet may still answer. Once stopped it stays stopped: its memory may differ from what
 * is durable, and it must be loaded again. Safe for use by any number of threads.
 */
final class Health {
  private final TabletId id;
  private final AtomicReference<Optional<Throwable>> failure =
      new AtomicReference<>(Optional.empty());

  Health(TabletId id) {
    this.id = id;
  }

  /** Stops the tablet for good; the first reason stays. */
  void stop(Throwable why) {
    failure.updateAndGet(first -> first.isPresent() ? first : Optional.of(why));
  }

  /** Why the tablet has stopped. */
  Optional<Throwable> failure() {
    return failure.get();
  }

  /**
   * Refuses every request once the tablet has stopped.
   *
   * @throws SteleException RETRY_LATER
   */
  void check() {
    Optional<Throwable> why = failure.get();
    if (why.isPresent()) {
      throw new SteleException(
          SteleException.Code.RETRY_LATER,
          "tablet "
              + id
              + " has stopped and must be loaded again ("
              + why.get().getMessage()
              + "): try again",
          why.get());
    }
  }
}
