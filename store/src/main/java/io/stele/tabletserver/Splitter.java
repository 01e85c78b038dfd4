package io.stele.tabletserver;

import io.stele.metadata.Child;
import io.stele.metadata.SplitRecords;
import io.stele.metadata.SplitResult;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.Limits;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.runtime.ProcessRuntime;
import io.stele.tablet.Tablet;
import io.stele.tablet.TabletSpec;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Splits tablets: two minor compactions, the second while writes wait, then one conditional write
 * to METADATA; the children share the parent's SSTables (§5.2, §6).
 *
 * <p>Safe for use by any number of threads; the caller has all of the tablet's {@link
 * HostedTablet#rewrites()}.
 */
final class Splitter {
  private static final Logger LOG = LoggerFactory.getLogger(Splitter.class);

  private final ProcessRuntime runtime;
  private final ServerLife life;
  private final SplitRecords records;
  private final HostedTablets tablets;
  private final ServerResources resources;
  private final TabletLoader loader;
  private final TabletNews news;

  Splitter(ServerContext server, TabletLoader loader, TabletNews news) {
    this.runtime = server.runtime();
    this.life = server.life();
    this.records = new SplitRecords(server.records());
    this.tablets = server.tablets();
    this.resources = server.resources();
    this.loader = loader;
    this.news = news;
  }

  /**
   * Splits {@code parent} at the row that splits it in half, if there is one.
   *
   * @throws IOException if it failed: the tablet stays whole, or the server has ended
   */
  void split(HostedTablet parent) throws IOException {
    Optional<Bytes> row = middle(parent);
    if (row.isPresent()) {
      split(parent, row.get());
    }
  }

  /**
   * The row that splits {@code parent} in half; if there is none, that is remembered, and no row is
   * looked for until its SSTables change.
   */
  Optional<Bytes> middle(HostedTablet parent) throws IOException {
    if (!parent.maySplit()) {
      return Optional.empty();
    }
    TabletRecord before = parent.record();
    Optional<Bytes> row =
        parent
            .tablet()
            .splitRow()
            .filter(middle -> middle.length() <= Limits.SPLIT_ROW_BYTES_MAX)
            .filter(middle -> SplitRecords.fits(before, middle));
    if (row.isEmpty()) {
      parent.foundIndivisible(before);
      LOG.info("Tablet {} was to be split but has no row to split at", parent.id());
    }
    return row;
  }

  /**
   * Splits {@code parent} at {@code row}, which becomes the first row of the upper half.
   *
   * @throws SteleException RETRY_LATER if it has too many files for that until they are compacted
   * @throws IOException if it failed: the tablet stays whole, or the server has ended
   */
  void split(HostedTablet parent, Bytes row) throws IOException {
    requireFits(parent.record(), row);
    Tablet tablet = parent.tablet();
    tablet.minorCompact(); // Most of the memtable, while writes go on.
    parent.awaitMinor();
    SplitResult split;
    try {
      split = splitPaused(parent, row);
    } finally {
      parent.minor().release(1); // Only now: nothing may be begun in a parent that is no more.
    }
    news.changed(List.of(split.lower(), split.upper()));
    resources.of(parent.id()).log().forget(parent.id());
    tablet.close();
    LOG.info(
        "Split tablet {} at {} into {} and {}",
        parent.id(),
        row,
        split.lower().id(),
        split.upper().id());
  }

  /**
   * Refuses a split whose records METADATA would refuse.
   *
   * @throws SteleException RETRY_LATER
   */
  static void requireFits(TabletRecord parent, Bytes row) {
    if (!SplitRecords.fits(parent, row)) {
      throw SteleException.retryLater(
          "tablet "
              + parent.id()
              + " has "
              + (parent.files().size() + parent.pending().size())
              + " files, with those that wait for jobs, and METADATA has no room for both halves of"
              + " a tablet with so many when it is split at a row of "
              + row.length()
              + " bytes: unite its files first (stele table compact)");
    }
  }

  private SplitResult splitPaused(HostedTablet parent, Bytes row) throws IOException {
    Tablet tablet = parent.tablet();
    Halves halves;
    SplitResult split;
    try {
      PausedWrites.begin(runtime, tablet);
      tablet.minorCompact();
      halves = open(parent, row);
      split = commit(parent, halves, row);
    } catch (IOException | RuntimeException e) {
      if (!life.isOver()) { // Otherwise the split may have been made.
        tablet.resumeWrites();
      }
      throw e;
    }
    // The parent no longer exists: its clients are told to locate the row again.
    serve(parent, halves, split);
    return split;
  }

  /** A half of a split: its specification and its open tablet. */
  private record Half(TabletSpec spec, HostedTablet tablet) {
    Child child() {
      return new Child(spec.id(), spec.files());
    }
  }

  private record Halves(Half lower, Half upper) {
    void close() {
      lower.tablet().tablet().close();
      upper.tablet().tablet().close();
    }
  }

  /**
   * Opens both halves before the split is made: if one cannot be opened, the tablet stays whole.
   */
  private Halves open(HostedTablet parent, Bytes row) throws IOException {
    TabletSpec whole = parent.tablet().describe();
    RowRange rows = parent.record().extent();
    Half lower = open(parent, whole, new RowRange(rows.start(), row));
    try {
      return new Halves(lower, open(parent, whole, new RowRange(row, rows.end())));
    } catch (IOException | RuntimeException | Error e) {
      lower.tablet().tablet().close();
      throw e;
    }
  }

  private Half open(HostedTablet parent, TabletSpec whole, RowRange rows) throws IOException {
    TabletId id = TabletId.random(whole.id().table(), runtime.random());
    TabletSpec spec = whole.child(id, whole.epoch() + 1, rows);
    return new Half(spec, loader.openHalf(spec, parent.record()));
  }

  private SplitResult commit(HostedTablet parent, Halves halves, Bytes row) throws IOException {
    TabletRecord record = parent.record();
    try {
      return life.untilKnown(
          "split tablet " + record.id(),
          () -> records.split(record, row, halves.lower().child(), halves.upper().child()));
    } catch (IOException | RuntimeException | Error e) {
      halves.close();
      throw e;
    }
  }

  /** Nothing here waits or does I/O: halves whose records say LOADED must be served at once. */
  private void serve(HostedTablet parent, Halves halves, SplitResult split) {
    try {
      HostedTablet lower = halves.lower().tablet();
      HostedTablet upper = halves.upper().tablet();
      lower.manifest().written(split.lower());
      upper.manifest().written(split.upper());
      tablets.split(parent, lower, upper);
    } catch (RuntimeException | Error e) {
      life.abort("tablet " + parent.id() + " is split, and its halves cannot be served: " + e);
      throw e;
    }
  }
}
