package io.stele.tablet;

import io.stele.model.SteleException;
import io.stele.model.TabletId;
import java.util.Optional;

/**
 * Whether a tablet may still answer. Once stopped it stays stopped: its memory may differ from what
 * is durable, and it must be loaded again. Safe for use by any number of threads.
 */
final class Health {
  private final TabletId id;
  private volatile Optional<Throwable> failure = Optional.empty();

  Health(TabletId id) {
    this.id = id;
  }

  /** Stops the tablet for good; the first reason stays. */
  synchronized void stop(Throwable why) {
    if (failure.isEmpty()) {
      failure = Optional.of(why);
    }
  }

  /** Why the tablet has stopped. */
  Optional<Throwable> failure() {
    return failure;
  }

  /**
   * Refuses every request once the tablet has stopped.
   *
   * @throws SteleException RETRY_LATER
   */
  void check() {
    Optional<Throwable> why = failure;
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
