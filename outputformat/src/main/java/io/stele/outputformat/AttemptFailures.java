package io.stele.outputformat;

import java.io.IOException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What has failed in an attempt of a task, so that its end throws the first failure. MapReduce
 * closes a reducer's writer after the reducer has thrown something, and keeps only what the closing
 * throws. Without this that would be what came of the first failure, such as that nothing more is
 * sent, and nobody would see why. After a failure of the reducer itself the end throws nothing, so
 * that MapReduce goes on with that.
 *
 * <p>Used by one thread, as the writer of a task is.
 */
final class AttemptFailures {
  private static final int SUPPRESSED_MAX = 10;

  private Optional<Throwable> first = Optional.empty();
  private boolean isOfReducer; // The first one: MapReduce has it.

  /** Part of the end of an attempt. */
  interface Step {
    void run() throws IOException;
  }

  /** Notes a failure, which the caller throws. */
  void add(Exception failure) {
    if (first.isEmpty()) {
      first = Optional.of(failure);
    } else {
      suppress(failure);
    }
  }

  /** Notes what the reducer has thrown: the end throws nothing, and adds what fails to that. */
  void addOfReducer(Throwable failure) {
    Optional<Throwable> before = first;
    first = Optional.of(failure);
    isOfReducer = true;
    before.ifPresent(this::suppress);
  }

  private void suppress(Throwable failure) {
    Throwable shown = first.orElseThrow();
    if (!isPartOf(shown, failure) && shown.getSuppressed().length < SUPPRESSED_MAX) {
      shown.addSuppressed(failure);
    }
  }

  /** Whether whoever sees {@code shown} sees {@code failure} as well. */
  private static boolean isPartOf(Throwable shown, Throwable failure) {
    Set<Throwable> seen =
        Collections.newSetFromMap(new IdentityHashMap<>()); // Causes may go round.
    for (Throwable why = shown; why != null && seen.add(why); why = why.getCause()) {
      if (why == failure || List.of(why.getSuppressed()).contains(failure)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Takes the steps of an attempt's end, all of them even if one fails, unless the thread is
   * interrupted. If any fails, this throws the attempt's first failure, which may be older; it has
   * the others as suppressed. If the first is the reducer's, this throws nothing.
   */
  void end(List<Step> steps) throws IOException {
    boolean failed = false;
    for (Step step : steps) {
      try {
        step.run();
      } catch (RuntimeException e) {
        add(e);
        failed = true;
      } catch (IOException e) { // Interrupted: further steps would wait in vain.
        add(e);
        failed = true;
        break;
      }
    }
    if (failed && !isOfReducer) {
      Throwable thrown = first.orElseThrow();
      if (thrown instanceof IOException e) {
        throw e;
      }
      throw (RuntimeException) thrown;
    }
  }
}
