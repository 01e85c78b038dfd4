package io.stele.tabletserver;

import io.stele.config.TabletServerConfig;
import io.stele.model.SteleException;
import io.stele.model.TabletKind;
import io.stele.runtime.IoRunnable;
import io.stele.runtime.Permits;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts background work on tablets, and decides what follows when it fails.
 *
 * <p>Each {@link Work} is queued at most once for a tablet, and runs with permits of the tablet, so
 * that work that excludes other work never runs beside it. Work that fails because of its tablet
 * ({@link FailureCause#TABLET}) is retried after ever longer pauses. The tablet is still served,
 * but if minor compactions fail, it accepts writes only up to a limit. Work that fails because of
 * the server ends the server.
 *
 * <p>Safe for use by any number of threads. The methods that start work never wait: the work is
 * done by the executors of the tablet's kind, so that METADATA never waits for user data.
 */
final class TabletWork {
  private static final Logger LOG = LoggerFactory.getLogger(TabletWork.class);
  private static final Work MINOR = Work.of(WorkKind.MINOR_COMPACTION);
  private static final int STUCK_MEMTABLES = 2;

  private final ServerLife life;
  private final HostedTablets tablets;
  private final ServerResources resources;
  private final long memtableBytes;

  TabletWork(ServerContext server, TabletServerConfig config) {
    this.life = server.life();
    this.tablets = server.tablets();
    this.resources = server.resources();
    this.memtableBytes = config.memtableBytes();
  }

  /** Starts a minor compaction. */
  void startMinorCompaction(HostedTablet hosted) {
    startExclusive(hosted, MINOR, hosted.tablet()::minorCompact);
  }

  /** Whether a minor compaction of a tablet is queued or runs. */
  static boolean isMinorCompactionUnderWay(HostedTablet hosted) {
    return hosted.work().isUnderWay(MINOR);
  }

  /** Whether minor compactions of a tablet rest because one has failed. */
  static boolean restsFromMinorCompactions(HostedTablet hosted) {
    return hosted.work().isResting(MINOR);
  }

  /** Starts work that must not run at the same time as a minor compaction or a split. */
  void startExclusive(HostedTablet hosted, Work work, IoRunnable action) {
    startExclusive(hosted, threads(hosted).minor(), work, action);
  }

  /**
   * Starts such work on threads other than those of minor compactions.
   *
   * @param threads do the work
   */
  void startExclusive(HostedTablet hosted, Executor threads, Work work, IoRunnable action) {
    start(hosted, hosted.minor(), 1, threads, work, action);
  }

  /** The threads for work on a tablet. */
  KindResources.Threads threads(HostedTablet hosted) {
    return resources.of(hosted.id()).threads();
  }

  /** The threads for merging and major compactions of one kind of tablet. */
  Executor rewriteThreads(TabletKind kind) {
    return resources.of(kind).threads().rewrites();
  }

  /**
   * Queues work on a tablet, unless that work is queued, rests after a failure, or cannot have its
   * permits now: then it must be started again later.
   *
   * <p>Queued work holds no permits; the thread that does the work takes them. Otherwise a task
   * that has the last thread could wait for the permits of work that is queued behind it, for ever.
   *
   * @param permits of the tablet
   * @param count how many of them the work needs
   * @param threads do the work
   * @param action does the work
   */
  void start(
      HostedTablet hosted,
      Permits permits,
      int count,
      Executor threads,
      Work work,
      IoRunnable action) {
    if (hosted.work().isResting(work)
        || permits.free() < count
        || !hosted.work().markQueued(work)) {
      return;
    }
    try {
      threads.execute(
          () -> {
            hosted.work().unmarkQueued(work);
            tryWork(hosted, permits, count, work, action);
          });
    } catch (RejectedExecutionException e) {
      hosted.work().unmarkQueued(work); // The server stops.
    }
  }

  private void tryWork(
      HostedTablet hosted, Permits permits, int count, Work work, IoRunnable action) {
    if (!permits.tryAcquire(count)) {
      return;
    }
    hosted.work().markRunning(work);
    try {
      if (tablets.has(hosted)) {
        action.run();
        succeeded(hosted, work);
      }
    } catch (IOException | RuntimeException | Error e) {
      failed(hosted, work, e);
    } finally {
      hosted.work().unmarkRunning(work);
      permits.release(count);
    }
  }

  private static void succeeded(HostedTablet hosted, Work work) {
    hosted.work().succeeded(work);
    if (work.equals(MINOR)) {
      hosted.limitMemtables(Long.MAX_VALUE);
    }
  }

  private void failed(HostedTablet hosted, Work work, Throwable failure) {
    String what = work.text();
    if (life.isOver()) {
      LOG.debug("Tablet {} was unloaded before it could {}", hosted.id(), what, failure);
      return;
    }
    switch (FailureCause.of(failure)) {
      case SERVER -> {
        LOG.error("Tablet {} could not {}", hosted.id(), what, failure);
        life.abort("tablet " + hosted.id() + " could not " + what + ": " + failure);
      }
      case TABLET -> {
        LOG.error(
            "Tablet {} could not {}; other tablets are not affected", hosted.id(), what, failure);
        if (work.equals(MINOR)) {
          hosted.limitMemtables(STUCK_MEMTABLES * memtableBytes);
        }
        hosted.work().failed(work, failure.toString(), FailureCause.isDamage(failure));
      }
      case CIRCUMSTANCES -> {
        if (failure instanceof SteleException known) { // It says itself what came between.
          LOG.info(
              "Tablet {} could not {} now; will retry: {}", hosted.id(), what, known.getMessage());
        } else {
          LOG.warn("Tablet {} could not {}; will retry", hosted.id(), what, failure);
        }
        hosted.work().rest(work, failure.toString());
      }
    }
  }
}
