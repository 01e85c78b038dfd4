package io.stele.metadata;

import io.stele.metadata.TabletRecord.Tentative;
import io.stele.model.Bytes;
import io.stele.model.Limits;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.record.Pending;
import io.stele.record.RecordChangeSize;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Splits records of tablets. For the servers that have the tablets; the writes are conditional as
 * in {@link TabletRecords}.
 *
 * <p>The lower child's row is written first, as a tentative record. Then one change turns the
 * parent's row into the upper child, and both are valid. The lower child's next change makes its
 * record plain; nobody waits for that. A split that is not completed leaves a tentative record,
 * which is never valid; the next server of the tablet removes it.
 *
 * <p>Safe for use by any number of threads. All calls block.
 */
public final class SplitRecords {
  private static final Logger LOG = LoggerFactory.getLogger(SplitRecords.class);

  private final TabletRecords records;

  /** Splits of {@code records}. */
  public SplitRecords(TabletRecords records) {
    this.records = records;
  }

  /**
   * Whether a tablet with {@code rows} may be split so that the upper half starts at {@code at}.
   */
  public static boolean maySplit(RowRange rows, Bytes at) {
    return rows.contains(at)
        && !rows.start().equals(at)
        && at.length() <= Limits.SPLIT_ROW_BYTES_MAX;
  }

  /**
   * Whether METADATA takes the records of both halves if {@code parent} is split at {@code at}:
   * each is written as a whole, with the row in each file that has rows on both sides.
   */
  public static boolean fits(TabletRecord parent, Bytes at) {
    RowRange rows = parent.extent();
    RecordChangeSize upper = sizeOf(parent, new RowRange(at, rows.end()));
    parent.files().forEach(upper::remove);
    parent.pending().forEach(upper::remove);
    RecordChangeSize lower = sizeOf(parent, new RowRange(rows.start(), at));
    parent.pins().forEach(pin -> lower.put(PinCodec.encode(pin)));
    return upper.fits() && lower.fits();
  }

  private static RecordChangeSize sizeOf(TabletRecord parent, RowRange half) {
    RecordChangeSize size = new RecordChangeSize(half);
    parent.files().stream()
        .filter(file -> file.bounds().intersection(half).isPresent())
        .forEach(file -> size.put(file.clipped(half)));
    pending(parent, half).forEach(size::put);
    return size;
  }

  /**
   * Splits a loaded tablet at {@code at}, which becomes the first row of the upper half.
   *
   * @param parent as it was last changed; everything up to its redo point is in its SSTables, and
   *     nothing is above it
   * @param at inside the tablet's rows, not its first; at most {@link Limits#SPLIT_ROW_BYTES_MAX}
   *     bytes
   */
  public SplitResult split(TabletRecord parent, Bytes at, Child lower, Child upper)
      throws IOException {
    TabletRecords.require(parent, Assignment.State.LOADED, "split");
    RowRange rows = parent.extent();
    if (parent.id().equals(TabletId.ROOT) || !maySplit(rows, at)) {
      throw new IllegalArgumentException(parent + " cannot be split at \"" + at + "\"");
    }
    Assignment assignment =
        new Assignment(
            Assignment.State.LOADED, parent.assignment().server(), parent.assignment().epoch() + 1);
    Tentative tentative = new Tentative(parent.id(), parent.assignment().epoch(), lower.id());
    TabletRecord low =
        child(parent, lower, new RowRange(rows.start(), at), assignment)
            .below(parent.below())
            .build();
    TabletRecord high =
        child(parent, upper, new RowRange(at, rows.end()), assignment)
            .below(Optional.of(lower.id()))
            .dropped(parent.dropped())
            .build();
    writeTentative(parent, low, tentative);

    Mutation.Builder row = TabletRecords.change(parent, "split from " + parent.id(), assignment);
    RecordCodec.putExtent(row, high);
    RecordCodec.putCleared(row, high.cleared());
    RecordCodec.putState(row, high);
    parent.files().forEach(file -> RecordCodec.deleteFile(row, parent, file));
    high.files().forEach(file -> RecordCodec.putFile(row, file));
    parent.pending().forEach(one -> RecordCodec.deletePending(row, parent, one));
    high.pending().forEach(one -> RecordCodec.putPending(row, one));
    TabletRecords.requireFeatures(row, parent, high);
    records.apply("split", parent, row);

    return new SplitResult(low.withTentative(tentative), high);
  }

  /**
   * Removes the tentative records that unfinished splits left in the tablet's rows. A server calls
   * it after it was assigned the tablet and before it loads it: no such split can complete then.
   *
   * @return how many rows it removed
   */
  public int removeTentatives(TabletRecord record) throws IOException {
    if (record.id().equals(TabletId.ROOT)) {
      return 0;
    }
    TableId table = record.id().table();
    Bytes start = record.extent().start();
    Bytes from =
        start.isEmpty() ? MetadataKeys.table(table).start() : MetadataKeys.lookup(table, start);
    int removed = 0;
    for (TabletRecord left :
        records.reader().page(table, new RowRange(from, record.row()), Integer.MAX_VALUE)) {
      Optional<Tentative> tentative = left.tentative();
      // Only splits under earlier epochs: a server that lost the tablet without knowing it must not
      // remove the children of its successors' splits.
      if (tentative.isPresent() && tentative.get().parentEpoch() < record.assignment().epoch()) {
        Mutation gone = Mutation.of(left.row()).deleteRow();
        removed +=
            records.rowsOf(record).update(TabletRecords.still(tentative.get()), gone) ? 1 : 0;
      }
    }
    return removed;
  }

  /**
   * Removes the tentative records that unfinished splits left in a table whose tablets' records are
   * all gone.
   */
  public void deleteTentatives(TableId table) throws IOException {
    for (TabletRecord left :
        records.reader().page(table, MetadataKeys.table(table), Integer.MAX_VALUE)) {
      if (left.tentative().isPresent()) {
        records
            .rowsOf(left)
            .update(
                TabletRecords.still(left.tentative().get()), Mutation.of(left.row()).deleteRow());
      }
    }
  }

  /**
   * Writes the tentative record of the lower child. An existing tentative record, from a split
   * under this epoch or an earlier one, is a leftover: if its split had been done, no tablet would
   * extend past its end. It may also arrive late, from a server that lost the tablet without
   * knowing it. A tentative record of a later epoch, or a valid record, means that this server lost
   * the tablet.
   */
  private void writeTentative(TabletRecord parent, TabletRecord low, Tentative tentative)
      throws IOException {
    Mutation.Builder row =
        RecordCodec.putAll(low.withTentative(tentative), "split from " + parent.id());
    RecordRows.Condition absent = new RecordRows.Condition(RecordCodec.STATE, Optional.empty());
    while (!records.rowsOf(low).update(absent, row.build())) {
      for (TabletRecord left :
          records.reader().page(low.id().table(), RowRange.single(low.row()), 1)) {
        Tentative other =
            left.tentative()
                .filter(found -> found.parentEpoch() <= tentative.parentEpoch())
                .orElseThrow(() -> new RecordChangedException("split", parent));
        LOG.info(
            "Removing the tentative record that an unfinished split of {} left: {}",
            other.parent(),
            left);
        records.rowsOf(low).update(TabletRecords.still(other), Mutation.of(low.row()).deleteRow());
      }
    }
  }

  private static TabletRecord.Builder child(
      TabletRecord parent, Child child, RowRange rows, Assignment assignment) {
    return TabletRecord.builder(child.id(), rows, MetadataKeys.row(child.id().table(), rows.end()))
        .assignment(assignment)
        .files(child.files())
        .logs(parent.logs())
        .redo(parent.redo())
        .pins(parent.pins())
        .pending(pending(parent, rows))
        .cleared(parent.cleared().clipped(rows));
  }

  private static List<Pending> pending(TabletRecord parent, RowRange half) {
    return parent.pending().stream()
        .filter(one -> one.meets(half))
        .map(one -> one.clipped(half))
        .toList();
  }
}
