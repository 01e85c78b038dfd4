package io.stele.tabletserver;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.config.MemoryPlan;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.runtime.Deadline;
import io.stele.runtime.FanOut;
import io.stele.runtime.Futures;
import io.stele.runtime.IoCallable;
import io.stele.runtime.IoConsumer;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Unloads all tablets of a server, several at a time. User tablets come first and the root tablet
 * last: their records must be written while METADATA is still served.
 *
 * <p>Safe for use by any number of threads.
 */
final class Evacuation {
  private static final Logger LOG = LoggerFactory.getLogger(Evacuation.class);
  private static final int UNLOADS_AT_ONCE = 3; // On the threads that load, and the caller's.
  private static final Duration MOVES_END_MAX = Duration.ofSeconds(30);
  private static final Duration POLL_EVERY = Duration.ofMillis(10);

  private static final Duration TAKEN_POLL = Duration.ofMillis(100);

  /** For how long others may take none of the tablets given away: nobody serves these meanwhile. */
  private static final Duration PATIENCE_MAX = Duration.ofMinutes(1);

  /** For how long none may be unloaded: longer than all memtables take to be written. */
  private static final Duration UNLOAD_PATIENCE_MAX = Duration.ofMinutes(10);

  private static final String HANDING_OVER = "waiting for others to take the tablets";

  private final ProcessRuntime runtime;
  private final ServerLife life;
  private final HostedTablets tablets;
  private final ServerResources resources;
  private final TabletLifecycle lifecycle;
  private final Duration patienceMax;

  Evacuation(ServerContext server, TabletLifecycle lifecycle) {
    this(server, lifecycle, PATIENCE_MAX);
  }

  /**
   * Likewise.
   *
   * @param patienceMax for how long others may take none of the tablets given away
   */
  Evacuation(ServerContext server, TabletLifecycle lifecycle, Duration patienceMax) {
    this.runtime = server.runtime();
    this.life = server.life();
    this.tablets = server.tablets();
    this.resources = server.resources();
    this.lifecycle = lifecycle;
    this.patienceMax = patienceMax;
  }

  /**
   * Unloads every tablet while {@code shouldContinue} returns true; it is called before each
   * tablet, on any thread.
   *
   * @throws IOException if some tablets could not be unloaded: these stay
   */
  void unloadAll(IoCallable<Boolean> shouldContinue) throws IOException {
    unloadAllOfUsers(shouldContinue);
    unloadAll(hosted -> !hosted.id().equals(TabletId.ROOT), shouldContinue);
    unloadAll(hosted -> true, shouldContinue);
  }

  /**
   * Unloads every tablet, and has none loaded meanwhile and afterwards, until {@link
   * TabletLifecycle#setClosed} allows it again. Otherwise the master could assign a tablet again
   * that was just unloaded.
   *
   * @param shouldContinue as for {@link #unloadAll}
   * @throws SteleException RETRY_LATER if the loads and splits in progress do not end, or it was
   *     not to continue
   * @throws IOException if some tablets could not be unloaded: these stay
   */
  void unloadForShutdown(IoCallable<Boolean> shouldContinue) throws IOException {
    unloadForShutdown(shouldContinue, () -> lifecycle.setClosed(true));
  }

  private void unloadForShutdown(IoCallable<Boolean> shouldContinue, Runnable close)
      throws IOException {
    unloadAllOfUsers(shouldContinue);
    close.run();
    awaitLoadsAndSplits();
    unloadAll(shouldContinue);
    if (tablets.count() > 0) {
      throw SteleException.retryLater("no other server takes the tablets any more");
    }
  }

  /** A hand-over that goes on until it is given up; then it neither unloads nor closes any more. */
  private final class HandOver {
    private final IoCallable<Boolean> shouldContinue;

    @GuardedBy("this")
    private boolean givenUp;

    @GuardedBy("this")
    private boolean unloaded;

    HandOver(IoCallable<Boolean> shouldContinue) {
      this.shouldContinue = shouldContinue;
    }

    synchronized void giveUp() {
      givenUp = true;
    }

    synchronized boolean isGivenUp() {
      return givenUp;
    }

    synchronized boolean hasUnloaded() {
      return unloaded;
    }

    private synchronized void unloaded() {
      unloaded = true;
    }

    private synchronized void close() {
      if (givenUp) {
        throw SteleException.retryLater("the hand-over was given up");
      }
      lifecycle.setClosed(true);
    }

    void run() throws IOException {
      unloadForShutdown(() -> !isGivenUp() && shouldContinue.call(), this::close);
      unloaded();
      // An earlier hand-over, which was given up, may still be unloading some.
      while (!tablets.leaving().isEmpty() || lifecycle.givenAway().count() > 0) {
        if (!tablets.leaving().isEmpty() && (isGivenUp() || isOverSoon())) {
          return;
        }
        for (TabletId tablet : lifecycle.givenAway().tablets()) {
          if (!isTaken(tablet) && (isGivenUp() || isOverSoon())) {
            return;
          }
        }
      }
    }
  }

  /**
   * Unloads as {@link #unloadForShutdown}, and returns when others serve all that this server has
   * given away since it began to drain, or no server can.
   *
   * <p>If it fails, a tablet may still be being unloaded: that may wait for METADATA, which perhaps
   * only this server can serve.
   *
   * @param anotherTakes whether another server takes tablets
   * @param atOnce whether not to wait for others any more; may become true at any time
   * @throws SteleException RETRY_LATER if no other takes tablets before, or none has taken one of
   *     the rest for a minute
   */
  void handOver(IoCallable<Boolean> anotherTakes, BooleanSupplier atOnce) throws IOException {
    HandOver handOver = new HandOver(() -> atOnce.getAsBoolean() || anotherTakes.call());
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    // On its own thread: METADATA cannot be read or written as long as nobody has taken it.
    runtime.start(
        "hand-over",
        () ->
            Futures.complete(
                done,
                () -> {
                  handOver.run();
                  return true;
                }));
    try {
      awaitTaken(handOver, done, anotherTakes, atOnce);
    } finally {
      handOver.giveUp();
    }
  }

  private void awaitTaken(
      HandOver handOver,
      CompletableFuture<Boolean> done,
      IoCallable<Boolean> anotherTakes,
      BooleanSupplier atOnce)
      throws IOException {
    try {
      int left = lifecycle.givenAway().count();
      boolean hadUnloaded = false;
      Deadline patience = Deadline.after(runtime, UNLOAD_PATIENCE_MAX);
      while (!runtime.await(done, TAKEN_POLL)) {
        int now = lifecycle.givenAway().count();
        boolean hasUnloaded = handOver.hasUnloaded();
        if (now != left || hasUnloaded != hadUnloaded) {
          left = now;
          hadUnloaded = hasUnloaded;
          patience = Deadline.after(runtime, hasUnloaded ? patienceMax : UNLOAD_PATIENCE_MAX);
        }
        boolean waits = !atOnce.getAsBoolean();
        if (hasUnloaded && !waits) {
          return;
        }
        if (life.isOver() || (waits && (patience.isOver() || !anotherTakes.call()))) {
          throw SteleException.retryLater(
              "other servers have not taken " + now + " tablets that this one gives away");
        }
      }
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, HANDING_OVER);
    }
    Futures.await(runtime, done, HANDING_OVER); // It is done, perhaps by a failure.
  }

  private boolean isTaken(TabletId tablet) throws InterruptedIOException {
    try {
      return lifecycle.givenAway().isTaken(tablet);
    } catch (IOException | RuntimeException e) {
      if (e instanceof InterruptedIOException interruption && Futures.isInterruption(e)) {
        throw interruption;
      }
      LOG.debug("Cannot see yet who has taken tablet {}", tablet, e);
      return false;
    }
  }

  private boolean isOverSoon() throws InterruptedIOException {
    try {
      return life.awaitEnd(TAKEN_POLL);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, HANDING_OVER);
    }
  }

  private void awaitLoadsAndSplits() throws IOException {
    Deadline deadline = Deadline.after(runtime, MOVES_END_MAX);
    while (lifecycle.isBusy()) {
      if (deadline.isOver()) {
        throw SteleException.retryLater(
            "tablets are still being loaded, unloaded or split: try again");
      }
      try {
        runtime.sleep(POLL_EVERY);
      } catch (InterruptedException e) {
        throw Futures.interrupted(e, "waiting for tablets that are being loaded");
      }
    }
  }

  private void unloadAllOfUsers(IoCallable<Boolean> shouldContinue) throws IOException {
    unloadAll(hosted -> !hosted.id().table().isSystem(), shouldContinue);
  }

  private void unloadAll(Predicate<HostedTablet> which, IoCallable<Boolean> shouldContinue)
      throws IOException {
    // Repeats until none is left: a split may replace one tablet by two.
    for (List<HostedTablet> some = tablets.all().stream().filter(which).toList();
        !some.isEmpty() && shouldContinue.call();
        some = tablets.all().stream().filter(which).toList()) {
      // First write most of the data of all tablets while they are served: then no tablet is
      // unserved during it, or waits unserved for another.
      each(some, MemoryPlan.MINOR_COMPACTIONS, this::compactServed);
      Queue<IOException> failures = new ConcurrentLinkedQueue<>();
      each(some, UNLOADS_AT_ONCE, hosted -> unload(hosted, shouldContinue, failures));
      if (!failures.isEmpty()) {
        throw failures.remove();
      }
    }
  }

  private void compactServed(HostedTablet hosted) {
    try {
      if (tablets.has(hosted)) {
        hosted.tablet().minorCompact();
      }
    } catch (IOException | RuntimeException e) {
      LOG.info(
          "Tablet {} could not be written out before it is unloaded: {}",
          hosted.id(),
          e.toString());
    }
  }

  /** Unloads a tablet. If that fails, it adds to {@code failures}: the others are unloaded. */
  private void unload(
      HostedTablet hosted, IoCallable<Boolean> shouldContinue, Queue<IOException> failures) {
    try {
      if (shouldContinue.call()) {
        lifecycle.unload(hosted, false);
      }
    } catch (IOException | RuntimeException e) {
      failures.add(new IOException("tablet " + hosted.id() + " cannot be unloaded", e));
    }
  }

  /** Does the same for {@code some} tablets of one kind. */
  private void each(List<HostedTablet> some, int atOnce, IoConsumer<HostedTablet> work)
      throws IOException {
    WorkerPool loaders = resources.loaders(some.get(0).id());
    FanOut.eachIo(runtime, loaders, atOnce, some, work, "unloading tablets");
  }
}
