package io.stele.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.Attempts;
import io.stele.metadata.Attempts.Effect;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/**
 * A change of tablets or of a server: a split, merge or move of a tablet, the draining or restart
 * of a server, the balancing of all tablets. Once begun it continues whether or not a client waits
 * for it. The master and the servers remember it only in memory: if one of them ends meanwhile,
 * {@link #progress} and {@link #await} ask for it again.
 *
 * <p>Safe for use by any number of threads.
 */
public final class ClusterChange {
  private final ClusterCalls calls;
  private final String what;
  private final String toFindOut;
  private final Step step;

  @GuardedBy("this")
  private Optional<ClusterCalls.Progress> end = Optional.empty();

  // Once set it stays.
  private volatile boolean begun;

  // An answer was lost: it may have been begun. Once set it stays.
  private volatile boolean inDoubt;

  /**
   * How far a change is.
   *
   * @param done whether it was made; a change that cannot be made fails instead
   * @param waitsFor what it waits for, in words; empty if it is done
   * @param server the server that has the tablet, if this is a move and done
   */
  public record Progress(boolean done, String waitsFor, Optional<ServerId> server) {
    @Override
    public String toString() {
      return done ? "done" : waitsFor;
    }
  }

  /** Asks for a change, or for its progress; when repeated it joins the change that it began. */
  interface Step {
    /**
     * Asks until it is answered.
     *
     * @param attempts says how long, and what a failure means
     */
    ClusterCalls.Progress take(Attempts attempts) throws IOException;
  }

  /**
   * A change; nothing is asked yet.
   *
   * @param what it does, in words
   * @param toFindOut how people can tell what came of it
   */
  ClusterChange(ClusterCalls calls, String what, String toFindOut, Step step) {
    this.calls = calls;
    this.what = what;
    this.toFindOut = toFindOut;
    this.step = step;
  }

  /** The same, once the master or the server knows of it. */
  ClusterChange begun() throws IOException {
    progress();
    return this;
  }

  /**
   * Its current progress. Waits only for an answer, and until the master can begin it. A change
   * that was seen done, or seen to fail, remains so: nothing is asked again.
   *
   * @throws SteleException why it is not and will not be made; if nobody answers within {@code
   *     stele.client.timeout}, RETRY_LATER, or OUTCOME_UNKNOWN if it was begun before
   */
  public Progress progress() throws IOException {
    ClusterCalls.Progress now =
        poll(calls.attempts(Effect.CHANGE_WITH_ID, what, calls.connection().timeout()));
    if (now.failure().isPresent()) {
      throw now.failure().get();
    }
    return new Progress(now.done(), now.waitsFor(), now.server());
  }

  private ClusterCalls.Progress poll(Attempts attempts) throws IOException {
    synchronized (this) {
      if (end.isPresent()) {
        return end.get();
      }
    }
    if (begun) {
      attempts.begun();
    } else if (inDoubt) {
      attempts.doubted();
    }
    ClusterCalls.Progress now;
    try {
      now = step.take(attempts);
    } catch (SteleException e) {
      if (e.code() == SteleException.Code.OUTCOME_UNKNOWN) {
        inDoubt = true;
      }
      throw outcome(attempts, e);
    } finally {
      if (attempts.haveBegun()) {
        begun = true;
      } else if (attempts.mayHaveBegun()) {
        inDoubt = true;
      }
    }
    if (now.done() || now.failure().isPresent()) {
      synchronized (this) {
        end = Optional.of(now);
      }
    } else {
      begun = true;
    }
    return now;
  }

  /** Once it may have begun, a failure to learn how far it is does not say that it was not made. */
  private SteleException outcome(Attempts attempts, SteleException failure) {
    boolean mayHaveBegun = begun || inDoubt || attempts.mayHaveBegun();
    return !mayHaveBegun || failure.code() == SteleException.Code.OUTCOME_UNKNOWN
        ? failure
        : SteleException.outcomeUnknown(
            failure.getMessage() + ". The change may have begun, and may still be done", failure);
  }

  /**
   * Waits until it is made, at most for {@code stele.client.timeout}.
   *
   * @throws SteleException why it is not and will not be made; OUTCOME_UNKNOWN if it may still be
   */
  public Progress await() throws IOException {
    return await(calls.connection().timeout());
  }

  /**
   * Waits until it is made.
   *
   * @param timeout how long to wait at most
   * @throws SteleException why it is not and will not be made; OUTCOME_UNKNOWN if it may still be
   */
  public Progress await(Duration timeout) throws IOException {
    calls.untilDone(what, toFindOut, timeout, this::poll);
    return progress();
  }

  @Override
  public String toString() {
    return what;
  }
}
