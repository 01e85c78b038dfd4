package io.stele.tabletserver;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.lock.Lock;
import io.stele.metadata.ServerInfo;
import io.stele.model.SteleException;
import io.stele.runtime.FreshRead;
import java.io.IOException;
import java.time.Duration;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The draining of a server: it gives all its tablets away and takes none. A drain lasts until
 * {@link #undo}. A drain before the server's end ({@link #drainForShutdown}) cannot be undone;
 * while it runs, nothing else changes what the server takes.
 *
 * <p>The server's lock says whether it is drained, so that every master knows. What the lock says
 * and what {@link TabletLifecycle} does change together, under one guard that is held over I/O.
 *
 * <p>Safe for use by any number of threads; {@link #begin} and {@link #undo} do not wait.
 */
final class Draining {
  private static final Logger LOG = LoggerFactory.getLogger(Draining.class);
  private static final Duration AGAIN = Duration.ofMillis(500);

  /** How often the master is asked, while tablets are given away, whether a server takes them. */
  private static final Duration TAKER_SEEN = Duration.ofSeconds(1);

  private final ServerContext context;
  private final Lock lock;
  private final Function<Boolean, ServerInfo> info;
  private final TabletLifecycle lifecycle;
  private final Evacuation evacuation;
  private final MasterContact contact;
  private final FreshRead<Boolean> taker; // Whether there is one.

  /** Held while what the server takes is changed, and said. Taken before the monitor of this. */
  private final java.util.concurrent.locks.Lock changing;

  /** Whether the lock says that the server is drained, or may say so. */
  private volatile boolean maySayDrained;

  @GuardedBy("this")
  private boolean wanted;

  @GuardedBy("this")
  private boolean shuttingDown;

  /** Whether a thread carries out what is wanted. */
  @GuardedBy("this")
  private boolean hasWorker;

  /**
   * The draining of a server that takes tablets.
   *
   * @param lock the server's
   * @param info what the lock says of a server that is drained, or is not
   */
  Draining(
      ServerContext context,
      Lock lock,
      Function<Boolean, ServerInfo> info,
      TabletLifecycle lifecycle,
      MasterContact contact) {
    this.context = context;
    this.lock = lock;
    this.info = info;
    this.lifecycle = lifecycle;
    this.evacuation = new Evacuation(context, lifecycle);
    this.contact = contact;
    this.taker = new FreshRead<>(context.runtime(), contact::othersTakeTablets);
    this.changing = context.runtime().newLock();
  }

  /**
   * From now on, and until {@link #undo}, tablets are given away while another server takes any.
   */
  void begin() {
    synchronized (this) {
      wanted = true;
    }
    startWorker();
  }

  /**
   * Undoes {@link #begin}: the server gives no further tablet away, and soon takes tablets again.
   *
   * @throws SteleException REFUSED if the server is drained to end: it never takes tablets again
   */
  void undo() {
    synchronized (this) {
      if (shuttingDown) {
        throw SteleException.refused(
            "server "
                + context.id()
                + " is giving its tablets away before it ends, and will take no more: it is being"
                + " restarted, or is not needed any more");
      }
      wanted = false;
    }
    startWorker();
  }

  /** Whether {@link #drainForShutdown} is under way, or has ended well. */
  synchronized boolean isShuttingDown() {
    return shuttingDown;
  }

  /**
   * Unloads every tablet, whether or not others take them; then no more are loaded.
   *
   * @throws SteleException RETRY_LATER if this is under way already
   * @throws IOException if it failed: the server continues as before
   */
  void drainForShutdown() throws IOException {
    synchronized (this) {
      if (shuttingDown) {
        throw SteleException.retryLater("server " + context.id() + " is already being drained");
      }
      shuttingDown = true;
    }
    LOG.info("Draining {} tablets", context.tablets().count());
    boolean empty = false;
    try {
      changing.lock();
      try {
        change(true);
      } finally {
        changing.unlock();
      }
      evacuation.unloadForShutdown();
      empty = true;
    } finally {
      if (!empty) {
        resumeService();
      }
    }
  }

  /**
   * Has the server serve as before {@link #drainForShutdown}, which failed. If the lock says that
   * it is drained, the worker corrects that later.
   */
  private void resumeService() {
    changing.lock();
    try {
      synchronized (this) {
        shuttingDown = false;
        lifecycle.setDraining(wanted);
      }
    } finally {
      changing.unlock();
    }
    LOG.warn("Server {} could not be drained; it continues as before", context.id());
    startWorker();
  }

  /** Starts a thread that carries out what is wanted, unless there is one. */
  private void startWorker() {
    synchronized (this) {
      if (hasWorker || context.life().isOver()) {
        return;
      }
      hasWorker = true;
    }
    boolean started = false;
    try {
      context.runtime().start("drain", this::work);
      started = true;
    } finally {
      if (!started) {
        workerEnded();
      }
    }
  }

  private synchronized void workerEnded() {
    hasWorker = false;
  }

  private void work() {
    try {
      while (shouldContinue()) {
        try {
          applyWanted();
        } catch (IOException | RuntimeException e) {
          LOG.warn(
              "Draining server {}, or its undoing, failed; will retry: {}",
              context.id(),
              e.toString());
        }
        context.life().awaitEnd(AGAIN);
      }
    } catch (InterruptedException e) {
      LOG.debug("The server ends", e);
    } catch (Error e) {
      workerEnded();
      context.life().abort("draining it failed: " + e);
      throw e;
    }
  }

  /**
   * For the worker, before each turn: whether anything is left to do. If not, it counts as ended,
   * and must end.
   */
  private synchronized boolean shouldContinue() {
    hasWorker = !context.life().isOver() && !shuttingDown && (wanted || !takesTablets());
    return hasWorker;
  }

  private boolean takesTablets() {
    return !lifecycle.isDraining() && !maySayDrained;
  }

  private boolean isDrained() {
    return lifecycle.isDraining() && contact.isDraining();
  }

  /**
   * Gives tablets away, or has the server take them again, as is wanted. While they are given away,
   * this is done again and again: some may just have been assigned.
   */
  private void applyWanted() throws IOException {
    boolean drain;
    changing.lock();
    try {
      synchronized (this) {
        if (shuttingDown) {
          return;
        }
        drain = wanted;
      }
      if (drain ? !isDrained() : !takesTablets()) {
        change(drain);
      }
    } finally {
      changing.unlock();
    }
    if (drain && context.tablets().count() > 0) {
      evacuation.unloadAll(this::mayGiveAnother);
    }
  }

  /** If this fails, the lock may have either data. */
  private void change(boolean drain) throws IOException {
    lifecycle.setDraining(drain);
    maySayDrained = true;
    lock.update(info.apply(drain).encode());
    contact.drains(drain);
    maySayDrained = drain;
    LOG.info(
        drain
            ? "Server {} gives its tablets away and takes none"
            : "Server {} keeps the tablets that it has, and takes others",
        context.id());
  }

  /** Whether a tablet may be given away: it is still wanted, and somebody takes it. */
  private boolean mayGiveAnother() throws IOException {
    synchronized (this) {
      if (!wanted) {
        return false;
      }
    }
    return taker.since(context.runtime().nanoTime() - TAKER_SEEN.toNanos());
  }
}
