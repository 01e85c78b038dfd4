package io.stele.cli;

import io.stele.lock.UnreachableException;
import io.stele.model.CorruptionException;
import io.stele.model.SteleException;

/** The command's exit codes, for scripts; also in {@code bin/stele}. */
enum ExitCode {
  /** Done. */
  DONE(0),
  /** Failed, for none of the reasons below. */
  FAILED(1),
  /** The command line makes no sense. */
  USAGE(2),
  /** The table, row or file does not exist. */
  NOT_FOUND(3),
  /** Refused; nothing was changed. */
  REFUSED(4),
  /** Not available now; the same may succeed later. */
  RETRY_LATER(5),
  /** It is unknown whether it was applied. */
  OUTCOME_UNKNOWN(6),
  /** Stored data is damaged. */
  CORRUPTION(7),
  /** There is one of that name already; nothing was changed. */
  ALREADY_EXISTS(8),
  /** Done, and what was looked at differs or has problems. */
  PROBLEMS(9),
  /** Interrupted. */
  INTERRUPTED(130),
  /** The output was closed: the code that shells report for a program ended by SIGPIPE. */
  OUTPUT_CLOSED(141);

  private final int number;

  ExitCode(int number) {
    this.number = number;
  }

  /** What the process exits with. */
  int number() {
    return number;
  }

  /** The one that tells of {@code failure}. */
  static ExitCode of(Throwable failure) {
    if (failure instanceof SteleException stele) {
      return switch (stele.code()) {
        case NOT_FOUND -> NOT_FOUND;
        case ALREADY_EXISTS -> ALREADY_EXISTS;
        case REFUSED -> REFUSED;
        case RETRY_LATER -> RETRY_LATER;
        case OUTCOME_UNKNOWN -> OUTCOME_UNKNOWN;
        case CORRUPTION -> CORRUPTION;
      };
    } else if (failure instanceof UnreachableException) {
      return RETRY_LATER;
    } else if (failure instanceof CorruptionException) {
      return CORRUPTION;
    } else if (failure instanceof java.io.FileNotFoundException
        || failure instanceof java.nio.file.NoSuchFileException) {
      return NOT_FOUND;
    } else if (failure instanceof StandardOutput.ClosedException) {
      return OUTPUT_CLOSED;
    } else if (failure instanceof java.net.SocketTimeoutException) {
      return FAILED; // Java calls it an interruption as well.
    } else if (failure instanceof java.io.InterruptedIOException
        || failure instanceof InterruptedException) {
      return INTERRUPTED;
    }
    return FAILED;
  }
}
