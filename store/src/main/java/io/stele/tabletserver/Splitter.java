package io.stele.tabletserver;

import io.stele.metadata.Child;
import io.stele.metadata.SplitResult;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.Limits;
import io.stele.model.RowRange;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.tablet.Tablet;
import io.stele.tablet.TabletSpec;
import java.io.IOException;
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
  private final TabletRecords records;
  private final HostedTablets tablets;
  private final ServerResources resources;
  private final TabletLoader loader;

  Splitter(ServerContext server, TabletLoader loader) {
    this.runtime = server.runtime();
    this.life = server.life();
    this.records = server.records();
    this.tablets = server.tablets();
    this.resources = server.resources();
    this.loader = loader;
  }

  /**
   * Splits {@code parent} at the row that halves it; where there is none, remembers that.
   *
   * @throws IOException if it could not: the tablet goes on whole, or the server has ended
   */
  void split(HostedTablet parent) throws IOException {
    TabletRecord before = parent.record();
    Optional<Bytes> row =
        parent.tablet().splitRow().filter(middle -> middle.length() <= Limits.SPLIT_ROW_BYTES_MAX);
    if (row.isPresent()) {
      split(parent, row.get());
    } else {
      parent.foundIndivisible(before);
      LOG.info("Tablet {} is larger than its split size but has no row to split at", parent.id());
    }
  }

  /**
   * Splits {@code parent} at {@code row}, which becomes the first row of the upper half.
   *
   * @throws IOException if it could not: the tablet goes on whole, or the server has ended
   */
  void split(HostedTablet parent, Bytes row) throws IOException {
    Tablet tablet = parent.tablet();
    tablet.minorCompact(); // Most of the memtable, while writes go on.
    parent.awaitMinor();
    SplitResult split;
    try {
      Futures.await(runtime, tablet.pauseWrites(), "pausing the writes of tablet " + parent.id());
      tablet.minorCompact();
      split = commit(parent, tablet.describe(), row);
    } catch (IOException | RuntimeException e) {
      if (!life.isOver()) { // Otherwise the split may have been made.
        tablet.resumeWrites();
      }
      throw e;
    } finally {
      parent.minor().release(1);
    }
    // The parent no longer exists: its clients are told to locate the row again.
    try {
      open(parent, split);
    } catch (IOException | RuntimeException | Error e) {
      life.abort("the halves of tablet " + parent.id() + " cannot be opened: " + e);
      throw e;
    }
    resources.of(parent.id()).log().forget(parent.id());
    tablet.close();
    LOG.info(
        "Split tablet {} at {} into {} and {}",
        parent.id(),
        row,
        split.lower().id(),
        split.upper().id());
  }

  private void open(HostedTablet parent, SplitResult split) throws IOException {
    TableSchema schema = parent.tablet().schema();
    HostedTablet lower = loader.openChild(split.lower(), schema);
    HostedTablet upper;
    try {
      upper = loader.openChild(split.upper(), schema);
    } catch (IOException | RuntimeException | Error e) {
      lower.tablet().close();
      throw e;
    }
    tablets.split(parent, lower, upper);
  }

  private SplitResult commit(HostedTablet parent, TabletSpec whole, Bytes row) throws IOException {
    TabletRecord record = parent.record();
    Child lower = child(whole, new RowRange(record.extent().start(), row));
    Child upper = child(whole, new RowRange(row, record.extent().end()));
    return life.untilKnown(
        "split tablet " + record.id(), () -> records.split(record, row, lower, upper));
  }

  private Child child(TabletSpec whole, RowRange rows) {
    TabletId id = TabletId.random(whole.id().table(), runtime.random());
    return new Child(id, whole.child(id, whole.epoch() + 1, rows).files());
  }
}
