package io.stele.tabletserver;

import io.stele.config.TabletServerConfig;
import io.stele.log.CommitLog;
import io.stele.log.LogKind;
import io.stele.log.OldestNeeded;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.SteleException;
import io.stele.runtime.Permits;
import io.stele.tablet.Tablet;
import java.io.IOException;
import java.util.Collection;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides, round by round, which tablets compact and which split, and has other threads do it.
 *
 * <p>A tablet makes a minor compaction when its memtable is large (and its SSTables not too many),
 * when it is the largest while memory is tight, and when it is what keeps too many log segments
 * alive, or old ones. Rounds are run by one thread; the work by the executors of each kind, so that
 * METADATA never waits for user data.
 */
final class Maintenance {
  private static final Logger LOG = LoggerFactory.getLogger(Maintenance.class);

  private final HostedTablets tablets;
  private final Map<LogKind, CommitLog> logs;
  private final Map<LogKind, MemtableBudget> budgets;
  private final Map<LogKind, Executor> minorThreads;
  private final Map<LogKind, Executor> largerThreads;
  private final Map<LogKind, Executor> splitThreads;
  private final Splitter splitter;
  private final TabletLoader loader;
  private final ServerLife life;
  private final TabletServerConfig config;
  private volatile boolean draining;

  Maintenance(
      HostedTablets tablets,
      Map<LogKind, CommitLog> logs,
      Map<LogKind, MemtableBudget> budgets,
      Map<LogKind, Executor> minorThreads,
      Map<LogKind, Executor> largerThreads,
      Map<LogKind, Executor> splitThreads,
      Splitter splitter,
      TabletLoader loader,
      ServerLife life,
      TabletServerConfig config) {
    this.tablets = tablets;
    this.logs = logs;
    this.budgets = budgets;
    this.minorThreads = minorThreads;
    this.largerThreads = largerThreads;
    this.splitThreads = splitThreads;
    this.splitter = splitter;
    this.loader = loader;
    this.life = life;
    this.config = config;
  }

  /** Looks at every tablet once. */
  void round() {
    Collection<HostedTablet> all = tablets.all();
    for (LogKind kind : LogKind.values()) {
      relieveMemory(kind, all);
      relieveLog(kind);
    }
    for (HostedTablet hosted : all) {
      Optional<Throwable> failure = hosted.tablet().failure();
      if (failure.isPresent()) {
        life.abort("tablet " + hosted.id() + " has stopped: " + failure.get());
        return;
      }
      if (hosted.tablet().statistics().memtableBytes() > config.memtableBytes()
          && !hosted.tablet().isCrowded()) {
        startMinor(hosted);
      }
      if (!draining) {
        startLarger(hosted);
      }
      if (loader.hasReplayToCover(hosted)) {
        coverReplay(hosted);
      }
    }
  }

  /** Begins no splits, merging or major compactions any more: the tablets are to be unloaded. */
  void drain() {
    draining = true;
  }

  /** Has what was replayed into a tablet written out, so that the logs it came from can go. */
  private void coverReplay(HostedTablet hosted) {
    start(
        hosted,
        hosted.minor(),
        1,
        minorThreads.get(hosted.kind()),
        "cover the replayed records",
        () -> loader.coverReplay(hosted));
  }

  private void relieveMemory(LogKind kind, Collection<HostedTablet> all) {
    if (budgets.get(kind).isTight()) {
      all.stream()
          .filter(hosted -> hosted.kind() == kind && !hosted.isResting())
          .filter(hosted -> hosted.minor().free() > 0)
          .max(Comparator.comparingLong(hosted -> hosted.tablet().statistics().memtableBytes()))
          .ifPresent(this::startMinor);
    }
  }

  private void relieveLog(LogKind kind) {
    Optional<OldestNeeded> oldest =
        logs.get(kind)
            .oldestNeeded()
            .filter(
                one ->
                    one.segments() > config.logSegmentsMax()
                        || one.age().compareTo(config.logAgeMax()) > 0);
    if (oldest.isPresent()) {
      oldest.get().tablets().keySet().forEach(id -> tablets.find(id).ifPresent(this::startMinor));
      if (oldest.get().beingWritten()) {
        logs.get(kind).roll();
      }
    }
  }

  private void startMinor(HostedTablet hosted) {
    start(
        hosted,
        hosted.minor(),
        1,
        minorThreads.get(hosted.kind()),
        "make a minor compaction",
        hosted.tablet()::minorCompact);
  }

  private void startLarger(HostedTablet hosted) {
    Tablet tablet = hosted.tablet();
    if (tablet.statistics().fileBytes() > tablet.schema().splitBytes()
        && splitter.maySplit(hosted)) {
      // Not behind compactions that are held back.
      start(
          hosted,
          hosted.larger(),
          HostedTablet.LARGER_MAX,
          splitThreads.get(hosted.kind()),
          "split",
          () -> split(hosted));
      return;
    }
    Executor threads = largerThreads.get(hosted.kind());
    if (tablet.wantsMergingCompaction()) {
      start(
          hosted, hosted.larger(), 1, threads, "make a merging compaction", tablet::mergingCompact);
    }
    if (tablet.wantsToCollectGarbage(config.garbageInterval())) {
      start(
          hosted,
          hosted.larger(),
          1,
          threads,
          "make a major compaction",
          () -> tablet.collectGarbage(config.garbageInterval()));
    }
  }

  private void split(HostedTablet hosted) throws IOException {
    Optional<Bytes> row = hosted.tablet().splitRow();
    if (row.isPresent()) {
      splitter.split(hosted, row.get());
    } else {
      splitter.cannotSplit(hosted);
    }
  }

  /** Some maintenance of one tablet. */
  private interface Work {
    void run() throws IOException;
  }

  private void start(
      HostedTablet hosted, Permits permits, int count, Executor threads, String what, Work work) {
    if (hosted.isResting() || !permits.tryAcquire(count)) {
      return; // The next round will see.
    }
    try {
      threads.execute(
          () -> {
            try {
              if (tablets.has(hosted)) {
                work.run();
              }
            } catch (CorruptionException e) {
              hosted.rest();
              LOG.error("Tablet {} could not {}: {}", hosted.id(), what, e.getMessage());
            } catch (IOException | SteleException e) {
              hosted.rest();
              LOG.warn("Tablet {} could not {}; it will be tried again", hosted.id(), what, e);
            } catch (RuntimeException | Error e) {
              LOG.error("Tablet {}: {}", hosted.id(), what, e);
              life.abort("tablet " + hosted.id() + " could not " + what + ": " + e);
            } finally {
              permits.release(count);
            }
          });
    } catch (RejectedExecutionException e) {
      permits.release(count); // The server stops.
    }
  }
}
