package io.stele.outputformat;

import io.stele.model.SteleException;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * What has failed in an attempt of a task, so that its end throws the first failure. MapReduce
 * closes a reducer's writer after the reducer has thrown something, and keeps only what the closing
 * throws. Without this that would be what came of the first failure, such as that nothing more is
 * sent, and nobody would see why.
 *
 * <p>Used by one thread, as the writer of a task is.
 */
final class AttemptFailures {
  private static final int SUPPRESSED_MAX = 10;

  private Optional<Exception> first = Optional.empty();

  /** Part of the end of an attempt. */
  interface Step {
    void run() throws IOException;
  }

  /** Notes a failure, which the caller throws. */
  void add(Exception failure) {
    if (first.isEmpty()) {
      first = Optional.of(failure);
    } else if (first.get() != failure && first.get().getSuppressed().length < SUPPRESSED_MAX) {
      first.get().addSuppressed(failure);
    }
  }

  /**
   * Takes the steps of an attempt's end, all of them even if one fails, unless the thread is
   * interrupted. If any fails, this throws the attempt's first failure, which may be older; it has
   * the others as suppressed.
   */
  void end(List<Step> steps) throws IOException {
    boolean failed = false;
    for (Step step : steps) {
      try {
        step.run();
      } catch (SteleException e) {
        add(e);
        failed = true;
      } catch (IOException e) { // Interrupted: further steps would wait in vain.
        add(e);
        failed = true;
        break;
      }
    }
    if (failed) {
      Exception thrown = first.orElseThrow();
      if (thrown instanceof IOException e) {
        throw e;
      }
      throw (RuntimeException) thrown;
    }
  }
}
