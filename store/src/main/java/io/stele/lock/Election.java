package io.stele.lock;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.model.Bytes;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One candidate: waits for the lock at a path and holds it at most once.
 *
 * <p>Few processes take part in an election, so all of them watch the one lock and try again when
 * it changes, and a second after a try that failed. A candidate that lost its lock needs a new
 * {@code Election}, or (better) a new process.
 *
 * <p>Safe for use by any number of threads.
 */
public final class Election implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Election.class);
  private static final Duration RETRY = Duration.ofSeconds(1);

  /** What a candidate is told, on a thread of the lock service: hand long work to another. */
  public interface Candidate {
    /** The candidate leads from now on; called at most once. */
    void elected(Lock lock);

    /** The candidate is no longer the leader; called at most once, after {@link #elected}. */
    void lost();
  }

  private enum State {
    WAITING,
    LEADING,
    OVER
  }

  private final ProcessRuntime runtime;
  private final LockService locks;
  private final java.util.concurrent.locks.Lock attempting; // One at a time.
  private final String path;
  private final Bytes data;
  private final Candidate candidate;

  @GuardedBy("this")
  private State state = State.WAITING;

  @GuardedBy("this")
  private boolean retrying;

  @GuardedBy("this")
  private Optional<Lock> held = Optional.empty();

  @GuardedBy("this")
  private Optional<LockService.Watch> watch = Optional.empty();

  private Election(
      ProcessRuntime runtime, LockService locks, String path, Bytes data, Candidate candidate) {
    this.runtime = runtime;
    this.locks = locks;
    this.attempting = runtime.newLock();
    this.path = path;
    this.data = data;
    this.candidate = candidate;
  }

  /**
   * Takes part in the election until elected or closed.
   *
   * @param path the lock that the leader holds
   * @param data what the leader's node says, such as its name
   */
  public static Election stand(
      ProcessRuntime runtime, LockService locks, String path, Bytes data, Candidate candidate) {
    Election election = new Election(runtime, locks, path, data, candidate);
    LockService.Watch watch = locks.watch(path, election::attempt);
    election.watching(watch);
    return election;
  }

  private void watching(LockService.Watch set) {
    synchronized (this) {
      watch = Optional.of(set);
      if (state == State.WAITING) {
        return;
      }
    }
    endWatch();
  }

  // Called when the watch is set, after every change and after every reconnection. A request may
  // fail while the connection stays, so none of that need follow.
  private void attempt() {
    attempting.lock();
    try {
      if (isWaiting()) {
        locks.tryLock(path, data).ifPresent(this::acquired);
      }
    } catch (IOException e) {
      LOG.warn("Cannot take part in the election at {} now; will retry", path, e);
      retrySoon();
    } finally {
      attempting.unlock();
    }
  }

  private synchronized boolean isWaiting() {
    return state == State.WAITING;
  }

  private void retrySoon() {
    synchronized (this) {
      if (retrying || state != State.WAITING) {
        return;
      }
      retrying = true;
    }
    runtime.start(
        "election-retry",
        () -> {
          try {
            runtime.sleep(RETRY);
          } catch (InterruptedException e) {
            return; // The process ends.
          }
          synchronized (this) {
            retrying = false;
          }
          attempt();
        });
  }

  private void acquired(Lock lock) {
    boolean late;
    synchronized (this) {
      late = state != State.WAITING;
      if (!late) {
        state = State.LEADING;
        held = Optional.of(lock);
      }
    }
    endWatch();
    if (late) {
      lock.release();
      return;
    }
    candidate.elected(lock);
    lock.onLost(this::lost);
  }

  private void lost() {
    synchronized (this) {
      if (state != State.LEADING) {
        return;
      }
      state = State.OVER;
    }
    candidate.lost();
  }

  private void endWatch() {
    Optional<LockService.Watch> ended;
    synchronized (this) {
      ended = watch;
      watch = Optional.empty();
    }
    ended.ifPresent(LockService.Watch::close);
  }

  /** Leaves: gives the lock up if held, and is not elected any more. */
  @Override
  public void close() {
    Optional<Lock> given;
    synchronized (this) {
      given = state == State.LEADING ? held : Optional.empty();
      state = State.OVER;
    }
    given.ifPresent(Lock::release);
    endWatch();
  }
}
