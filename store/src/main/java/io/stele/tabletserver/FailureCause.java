package io.stele.tabletserver;

import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import io.stele.model.SteleException;
import java.io.IOException;

/**
 * The cause of a failed operation on a tablet, which determines what must stop. Only this class
 * decides it.
 *
 * <p>Three failures are not classified here. They stop the server where they are found, because
 * none of its answers can be trusted after them: a failed log, a lost lease, and a write to
 * METADATA whose outcome stays unknown ({@link ServerLife#untilKnown}). The last also stops a
 * tablet in the middle of a commit: its record and its memory may then differ, so it must not be
 * served. Dropping only the tablet is not enough, because nobody could distinguish such a server
 * from one that still answers for the tablet.
 */
enum FailureCause {
  /** The process: memory is short, or a class is missing. It ends. */
  SERVER,
  /**
   * The tablet, its files, its record, or code that cannot cope with them, such as that of an
   * earlier version: tried again, here or elsewhere, it would most likely fail again. The tablet is
   * set aside as far as the work needs it; all others continue.
   */
  TABLET,
  /** The file system, METADATA, a request that came late: it passes. */
  CIRCUMSTANCES;

  /** The cause of {@code failure}. */
  static FailureCause of(Throwable failure) {
    if (failure instanceof Error) {
      return SERVER;
    }
    boolean passes =
        (failure instanceof SteleException || failure instanceof IOException)
            && !(failure instanceof ChangeRefusedException)
            && !(failure instanceof NewerFormatException);
    return passes && !isDamage(failure) ? CIRCUMSTANCES : TABLET;
  }

  /** Whether {@code failure} says that stored data is damaged. */
  static boolean isDamage(Throwable failure) {
    return failure instanceof CorruptionException
        || (failure instanceof SteleException known
            && known.code() == SteleException.Code.CORRUPTION);
  }
}
