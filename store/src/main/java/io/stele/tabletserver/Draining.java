package io.stele.tabletserver;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.lock.Lock;
import io.stele.metadata.ServerInfo;
import io.stele.model.SteleException;
import io.stele.runtime.Deadline;
import io.stele.runtime.Durations;
import io.stele.runtime.FreshRead;
import io.stele.runtime.IoRunnable;
import io.stele.wire.control.ControlProtos.DrainRequestProto;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The draining of a server: it gives all its tablets away and takes none. A drain lasts until
 * {@link #undo}, which works also while the drain waits for METADATA: the server then takes tablets
 * at once, and those that it was about to give away come back when that is known. A drain before
 * the server's end ({@link #drainForShutdown}) cannot be undone; while it runs, nothing else
 * changes what the server takes. If it fails, the server continues as before. An end that was asked
 * for ({@link #beginEnd}) is then tried again, until {@link #undo}; that is refused while somebody
 * asks for the end again and again.
 *
 * <p>An end that is tried again, or was to be unless the server is the last, leaves no tablet
 * unserved: the server gives each away only while another takes any, and ends only once others
 * serve all that it gave away since it began to drain, but for those in quarantine. If no other
 * takes tablets any more, or none has taken one of these for a minute, it takes tablets again, also
 * those; unless it is to be drained anyway ({@link #begin}). So of several servers with such an
 * end, one stays until others come. A request to end at once ends the wait.
 *
 * <p>The server's lock says whether it is drained, so that every master knows. What the lock says
 * and what {@link TabletLifecycle} does change together, under one guard that is held over I/O.
 *
 * <p>Safe for use by any number of threads; {@link #begin}, {@link #beginEnd} and {@link #undo} do
 * not wait.
 */
final class Draining {
  private static final Logger LOG = LoggerFactory.getLogger(Draining.class);
  private static final Duration AGAIN = Duration.ofMillis(500);

  /** After the first failure to end; doubled after each further one. */
  private static final Duration END_AGAIN = Duration.ofSeconds(1);

  private static final Duration END_AGAIN_MAX = Duration.ofMinutes(2);

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

  /** What ends the server once it has no tablets, if it was asked to end. */
  @GuardedBy("this")
  private Optional<IoRunnable> end = Optional.empty();

  /** Why the end is asked for again and again; empty if it is not. */
  @GuardedBy("this")
  private Optional<Reason> endReason = Optional.empty();

  /** Until when the reason holds, if it is not given again. */
  @GuardedBy("this")
  private Deadline endReasonHolds;

  /** For how long a failed end is not tried again. */
  @GuardedBy("this")
  private Deadline endPause;

  @GuardedBy("this")
  private boolean shuttingDown;

  /** Whether an end at once was asked for while one is under way. */
  @GuardedBy("this")
  private boolean atOnce;

  /** Whether a thread carries out what is wanted. */
  @GuardedBy("this")
  private boolean hasWorker;

  /** Whether a thread gives tablets away because {@link #begin} was called. */
  @GuardedBy("this")
  private boolean givesAway;

  /**
   * Why somebody asks for a server's end again and again.
   *
   * @param words of whom the request is, and why
   * @param holds for how long after each request it cannot be undone; at most {@link #HOLDS_MAX}
   */
  record Reason(String words, Duration holds) {
    /** Who says nothing else asks again within this. */
    private static final Duration HOLDS = Duration.ofSeconds(30);

    private static final Duration HOLDS_MAX = Duration.ofHours(1);

    Reason {
      holds = Durations.min(holds, HOLDS_MAX);
    }

    /** Why a request was made; empty if it is made once. */
    static Optional<Reason> of(DrainRequestProto request) {
      Duration holds =
          request.hasReasonHoldsMillis()
              ? Duration.ofMillis(request.getReasonHoldsMillis())
              : HOLDS;
      return request.hasReason()
          ? Optional.of(new Reason(request.getReason(), holds))
          : Optional.empty();
    }
  }

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
    this.endPause = Deadline.after(context.runtime(), Duration.ZERO);
    this.endReasonHolds = this.endPause;
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
   * From now on, and until {@link #undo}, drains the server for its end and then ends it. A request
   * is carried out at once, whether or not others take the tablets. What failed is tried again, but
   * only while other servers take the tablets: whoever asked may no longer watch over it.
   *
   * @param whenEmpty ends the server, which has no tablets and takes none
   * @param unlessLast do not carry it out at once, but as if it had failed before; a request of
   *     which this is a repetition goes on as it was. False: one that is under way waits for others
   *     no more
   * @param reason why the request is repeated: it cannot be undone meanwhile. Empty if it is made
   *     once
   */
  void beginEnd(IoRunnable whenEmpty, boolean unlessLast, Optional<Reason> reason) {
    synchronized (this) {
      if (reason.isPresent()) {
        endReason = reason;
        endReasonHolds = Deadline.after(context.runtime(), reason.get().holds());
      }
      if (shuttingDown) {
        atOnce |= !unlessLast;
        LOG.info("Asked again to drain and end: does so already");
        return;
      }
      if (end.isEmpty() || !unlessLast) {
        endPause = Deadline.after(context.runtime(), Duration.ZERO);
      }
      end = Optional.of(whenEmpty);
    }
    if (unlessLast) {
      startWorker();
    } else {
      context.runtime().start("drain", () -> tryToEnd(false));
    }
  }

  /**
   * Undoes {@link #begin}, and {@link #beginEnd} if that has failed: the server gives no further
   * tablet away, and soon takes tablets again.
   *
   * @throws SteleException REFUSED if the server is drained to end: it never takes tablets again;
   *     or if somebody asks for its end again and again. The end stays then, and only {@link
   *     #begin} is undone
   */
  void undo() {
    Optional<SteleException> refusal;
    synchronized (this) {
      refusal = whyNotUndone();
      wanted = false;
      if (refusal.isEmpty()) {
        end = Optional.empty();
        endReason = Optional.empty();
      }
    }
    startWorker();
    if (refusal.isPresent()) {
      throw refusal.get();
    }
  }

  /** Why the server's end cannot be undone; empty if it can. */
  @GuardedBy("this")
  private Optional<SteleException> whyNotUndone() {
    String undone = wanted ? ". Its drain by 'stele server drain' is undone" : "";
    if (shuttingDown) {
      return Optional.of(
          SteleException.refused(
              "server "
                  + context.id()
                  + " is giving its tablets away before it ends, and will take no more: it is being"
                  + " restarted, or is not needed any more"
                  + undone));
    }
    if (end.isPresent() && endReason.isPresent() && !endReasonHolds.isOver()) {
      return Optional.of(
          SteleException.refused(
              "server "
                  + context.id()
                  + " is to end, and is asked to again: "
                  + endReason.get().words()
                  + undone));
    }
    return Optional.empty();
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
    giveAllAway(false);
  }

  /**
   * Whoever calls this has set {@link #shuttingDown}.
   *
   * @param onlyToTakers give tablets away only while another server takes any, and wait until all
   *     are served. That is asked once the lock says that the server is drained. So of two servers
   *     that do this at the same time, at least one learns that the other takes no tablets
   */
  private void giveAllAway(boolean onlyToTakers) throws IOException {
    LOG.info("Draining {} tablets", context.tablets().count());
    boolean empty = false;
    try {
      changing.lock();
      try {
        change(true);
      } finally {
        changing.unlock();
      }
      if (onlyToTakers) {
        if (!isAtOnce() && !anotherTakesTablets(Duration.ZERO)) {
          throw SteleException.retryLater("no other server takes tablets");
        }
        evacuation.handOver(() -> anotherTakesTablets(TAKER_SEEN), this::isAtOnce);
      } else {
        evacuation.unloadForShutdown(() -> true);
      }
      empty = true;
    } finally {
      if (!empty) {
        resumeService(onlyToTakers);
      }
    }
  }

  private synchronized boolean isAtOnce() {
    return atOnce;
  }

  /**
   * Has the server serve as before {@link #drainForShutdown}, which failed. If the lock says that
   * it is drained, the worker corrects that later. An end at once that was asked for meanwhile is
   * tried now, if it was not tried.
   */
  private void resumeService(boolean waited) {
    boolean triesAtOnce;
    changing.lock();
    try {
      synchronized (this) {
        triesAtOnce = waited && atOnce;
        atOnce = false;
        shuttingDown = false;
        lifecycle.setDraining(wanted);
        lifecycle.setClosed(false);
        Duration longer = Durations.max(endPause.limit().multipliedBy(2), END_AGAIN);
        endPause = Deadline.after(context.runtime(), Durations.min(longer, END_AGAIN_MAX));
      }
    } finally {
      changing.unlock();
    }
    LOG.warn("Server {} could not be drained; it continues as before", context.id());
    if (triesAtOnce) {
      context.runtime().start("drain", () -> tryToEnd(false));
    }
    startWorker();
  }

  /** Ends the server, unless that was undone, or is under way already. */
  private void tryToEnd(boolean onlyToTakers) {
    IoRunnable whenEmpty;
    synchronized (this) {
      if (shuttingDown || end.isEmpty()) {
        return;
      }
      shuttingDown = true;
      whenEmpty = end.get();
    }
    try {
      giveAllAway(onlyToTakers);
    } catch (IOException | RuntimeException e) {
      LOG.error("Draining failed; the server keeps its remaining tablets, and will try again", e);
      return;
    }
    try {
      whenEmpty.run();
    } catch (IOException | RuntimeException e) {
      LOG.warn("The server was drained and has ended, but not in order", e);
    }
  }

  /** Tries again to end the server, if it is to end and it is time. */
  private void tryToEndAgain() throws IOException {
    synchronized (this) {
      if (end.isEmpty() || !endPause.isOver()) {
        return;
      }
      endPause = Deadline.after(context.runtime(), Durations.max(endPause.limit(), END_AGAIN));
    }
    if (anotherTakesTablets(TAKER_SEEN)) {
      tryToEnd(true);
    }
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
          tryToEndAgain();
        } catch (IOException | RuntimeException e) {
          LOG.warn(
              "Draining server {}, or its undoing, failed; will retry: {}",
              context.id(),
              e.toString());
        }
        // Not at the same moments as others: none of several that try to end would see a taker.
        long least = AGAIN.toMillis() / 2;
        long millis = least + context.runtime().random().nextLong(2 * least);
        context.life().awaitEnd(Duration.ofMillis(millis));
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
    boolean isLeft = wanted || end.isPresent() || !takesTablets();
    hasWorker = !context.life().isOver() && !shuttingDown && isLeft;
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
      startGivingAway();
    }
  }

  /**
   * Starts a thread that gives tablets away while that is wanted, unless there is one. The worker
   * does not wait for it: it may wait for METADATA, which perhaps only this server can serve once
   * the drain is undone.
   */
  private void startGivingAway() {
    synchronized (this) {
      if (givesAway) {
        return;
      }
      givesAway = true;
    }
    boolean started = false;
    try {
      context.runtime().start("give-away", this::giveAway);
      started = true;
    } finally {
      if (!started) {
        givingAwayEnded();
      }
    }
  }

  private synchronized void givingAwayEnded() {
    givesAway = false;
  }

  private void giveAway() {
    try {
      evacuation.unloadAll(this::mayGiveAnother);
    } catch (IOException | RuntimeException e) {
      LOG.warn(
          "Server {} could not give all tablets away; will retry: {}", context.id(), e.toString());
    } catch (Error e) {
      context.life().abort("giving its tablets away failed: " + e);
      throw e;
    } finally {
      givingAwayEnded();
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
    return anotherTakesTablets(TAKER_SEEN);
  }

  /**
   * @param ageMax how long ago it may have been seen
   */
  private boolean anotherTakesTablets(Duration ageMax) throws IOException {
    return taker.since(context.runtime().nanoTime() - ageMax.toNanos());
  }
}
