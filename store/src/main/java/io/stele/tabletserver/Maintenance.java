package io.stele.tabletserver;

import io.stele.config.TabletServerConfig;
import io.stele.log.OldestNeeded;
import io.stele.metadata.TabletRecord;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.runtime.Durations;
import io.stele.runtime.Futures;
import io.stele.tablet.Tablet;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides in rounds which tablets compact and split, and starts that work ({@link TabletWork}).
 *
 * <p>A tablet makes a minor compaction when its memtable is large (and it does not have too many
 * SSTables), when its memtable is the largest while memory is tight, when it keeps too many log
 * segments, or old ones, from being deleted, or when it has records in a segment that could not be
 * written or closed.
 *
 * <p>A round keeps no state that the next one needs: what cannot be started now, the next round
 * starts. A tablet that has stopped because of a fault of its own is set aside; one that has
 * stopped for another reason ends the server.
 *
 * <p>For one thread, which only starts work and never waits for it.
 */
final class Maintenance {
  private static final Logger LOG = LoggerFactory.getLogger(Maintenance.class);
  private static final Work SERVE = Work.of(WorkKind.SERVE);
  private static final Work MAINTAIN = Work.of(WorkKind.MAINTAIN);
  private static final Work SPLIT = Work.of(WorkKind.SPLIT);

  /**
   * How many times stele.tabletserver.log.segments.max segments may be kept by tablets that have
   * stopped.
   */
  private static final int SEGMENTS_FACTOR_OF_STOPPED = 8;

  /** How long a tablet is not looked at again that needed no compaction, unless it changes. */
  private static final Duration IDLE_TRUSTED = Duration.ofSeconds(5);

  private final HostedTablets tablets;
  private final ServerResources resources;
  private final ServerLife life;
  private final TabletLifecycle lifecycle;
  private final TabletLoader loader;
  private final TabletWork work;
  private final RequestedWork requested;
  private final TabletServerConfig config;
  private final Duration idleTrusted;

  Maintenance(
      ServerContext server,
      TabletLifecycle lifecycle,
      TabletLoader loader,
      TabletWork work,
      RequestedWork requested,
      TabletServerConfig config) {
    this.tablets = server.tablets();
    this.resources = server.resources();
    this.life = server.life();
    this.lifecycle = lifecycle;
    this.loader = loader;
    this.work = work;
    this.requested = requested;
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
    loader.closeUnusedReadaheads();
    requested.lookForEndedJobs();
    Collection<HostedTablet> all = tablets.all();
    for (KindResources kind : resources.all()) {
      relieveMemory(kind, all);
      relieveOperations(kind, all);
      relieveLog(kind);
    }
    for (HostedTablet hosted : all) {
      RequestedWork.forgetUntried(hosted);
      Optional<Throwable> failure = hosted.tablet().failure();
      if (failure.isEmpty()) {
        maintain(hosted);
      } else if (FailureCause.of(failure.get()) == FailureCause.TABLET) {
        setAside(hosted, failure.get());
      } else {
        life.abort("tablet " + hosted.id() + " has stopped: " + failure.get());
        return;
      }
    }
  }

  /** Whatever fails for one tablet would fail on the next server too: that must not end them. */
  private void maintain(HostedTablet hosted) {
    if (hosted.work().isResting(MAINTAIN)) {
      return;
    }
    try {
      startWork(hosted);
      hosted.work().succeeded(MAINTAIN);
    } catch (RuntimeException e) {
      LOG.error(
          "Cannot start the maintenance of tablet {}; other tablets are not affected",
          hosted.id(),
          e);
      hosted.work().failed(MAINTAIN, e.toString(), false);
    }
  }

  private void startWork(HostedTablet hosted) {
    if (hosted.tablet().memtableBytes() > config.memtableBytes() && !hosted.tablet().isCrowded()) {
      work.startMinorCompaction(hosted);
    }
    if (!lifecycle.isDraining() && !hosted.isIdle(idleTrusted)) {
      startRewriteOrSplit(hosted);
    }
    // Not while other tablets wait to be loaded, which needs the same disks and processors.
    if (!lifecycle.isBusy() && loader.hasReplayToCover(hosted)) {
      coverReplay(hosted);
    }
    if (!lifecycle.isDraining()) {
      requested.startCompaction(hosted);
    }
    requested.endJobs(hosted);
    if (hosted.tablet().hasAbandonedFiles()) {
      work.startExclusive(
          hosted, Work.of(WorkKind.DELETE_ABANDONED_FILES), hosted.tablet()::deleteAbandonedFiles);
    }
  }

  /**
   * Sets aside a tablet that has stopped because of a fault of its own: it refuses requests and
   * reports why. It is not moved, because the same request would stop it elsewhere too.
   */
  private static void setAside(HostedTablet hosted, Throwable failure) {
    if (!hosted.work().isResting(SERVE)) {
      LOG.error("Tablet {} has stopped; other tablets are not affected", hosted.id(), failure);
      hosted
          .work()
          .failed(SERVE, failure + "; it is served again when this server has ended", false);
    }
  }

  /** Writes the records replayed into a tablet to SSTables, so that their logs can be deleted. */
  private void coverReplay(HostedTablet hosted) {
    work.startExclusive(hosted, Work.of(WorkKind.COVER_REPLAY), () -> loader.coverReplay(hosted));
  }

  private void relieveMemory(KindResources kind, Collection<HostedTablet> all) {
    long excess = kind.memtables().excess();
    if (excess <= 0) {
      return;
    }
    List<HostedTablet> largestFirst =
        all.stream()
            .filter(
                hosted ->
                    hosted.kind() == kind.kind() && !TabletWork.restsFromMinorCompactions(hosted))
            .sorted(Comparator.comparingLong(Maintenance::memtableBytes).reversed())
            .toList();
    for (HostedTablet hosted : largestFirst) {
      if (excess > 0) {
        work.startMinorCompaction(hosted);
        if (TabletWork.isMinorCompactionUnderWay(hosted)) { // Not while other work excludes it.
          excess -= memtableBytes(hosted);
        }
      }
    }
  }

  private static long memtableBytes(HostedTablet hosted) {
    return hosted.tablet().memtableBytes();
  }

  /** Makes minor compactions, because written operations take only a fraction of the memory. */
  private void relieveOperations(KindResources kind, Collection<HostedTablet> all) {
    if (kind.operations().isTight()) {
      all.stream().filter(kind::hasManyOperations).forEach(work::startMinorCompaction);
    }
  }

  private void relieveLog(KindResources kind) {
    kind.log()
        .inFailedSegments()
        .forEach(id -> tablets.find(id).ifPresent(work::startMinorCompaction));
    Optional<OldestNeeded> oldest =
        kind.log()
            .oldestNeeded()
            .filter(
                one ->
                    one.segments() > config.logSegmentsMax()
                        || one.age().compareTo(config.logAgeMax()) > 0);
    if (oldest.isPresent()) {
      endIfOnlyStoppedKeep(oldest.get());
      oldest
          .get()
          .tablets()
          .keySet()
          .forEach(id -> tablets.find(id).ifPresent(work::startMinorCompaction));
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

  private void startRewriteOrSplit(HostedTablet hosted) {
    Tablet tablet = hosted.tablet();
    TabletRecord record = hosted.record();
    TableSchema schema = tablet.schema();
    boolean splits = tablet.fileBytes() > schema.splitBytes() && hosted.maySplit();
    if (splits && !hosted.work().isResting(SPLIT)) {
      work.start(
          hosted,
          hosted.rewrites(),
          HostedTablet.REWRITES_MAX,
          work.threads(hosted).splits(),
          SPLIT,
          () -> lifecycle.split(hosted));
      return; // One that fails does not keep the files from being merged meanwhile.
    }
    boolean merges = tablet.wantsMergingCompaction();
    boolean collects = tablet.wantsToCollectGarbage(config.garbageInterval());
    if (!splits && !merges && !collects && hosted.rewrites().free() == HostedTablet.REWRITES_MAX) {
      hosted.foundIdle(record, schema);
    }
    Executor threads = work.threads(hosted).rewrites();
    if (merges) {
      work.start(
          hosted,
          hosted.rewrites(),
          1,
          threads,
          Work.of(WorkKind.MERGING_COMPACTION),
          tablet::mergingCompact);
    }
    if (collects) {
      work.start(
          hosted,
          hosted.rewrites(),
          1,
          threads,
          Work.of(WorkKind.MAJOR_COMPACTION),
          () -> tablet.collectGarbage(config.garbageInterval()));
    }
  }
}
