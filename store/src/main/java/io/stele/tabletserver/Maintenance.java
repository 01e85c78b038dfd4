package io.stele.tabletserver;

import io.stele.config.TabletServerConfig;
import io.stele.log.OldestNeeded;
import io.stele.metadata.TabletRecord;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.record.Pending;
import io.stele.runtime.Durations;
import io.stele.runtime.Futures;
import io.stele.runtime.IoRunnable;
import io.stele.runtime.Permits;
import io.stele.runtime.ProcessRuntime;
import io.stele.tablet.Tablet;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides in rounds which tablets compact and split, and starts that work on other threads.
 *
 * <p>A tablet makes a minor compaction when its memtable is large (and it does not have too many
 * SSTables), when its memtable is the largest while memory is tight, when it keeps too many log
 * segments, or old ones, from being deleted, or when it has records in a segment that could not be
 * written or closed. The work is done by the executors of each kind, so that METADATA never waits
 * for user data.
 *
 * <p>Work that fails because of its tablet ({@link Blame#TABLET}) is retried after ever longer
 * pauses. The tablet is still served, but if minor compactions fail, it accepts writes only up to a
 * limit.
 *
 * <p>{@link #run} and {@link #round} are for one thread. The other methods are safe for use by any
 * number of threads; they never wait, as they only start work.
 */
final class Maintenance implements JobOutcomes {
  private static final Logger LOG = LoggerFactory.getLogger(Maintenance.class);
  private static final String MINOR = "make a minor compaction";
  private static final String SERVE = "be served";

  /** Stopped tablets may keep so many times as many segments as the log should have. */
  private static final int SEGMENTS_FACTOR_OF_STOPPED = 8;

  static final String SPLIT = "split";
  private static final String PIN = "be pinned";
  private static final String REGISTER = "register the files of job ";
  private static final String RESOLVE = "resolve the files of jobs that are over";
  private static final String CLEAR = "delete a range of rows";
  private static final String ERASE = "remove dropped families";
  private static final String UNPIN = "remove the pins of ended jobs";

  /** How long a tablet is not looked at again that needed no compaction, unless it changes. */
  private static final Duration IDLE_TRUSTED = Duration.ofSeconds(5);

  /** How soon after a failure those who need it ask again for work that only requests start. */
  private static final Duration ASKED_AGAIN_WITHIN = Duration.ofMinutes(10);

  private static final int STUCK_MEMTABLES = 2;
  private static final int OPERATIONS_SHARE_COMPACTED = 4;

  private final ProcessRuntime runtime;
  private final HostedTablets tablets;
  private final ServerResources resources;
  private final ServerLife life;
  private final TabletLifecycle lifecycle;
  private final TabletLoader loader;
  private final JobPins pins;
  private final JobFiles files;
  private final JobTasks tasks;
  private final TabletServerConfig config;
  private final Duration idleTrusted;

  Maintenance(
      ServerContext server,
      TabletLifecycle lifecycle,
      TabletLoader loader,
      JobPins pins,
      JobFiles files,
      TabletServerConfig config) {
    this.runtime = server.runtime();
    this.tablets = server.tablets();
    this.resources = server.resources();
    this.life = server.life();
    this.lifecycle = lifecycle;
    this.loader = loader;
    this.pins = pins;
    this.files = files;
    this.tasks = new JobTasks(runtime, tablets, files);
    this.config = config;
    this.idleTrusted = Durations.min(IDLE_TRUSTED, config.garbageInterval());
  }

  /** Makes a round every {@code pause} until the server ends; a failed round ends the server. */
  void run(Duration pause) {
    try {
      while (!life.awaitEnd(pause)) {
        round();
      }
    } catch (InterruptedException e) {
      Futures.interruptAgain(); // The server stops.
    } catch (RuntimeException | Error e) {
      life.abort("maintenance failed: " + e);
      throw e;
    }
  }

  /** Looks at every tablet once. */
  void round() {
    if (!lifecycle.isBusy()) {
      loader.closeUnusedLogs();
    }
    pins.lookNowAndThen();
    files.lookNowAndThen();
    tasks.lookNowAndThen();
    Collection<HostedTablet> all = tablets.all();
    for (KindResources kind : resources.all()) {
      relieveMemory(kind, all);
      relieveOperations(kind, all);
      relieveLog(kind);
    }
    for (HostedTablet hosted : all) {
      hosted.forgetUntried(
          work -> work.equals(PIN) || work.startsWith(REGISTER), ASKED_AGAIN_WITHIN);
      Optional<Throwable> failure = hosted.tablet().failure();
      if (failure.isPresent()) {
        if (Blame.of(failure.get()) != Blame.TABLET) {
          life.abort("tablet " + hosted.id() + " has stopped: " + failure.get());
          return;
        }
        putAside(hosted, failure.get());
        continue;
      }
      if (hosted.tablet().memtableBytes() > config.memtableBytes()
          && !hosted.tablet().isCrowded()) {
        startMinor(hosted);
      }
      if (!lifecycle.isDraining() && !hosted.isIdle(idleTrusted)) {
        startRewriteOrSplit(hosted);
      }
      // Not while other tablets wait to be loaded, which needs the same disks and processors.
      if (!lifecycle.isBusy() && loader.hasReplayToCover(hosted)) {
        coverReplay(hosted);
      }
      if (pins.hasEnded(hosted)) {
        startMinorWork(hosted, UNPIN, () -> pins.unpin(hosted));
      }
      if (files.hasEnded(hosted)) {
        startResolving(hosted);
      }
      if (hosted.tablet().hasAbandonedFiles()) {
        startMinorWork(
            hosted,
            "delete the files of failed compactions",
            hosted.tablet()::deleteAbandonedFiles);
      }
    }
  }

  /**
   * Puts aside a tablet that has stopped because of a fault of its own: it refuses requests and
   * reports why. It is not moved, because the same request would stop it elsewhere too.
   */
  private static void putAside(HostedTablet hosted, Throwable failure) {
    if (!hosted.isResting(SERVE)) {
      LOG.error("Tablet {} has stopped; others go on", hosted.id(), failure);
      hosted.failed(SERVE, failure + "; it is served again when this server has ended", false);
    }
  }

  /** Writes the records replayed into a tablet to SSTables, so that their logs can be deleted. */
  private void coverReplay(HostedTablet hosted) {
    startMinorWork(hosted, "cover the replayed records", () -> loader.coverReplay(hosted));
  }

  private void relieveMemory(KindResources kind, Collection<HostedTablet> all) {
    long excess = kind.memtables().excess();
    if (excess <= 0) {
      return;
    }
    List<HostedTablet> largestFirst =
        all.stream()
            .filter(hosted -> hosted.kind() == kind.kind() && !hosted.isResting(MINOR))
            .sorted(Comparator.comparingLong(Maintenance::memtableBytes).reversed())
            .toList();
    for (HostedTablet hosted : largestFirst) {
      if (excess > 0) {
        excess -= memtableBytes(hosted); // It is being written out, or is from now on.
        startMinor(hosted);
      }
    }
  }

  private static long memtableBytes(HostedTablet hosted) {
    return hosted.tablet().memtableBytes();
  }

  /** Makes minor compactions, because written operations take only a fraction of the memory. */
  private void relieveOperations(KindResources kind, Collection<HostedTablet> all) {
    if (kind.operations().isTight()) {
      long much = kind.operations().share() / OPERATIONS_SHARE_COMPACTED;
      all.stream()
          .filter(hosted -> hosted.kind() == kind.kind() && !hosted.isResting(MINOR))
          .filter(hosted -> hosted.tablet().unwrittenOperationBytes() > much)
          .forEach(this::startMinor);
    }
  }

  private void relieveLog(KindResources kind) {
    kind.log().inFailedSegments().forEach(id -> tablets.find(id).ifPresent(this::startMinor));
    Optional<OldestNeeded> oldest =
        kind.log()
            .oldestNeeded()
            .filter(
                one ->
                    one.segments() > config.logSegmentsMax()
                        || one.age().compareTo(config.logAgeMax()) > 0);
    if (oldest.isPresent()) {
      endIfOnlyStoppedKeep(oldest.get());
      oldest.get().tablets().keySet().forEach(id -> tablets.find(id).ifPresent(this::startMinor));
      if (oldest.get().beingWritten()) {
        kind.log().roll();
      }
    }
  }

  /**
   * Ends the server if its log has become far too long and only tablets that have stopped keep it:
   * they can be written out only after a recovery.
   */
  private void endIfOnlyStoppedKeep(OldestNeeded oldest) {
    int most = SEGMENTS_FACTOR_OF_STOPPED * config.logSegmentsMax();
    if (oldest.segments() > most && oldest.tablets().keySet().stream().allMatch(this::hasStopped)) {
      life.abort(
          "its commit log has "
              + oldest.segments()
              + " segments, more than "
              + SEGMENTS_FACTOR_OF_STOPPED
              + " times stele.tabletserver.log.segments.max, because of tablets that have stopped: "
              + oldest.tablets().keySet()
              + ". They are recovered elsewhere");
    }
  }

  private boolean hasStopped(TabletId id) {
    return tablets.find(id).flatMap(hosted -> hosted.tablet().failure()).isPresent();
  }

  private void startMinor(HostedTablet hosted) {
    startMinorWork(hosted, MINOR, hosted.tablet()::minorCompact);
  }

  /**
   * Starts to pin a tablet for a job, unless it is pinned, or busy: then the next request will.
   *
   * @return whether it is pinned
   */
  boolean pin(HostedTablet hosted, String job) {
    if (!JobPins.isPinned(hosted, job)) {
      startMinorWork(
          hosted,
          PIN,
          () -> {
            files.resolve(hosted); // What has committed before is seen at the pin.
            pins.pin(hosted, job);
          });
    }
    return JobPins.isPinned(hosted, job);
  }

  /**
   * Starts to register a job's changes in a tablet, unless they are registered, or the tablet is
   * busy: then the next request will.
   *
   * @param waiting of one job, with rows of the tablet only
   * @return whether all of it is registered
   * @throws SteleException CORRUPTION if a file is damaged, REFUSED or RETRY_LATER if the tablet
   *     would have too many
   */
  boolean register(HostedTablet hosted, List<Pending> waiting) {
    if (!JobFiles.isRegistered(hosted, waiting)) {
      JobFiles.requireRoom(hosted, waiting);
      String what = REGISTER + waiting.get(0).job();
      for (Trouble trouble : hosted.troubles()) {
        if (trouble.work().equals(what) && trouble.damage()) {
          throw new SteleException(SteleException.Code.CORRUPTION, trouble.reason());
        }
      }
      // On other threads than minor compactions: it needs no memory for them.
      start(
          hosted,
          hosted.minor(),
          1,
          threads(hosted).jobs(),
          what,
          () -> files.register(hosted, waiting));
    }
    return JobFiles.isRegistered(hosted, waiting);
  }

  /**
   * Starts to clear rows of a tablet for a change of its table, unless that is done, or the tablet
   * is busy: then the next request will.
   */
  void clear(HostedTablet hosted, long change, RowRange rows) {
    if (!RowClearing.left(hosted, change, rows).isEmpty()) {
      startMinorWork(
          hosted,
          CLEAR,
          () -> {
            files.resolve(hosted); // What has committed before is cleared, too.
            RowClearing.clear(runtime, hosted, change, rows);
          });
    }
  }

  /**
   * Starts to erase dropped families from a tablet for a change of its table, unless that is done,
   * or the tablet is busy: then the next request will.
   */
  void erase(HostedTablet hosted, long change, Set<String> families) {
    if (!RowClearing.left(hosted, change, RowRange.ALL).isEmpty()) {
      startMinorWork(
          hosted,
          ERASE,
          () -> {
            files.resolve(hosted); // What has committed before is erased, too.
            RowClearing.erase(runtime, hosted, change, families);
          });
    }
  }

  /** Starts to resolve the files of a job that is over; returns whether none waits any more. */
  boolean resolve(HostedTablet hosted, String job) {
    if (JobFiles.jobsOf(hosted).contains(job)) {
      startResolving(hosted);
    }
    return !JobFiles.jobsOf(hosted).contains(job);
  }

  /**
   * Completes when a tablet with waiting files may answer a request that has arrived by now. Fails
   * with RETRY_LATER if it may not, and then starts to resolve the files, if that is due.
   */
  @Override
  public CompletableFuture<Void> mayAnswer(HostedTablet hosted) {
    return files
        .mayAnswer(hosted)
        .thenAccept(
            may -> {
              if (!may) {
                startResolving(hosted);
                throw SteleException.retryLater(
                    "tablet "
                        + hosted.id()
                        + " is taking over the files of a job: try again"
                        + hosted
                            .failureOf(RESOLVE)
                            .map(why -> " (when it last tried, it failed: " + why + ")")
                            .orElse(""));
              }
            });
  }

  @Override
  public CompletableFuture<Void> admit(HostedTablet hosted, String job) {
    return tasks.admit(hosted, job);
  }

  private void startResolving(HostedTablet hosted) {
    startMinorWork(hosted, RESOLVE, () -> files.resolve(hosted));
  }

  /** Starts work that must not run at the same time as a minor compaction or a split. */
  private void startMinorWork(HostedTablet hosted, String what, IoRunnable work) {
    start(hosted, hosted.minor(), 1, threads(hosted).minor(), what, work);
  }

  private void startRewriteOrSplit(HostedTablet hosted) {
    Tablet tablet = hosted.tablet();
    TabletRecord record = hosted.record();
    TableSchema schema = tablet.schema();
    boolean splits = tablet.fileBytes() > schema.splitBytes() && hosted.maySplit();
    if (splits && !hosted.isResting(SPLIT)) {
      start(
          hosted,
          hosted.rewrites(),
          HostedTablet.REWRITES_MAX,
          threads(hosted).splits(),
          SPLIT,
          () -> lifecycle.split(hosted));
      return; // One that fails does not keep the files from being merged meanwhile.
    }
    boolean merges = tablet.wantsMergingCompaction();
    boolean collects = tablet.wantsToCollectGarbage(config.garbageInterval());
    if (!splits && !merges && !collects && hosted.rewrites().free() == HostedTablet.REWRITES_MAX) {
      hosted.foundIdle(record, schema);
    }
    Executor threads = threads(hosted).rewrites();
    if (merges) {
      start(
          hosted,
          hosted.rewrites(),
          1,
          threads,
          "make a merging compaction",
          tablet::mergingCompact);
    }
    if (collects) {
      start(
          hosted,
          hosted.rewrites(),
          1,
          threads,
          "make a major compaction",
          () -> tablet.collectGarbage(config.garbageInterval()));
    }
  }

  private KindResources.Threads threads(HostedTablet hosted) {
    return resources.of(hosted.id()).threads();
  }

  /**
   * Queues work on a tablet, unless that work is queued, rests after a failure, or cannot have its
   * permits now: then the next round will see.
   *
   * <p>Queued work holds no permits; the thread that does the work takes them. Otherwise a task
   * that has the last thread could wait for the permits of work that is queued behind it, for ever.
   */
  private void start(
      HostedTablet hosted,
      Permits permits,
      int count,
      Executor threads,
      String what,
      IoRunnable work) {
    if (hosted.isResting(what) || permits.free() < count || !hosted.markQueued(what)) {
      return;
    }
    try {
      threads.execute(
          () -> {
            hosted.unmarkQueued(what);
            tryWork(hosted, permits, count, what, work);
          });
    } catch (RejectedExecutionException e) {
      hosted.unmarkQueued(what); // The server stops.
    }
  }

  private void tryWork(
      HostedTablet hosted, Permits permits, int count, String what, IoRunnable work) {
    if (!permits.tryAcquire(count)) {
      return;
    }
    try {
      if (tablets.has(hosted)) {
        work.run();
        succeeded(hosted, what);
      }
    } catch (IOException | RuntimeException | Error e) {
      failed(hosted, what, e);
    } finally {
      permits.release(count);
    }
  }

  /** Why a tablet could not be pinned when that was last tried; empty if it did not fail. */
  static Optional<String> whyNotPinned(HostedTablet hosted) {
    return hosted.failureOf(PIN);
  }

  /** Why a tablet could not register files of a job when that was last tried, likewise. */
  static Optional<String> whyNotRegistered(HostedTablet hosted, String job) {
    return hosted.failureOf(REGISTER + job);
  }

  private static void succeeded(HostedTablet hosted, String what) {
    hosted.succeeded(what);
    if (what.equals(MINOR)) {
      hosted.limitMemtables(Long.MAX_VALUE);
    }
  }

  private void failed(HostedTablet hosted, String what, Throwable failure) {
    if (life.isOver()) {
      LOG.debug("Tablet {} was unloaded before it could {}", hosted.id(), what, failure);
      return;
    }
    switch (Blame.of(failure)) {
      case SERVER -> {
        LOG.error("Tablet {} could not {}", hosted.id(), what, failure);
        life.abort("tablet " + hosted.id() + " could not " + what + ": " + failure);
      }
      case TABLET -> {
        LOG.error(
            "Tablet {} could not {}; other tablets are not affected", hosted.id(), what, failure);
        if (what.equals(MINOR)) {
          hosted.limitMemtables(STUCK_MEMTABLES * config.memtableBytes());
        }
        hosted.failed(what, failure.toString(), Blame.isDamage(failure));
      }
      case CIRCUMSTANCES -> {
        if (failure instanceof SteleException known) { // It says itself what came between.
          LOG.info(
              "Tablet {} could not {} now; will retry: {}", hosted.id(), what, known.getMessage());
        } else {
          LOG.warn("Tablet {} could not {}; will retry", hosted.id(), what, failure);
        }
        hosted.rest(what, failure.toString());
      }
    }
  }
}
