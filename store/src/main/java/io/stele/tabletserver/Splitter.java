package io.stele.tabletserver;

import io.stele.log.CommitLog;
import io.stele.log.LogKind;
import io.stele.metadata.Child;
import io.stele.metadata.SplitResult;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.Limits;
import io.stele.model.RowRange;
import io.stele.model.TabletId;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.tablet.Tablet;
import io.stele.tablet.TabletSpec;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Splits tablets: two minor compactions, the second while writes wait, then one conditional write
 * to METADATA; the children share the parent's SSTables (§5.2, §6).
 *
 * <p>Safe for use by any number of threads; who splits a tablet holds its {@link
 * HostedTablet#larger()}.
 */
final class Splitter {
  private static final Logger LOG = LoggerFactory.getLogger(Splitter.class);

  private final HostedTablets tablets;
  private final TabletRecords records;
  private final TabletLoader loader;
  private final Map<LogKind, CommitLog> logs;
  private final ServerLife life;
  private final ProcessRuntime runtime;
  private final Set<TabletId> unsplittable = ConcurrentHashMap.newKeySet();

  Splitter(
      HostedTablets tablets,
      TabletRecords records,
      TabletLoader loader,
      Map<LogKind, CommitLog> logs,
      ServerLife life,
      ProcessRuntime runtime) {
    this.tablets = tablets;
    this.records = records;
    this.loader = loader;
    this.logs = logs;
    this.life = life;
    this.runtime = runtime;
  }

  /**
   * Whether a split may be tried: the root tablet never, nor one that was found to be a single row.
   */
  boolean maySplit(HostedTablet hosted) {
    return !hosted.id().equals(TabletId.ROOT) && !unsplittable.contains(hosted.id());
  }

  /** Remembers that no row halves the tablet: it may be one row. */
  void cannotSplit(HostedTablet hosted) {
    if (unsplittable.add(hosted.id())) {
      LOG.info("Tablet {} is above its split size and has no row to be split at", hosted.id());
    }
  }

  /**
   * Splits {@code parent} at {@code row}, which becomes the first row of the upper half.
   *
   * @throws IOException where it could not; the tablet goes on whole
   */
  void split(HostedTablet parent, Bytes row) throws IOException {
    if (row.length() > Limits.SPLIT_ROW_BYTES_MAX) {
      cannotSplit(parent);
      return;
    }
    Tablet tablet = parent.tablet();
    tablet.minorCompact(); // Most of the memtable, while writes go on.
    acquire(parent);
    SplitResult split;
    TabletSpec whole;
    try {
      Futures.await(runtime, tablet.pauseWrites(), "pausing writes");
      tablet.minorCompact();
      whole = tablet.describe();
      split = commit(parent, whole, row);
    } catch (IOException | RuntimeException e) {
      if (!life.isOver()) { // Otherwise the split may have been made.
        tablet.resumeWrites();
      }
      throw e;
    } finally {
      parent.minor().release(1);
    }
    // The parent is no more: whoever asks for it is sent to locate the row again.
    try {
      HostedTablet lower = loader.openChild(split.lower(), tablet.schema());
      HostedTablet upper = loader.openChild(split.upper(), tablet.schema());
      tablets.split(parent, lower, upper);
    } catch (IOException | RuntimeException e) {
      life.abort("the halves of tablet " + parent.id() + " cannot be opened: " + e);
      throw e;
    }
    logs.get(parent.kind()).forget(parent.id());
    tablet.close();
    LOG.info(
        "Split tablet {} at {} into {} and {}",
        parent.id(),
        row,
        split.lower().id(),
        split.upper().id());
  }

  private SplitResult commit(HostedTablet parent, TabletSpec whole, Bytes row) throws IOException {
    TabletRecord record = parent.record();
    Child lower = child(whole, new RowRange(record.extent().start(), row));
    Child upper = child(whole, new RowRange(row, record.extent().end()));
    return RecordManifest.settle(
        life, "split tablet " + record.id(), () -> records.split(record, row, lower, upper));
  }

  private Child child(TabletSpec whole, RowRange rows) {
    TabletId id = TabletId.random(whole.id().table(), runtime.random());
    return new Child(id, whole.child(id, whole.epoch() + 1, rows).files());
  }

  private static void acquire(HostedTablet tablet) throws IOException {
    try {
      tablet.minor().acquire(1);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "splitting tablet " + tablet.id());
    }
  }
}
