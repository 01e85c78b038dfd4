package io.stele.tabletserver;

import io.stele.metadata.RecordChangedException;
import io.stele.metadata.Schemas;
import io.stele.metadata.SplitRecords;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.Limits;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.Futures;
import io.stele.runtime.IoRunnable;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import io.stele.tablet.Tablet;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads, unloads and splits single tablets. {@link Evacuation} unloads all of them.
 *
 * <p>While the server is alive, a tablet whose record says that it is LOADED here is served or is
 * being unloaded: a failure in between stops the server. Safe for use by any number of threads.
 */
final class TabletLifecycle {
  private static final Logger LOG = LoggerFactory.getLogger(TabletLifecycle.class);
  private static final long LITTLE_BYTES = 1 << 20;
  private static final int SERVED_COMPACTIONS_MAX = 4;
  private static final long OTHER_WORK = -1;

  /** A load that waits. */
  private record Load(long epoch, Runnable start) {}

  private final ProcessRuntime runtime;
  private final ServerLife life;
  private final TabletRecords records;
  private final Schemas schemas;
  private final HostedTablets tablets;
  private final ServerResources resources;
  private final TabletLoader loader;
  private final Splitter splitter;
  private final TabletNews news;
  private final GivenAway givenAway;

  // The tablets on which something is done: the epoch under which they are loaded, or OTHER_WORK.
  private final Map<TabletId, Long> busy = new ConcurrentHashMap<>();

  // The loads that were asked for while something else was done, of the highest epoch.
  private final Map<TabletId, Load> waitingLoads = new ConcurrentHashMap<>();

  private volatile boolean draining;
  private volatile boolean closed;

  /**
   * The tablets of {@code server}.
   *
   * @param schemas to see which tables are being dropped
   * @param news told the results of loads and unloads, on the loaders' threads
   */
  TabletLifecycle(
      ServerContext server,
      Schemas schemas,
      TabletLoader loader,
      Splitter splitter,
      TabletNews news) {
    this.runtime = server.runtime();
    this.life = server.life();
    this.records = server.records();
    this.schemas = schemas;
    this.tablets = server.tablets();
    this.resources = server.resources();
    this.loader = loader;
    this.splitter = splitter;
    this.news = news;
    this.givenAway = new GivenAway(server);
  }

  /**
   * Loads a tablet in the background; its record says when it is served. Does nothing if it is
   * already loading the tablet under that epoch. If something else is done with the tablet, such as
   * the end of its unload, the load comes after that.
   *
   * @param row the key of its row in METADATA; empty for the root tablet
   * @param epoch of its assignment
   */
  void load(TabletId tablet, Bytes row, long epoch) {
    load(tablet, row, epoch, runtime.nanoTime());
  }

  private void load(TabletId tablet, Bytes row, long epoch, long requested) {
    if (Objects.equals(busy.get(tablet), epoch)) {
      return;
    }
    IoRunnable load =
        () -> {
          if (tablets.find(tablet).isPresent()) {
            return;
          }
          try {
            // While draining, load only what METADATA needs.
            if (closed || (draining && !tablet.table().isSystem())) {
              throw SteleException.retryLater("this server is being drained and loads no tablets");
            }
            loader.load(tablet, row, epoch, requested);
            tablets.find(tablet).ifPresent(loaded -> news.changed(List.of(loaded.record())));
          } catch (IOException | RuntimeException e) {
            if (!isLate(e) && !life.isOver()) {
              news.notLoaded(tablet, row, epoch, e);
            }
            throw e;
          }
        };
    if (!inBackground(tablet, "load", resources.loaders(tablet), load, epoch)) {
      Load waiting = new Load(epoch, () -> load(tablet, row, epoch, requested));
      waitingLoads.merge(tablet, waiting, (one, other) -> one.epoch > other.epoch ? one : other);
      if (!busy.containsKey(tablet)) { // It has just ended, perhaps without seeing this.
        loadWaiting(tablet);
      }
    }
  }

  /**
   * Applies a table's schema to its tablets, those that are being loaded too, unless they have a
   * newer one.
   */
  void alter(StoredTable table) {
    loader.forgetTable(table.id()); // A load that begins after the next line has read this one.
    tablets.alter(table);
  }

  private void loadWaiting(TabletId tablet) {
    Optional.ofNullable(waitingLoads.remove(tablet)).ifPresent(waiting -> waiting.start.run());
  }

  /**
   * Whether a load failed because the record has changed: then nothing is wrong with the tablet. A
   * refusal for another reason, such as a file that a newer version of Stele has written, says that
   * another server must try.
   */
  private static boolean isLate(Exception failure) {
    return failure instanceof RecordChangedException
        || failure instanceof TabletLoader.NotAssignedException;
  }

  /**
   * Unloads a tablet in the background; its record says when it is free. Does nothing if it is
   * already unloading the tablet.
   *
   * @param discard whether cells that are only in its memtable may be lost, because its table is
   *     dropped; they are kept unless the lock service says so as well
   */
  void unload(TabletId tablet, long epoch, boolean discard) {
    IoRunnable unload =
        () -> {
          Optional<HostedTablet> hosted = tablets.find(tablet);
          if (hosted.isPresent() && hosted.get().record().assignment().epoch() == epoch) {
            unload(hosted.get(), discard && isDropped(tablet.table()));
          }
        };
    inBackground(tablet, "unload", resources.loaders(tablet), unload, OTHER_WORK);
  }

  /**
   * Whether the table is being dropped or gone. A table never returns from there, so nothing that a
   * client was promised is lost with its tablets.
   */
  private boolean isDropped(TableId table) throws IOException {
    boolean dropped =
        schemas.table(table).filter(now -> now.state() != StoredTable.State.DROPPING).isEmpty();
    if (!dropped) {
      LOG.warn("Table {} is not being dropped: what its tablets have is kept", table);
    }
    return dropped;
  }

  /**
   * Splits a tablet in the background; the records say when it is done. Does nothing if the tablet
   * is not served here under that epoch, or is being loaded, unloaded or split.
   *
   * @param row the first row of the upper half; empty: the row that splits it in half, if there is
   *     one
   * @throws SteleException REFUSED if it cannot be split there
   */
  void split(TabletId tablet, long epoch, Optional<Bytes> row) {
    HostedTablet hosted = tablets.require(tablet, epoch);
    if (tablet.equals(TabletId.ROOT)) {
      throw SteleException.refused("the root tablet is never split");
    }
    row.ifPresent(at -> checkSplitRow(hosted, at));
    WorkerPool threads = resources.of(tablet).threads().splits();
    inBackground(tablet, "split", threads, () -> split(hosted, row), OTHER_WORK);
  }

  private static void checkSplitRow(HostedTablet hosted, Bytes row) {
    RowRange rows = hosted.record().extent();
    if (!SplitRecords.maySplit(rows, row)) {
      throw SteleException.refused(
          "tablet "
              + hosted.id()
              + " with rows "
              + rows
              + " cannot be split at \""
              + row
              + "\": the row must be in it, not its first, and have at most "
              + Limits.SPLIT_ROW_BYTES_MAX
              + " bytes");
    }
    Splitter.requireFits(hosted.record(), row);
  }

  private void split(HostedTablet hosted, Optional<Bytes> row) throws IOException {
    if (row.isEmpty() && splitter.middle(hosted).isEmpty()) {
      return; // Compactions are not ended for nothing.
    }
    endRewrites(hosted); // Other splits wait behind this one, and a move of the tablet too.
    try {
      if (!tablets.has(hosted)) {
        return; // It was split or unloaded while this waited.
      }
      if (row.isPresent()) {
        splitter.split(hosted, row.get());
      } else {
        splitter.split(hosted);
      }
    } finally {
      hosted.rewrites().release(HostedTablet.REWRITES_MAX);
    }
  }

  /**
   * Does {@code work} unless something is done with the tablet.
   *
   * @param epoch under which it is loaded, or OTHER_WORK
   * @return whether nothing was
   */
  private boolean inBackground(
      TabletId tablet, String what, WorkerPool threads, IoRunnable work, long epoch) {
    if (busy.putIfAbsent(tablet, epoch) != null) {
      return false;
    }
    try {
      threads.execute(() -> run(tablet, what, work));
      return true;
    } catch (RejectedExecutionException e) {
      busy.remove(tablet);
      throw new SteleException(SteleException.Code.RETRY_LATER, "this server is stopping", e);
    }
  }

  private void run(TabletId tablet, String what, IoRunnable work) {
    try {
      work.run();
    } catch (IOException | RuntimeException e) {
      // The master sees that the record did not change, and asks again.
      LOG.warn("Could not {} tablet {}", what, tablet, e);
    } catch (Error e) {
      // Its record may say that it is loaded here.
      life.abort("could not " + what + " tablet " + tablet + ": " + e);
      throw e;
    } finally {
      busy.remove(tablet);
      loadWaiting(tablet);
    }
  }

  /**
   * Makes a minor compaction, stops writes, makes a second minor compaction, and releases the
   * tablet (§6, "Speeding up tablet recovery").
   *
   * @throws IOException if it failed: the tablet stays, or the server has ended
   */
  void unload(HostedTablet hosted, boolean discard) throws IOException {
    Tablet tablet = hosted.tablet();
    boolean wasDraining = draining; // The drain may be given up, or begin again, before this ends.
    endRewrites(hosted);
    try {
      if (!tablets.has(hosted)) {
        return; // It was split while this waited.
      }
      if (!discard) {
        compactWhileServed(tablet);
      }
      hosted.awaitMinor();
      try {
        stop(hosted, discard);
        release(hosted, discard ? "discarded" : "unloaded");
        if (!discard && (wasDraining || draining)) {
          givenAway.add(hosted.record());
        }
        tablets.left(hosted);
      } catch (Error e) { // Its record may say that it is loaded here.
        life.abort("tablet " + hosted.id() + " could not be unloaded: " + e);
        throw e;
      } finally {
        hosted.minor().release(1);
      }
    } finally {
      hosted.rewrites().release(HostedTablet.REWRITES_MAX);
    }
    news.changed(List.of(hosted.record()));
    if (discard) {
      resources.of(hosted.id()).log().forget(hosted.id());
    }
    loader.forgetTable(hosted.id().table());
    tablet.close();
    LOG.info("Unloaded tablet {}", hosted.id());
  }

  private void release(HostedTablet hosted, String why) throws IOException {
    try {
      hosted.manifest().change(before -> records.unloaded(before, why));
    } catch (ChangeRefusedException e) { // It has stopped, and its record says that it is here.
      life.abort("tablet " + hosted.id() + " is not served and cannot be given up: " + e);
      throw e;
    }
  }

  /**
   * Takes all permits of rewrites. A long compaction would hold up the move or split: it ends
   * unfinished.
   */
  private static void endRewrites(HostedTablet hosted) throws IOException {
    hosted.tablet().abortRewrites();
    try {
      hosted.awaitRewrites();
    } finally {
      hosted.tablet().allowRewrites();
    }
  }

  /**
   * Makes minor compactions until little is left for the last one, during which the tablet is not
   * served. One is not enough: many writes arrive during a long compaction.
   */
  private static void compactWhileServed(Tablet tablet) throws IOException {
    tablet.minorCompact();
    for (int i = 1; i < SERVED_COMPACTIONS_MAX; i++) {
      if (tablet.memtableBytes() <= LITTLE_BYTES) {
        return;
      }
      tablet.minorCompact();
    }
  }

  /** Stops serving the tablet; if that fails, it is served as before. */
  private void stop(HostedTablet hosted, boolean discard) throws IOException {
    Tablet tablet = hosted.tablet();
    boolean stopped = false;
    try {
      CompletableFuture<Void> paused = tablet.pauseWrites();
      if (!discard || tablet.failure().isEmpty()) { // One that has stopped writes no more.
        Futures.await(runtime, paused, "pausing the writes of tablet " + hosted.id());
      }
      if (!discard) {
        tablet.minorCompact();
        checkCovered(hosted);
        // Before the tablet is free: it may return here at once and need the log again.
        resources.of(hosted.id()).log().forget(hosted.id());
      }
      tablets.remove(hosted);
      stopped = true;
    } finally {
      if (!stopped) {
        tablet.resumeWrites();
      }
    }
  }

  /**
   * Checks that no record is only in logs: the write that releases the tablet removes all logs from
   * its record.
   */
  private static void checkCovered(HostedTablet hosted) {
    long covered = hosted.record().redo().sequence();
    long last = hosted.tablet().readPoint();
    if (covered < last) {
      throw new IllegalStateException(
          "tablet "
              + hosted.id()
              + " cannot be unloaded: it has changes up to sequence number "
              + last
              + ", but its files have only those up to "
              + covered);
    }
  }

  /**
   * Splits a tablet in half, if there is a row to split at. The caller holds all its {@link
   * HostedTablet#rewrites()}.
   *
   * @throws IOException if it failed: the tablet stays whole, or the server has ended
   */
  void split(HostedTablet hosted) throws IOException {
    splitter.split(hosted);
  }

  /** Whether tablets are being loaded, unloaded or split, or wait for it. */
  boolean isBusy() {
    return !busy.isEmpty();
  }

  /** What the server has unloaded while it gave its tablets away. */
  GivenAway givenAway() {
    return givenAway;
  }

  /** Whether the server gives its tablets away: start no new work on them. */
  boolean isDraining() {
    return draining;
  }

  /** Sets whether the server gives its tablets away: it then loads only what METADATA needs. */
  void setDraining(boolean now) {
    draining = now;
  }

  /** Sets whether the server loads no tablet at all. */
  void setClosed(boolean now) {
    closed = now;
  }
}
