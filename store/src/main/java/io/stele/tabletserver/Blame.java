package io.stele.tabletserver;

import io.stele.model.CorruptionException;
import io.stele.model.SteleException;
import java.io.IOException;

/**
 * The cause of a failed operation on a tablet, and so what must stop: this is the only place that
 * decides it.
 *
 * <p>Three failures are not classified here but stop the server where they are found, as nothing
 * that it says can be trusted after them: a log that failed, a lease that is lost, and a write to
 * METADATA whose outcome stays unknown ({@link ServerLife#untilKnown}), which also is what stops a
 * tablet in the middle of a commit: what its record says and what is in memory may differ then, so
 * it must not be served, and a server that dropped it alone could not be told from one that still
 * answers for it.
 */
enum Blame {
  /** The process: memory is short, or a class is missing. It ends. */
  SERVER,
  /**
   * The tablet, its files, or code that cannot cope with them: tried again, here or elsewhere, it
   * would fail again. The tablet is put aside, as far as the work needs it; all others go on.
   */
  TABLET,
  /** The file system, METADATA, a request that came late: it passes. */
  CIRCUMSTANCES;

  /** The cause of {@code failure}. */
  static Blame of(Throwable failure) {
    if (failure instanceof Error) {
      return SERVER;
    }
    if (failure instanceof SteleException known) {
      return switch (known.code()) {
        case CORRUPTION -> TABLET;
        case NOT_FOUND, REFUSED, RETRY_LATER, OUTCOME_UNKNOWN -> CIRCUMSTANCES;
      };
    }
    boolean passes = failure instanceof IOException && !(failure instanceof CorruptionException);
    return passes ? CIRCUMSTANCES : TABLET;
  }
}
