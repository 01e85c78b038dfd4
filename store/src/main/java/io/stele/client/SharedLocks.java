package io.stele.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.config.ClusterConfig;
import io.stele.lock.LockService;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lock service sessions of the clients in a process: one for each cluster, however many
 * connections there are. ZooKeeper counts sessions by host ({@code maxClientCnxns}), and a job has
 * many tasks on each host, each of which may read and write tables. Clients hold no locks, so they
 * can share a session.
 *
 * <p>A session is opened by the first connection and closed a while after the last, on a thread of
 * its own: to open and to close one takes ZooKeeper's client a tenth of a second each, and programs
 * often open one connection after another, as a job does to submit and for each task. Safe for use
 * by any number of threads; the monitor is not held while a session is opened or closed.
 */
final class SharedLocks {
  private static final Logger LOG = LoggerFactory.getLogger(SharedLocks.class);

  /** How long a session stays open that no connection uses. */
  static final Duration UNUSED = Duration.ofSeconds(1);

  private final ProcessRuntime runtime;
  private final Opener opener;

  @GuardedBy("this")
  private final Map<ClusterConfig, Shared> open = new HashMap<>();

  /** Opens a session. */
  @FunctionalInterface
  interface Opener {
    /** Opens one; waits for it. */
    LockService open(ClusterConfig cluster) throws IOException;
  }

  /**
   * A connection's hold on a session.
   *
   * @param locks the session
   * @param release to be run when the connection is closed; running it again does nothing, as the
   *     session may have become that of others
   */
  record Hold(LockService locks, Runnable release) {}

  private static final class Shared {
    final CompletableFuture<LockService> session = new CompletableFuture<>();
    int holders;
    int releases; // By the last holder.
  }

  SharedLocks(ProcessRuntime runtime, Opener opener) {
    this.runtime = runtime;
    this.opener = opener;
  }

  /**
   * Holds the session to {@code cluster}; opens it if nobody else has it.
   *
   * @throws IOException if it could not be opened
   */
  Hold hold(ClusterConfig cluster) throws IOException {
    while (true) {
      Shared shared;
      boolean first;
      synchronized (this) {
        first = !open.containsKey(cluster);
        shared = open.computeIfAbsent(cluster, none -> new Shared());
        shared.holders++;
      }
      if (first) {
        open(cluster, shared);
      }
      try {
        LockService locks = runtime.await(shared.session);
        return hold(cluster, shared, locks);
      } catch (InterruptedException e) {
        shared.session.thenAccept(locks -> release(cluster, shared, locks));
        throw Futures.interrupted(e, "connecting to the lock service");
      } catch (ExecutionException e) {
        // Of another connection, perhaps for a reason of its own: this one tries for itself.
        LOG.debug("Another connection could not open a session", e);
      }
    }
  }

  private Hold hold(ClusterConfig cluster, Shared shared, LockService locks) {
    AtomicBoolean released = new AtomicBoolean();
    return new Hold(
        locks,
        () -> {
          if (!released.getAndSet(true)) {
            release(cluster, shared, locks);
          }
        });
  }

  private void open(ClusterConfig cluster, Shared shared) throws IOException {
    try {
      shared.session.complete(opener.open(cluster));
    } catch (IOException | RuntimeException | Error e) {
      synchronized (this) {
        open.remove(cluster, shared);
      }
      shared.session.completeExceptionally(e);
      throw e;
    }
  }

  private void release(ClusterConfig cluster, Shared shared, LockService locks) {
    int release;
    synchronized (this) {
      if (--shared.holders > 0) {
        return;
      }
      release = ++shared.releases;
    }
    runtime.after(UNUSED, () -> closeUnused(cluster, shared, locks, release));
  }

  private void closeUnused(ClusterConfig cluster, Shared shared, LockService locks, int release) {
    synchronized (this) {
      if (shared.holders > 0 || shared.releases != release) {
        return; // It is used again, or was, and is closed later.
      }
      open.remove(cluster, shared);
    }
    runtime.start("close-session", locks::close);
  }
}
