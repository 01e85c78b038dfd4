package io.stele.master;

import io.stele.metadata.Assignment;
import io.stele.metadata.MetadataKeys;
import io.stele.metadata.RecordChangedException;
import io.stele.metadata.SplitRecords;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.TableId;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes the records of tables that are dropped, once no server has any of their tablets.
 *
 * <p>A table may have very many tablets. So each call works for a limited time, and the next one
 * continues: first it reads the records in order up to the first that is not released, and waits
 * there; then it deletes them in order. Nothing is stored: another master starts from the front.
 *
 * <p>Damaged records are never deleted: nobody can tell whether a server has the tablet.
 *
 * <p>Safe for use by any number of threads; one at a time for a table. Waits for METADATA.
 */
final class RecordRemoval {
  private static final Logger LOG = LoggerFactory.getLogger(RecordRemoval.class);

  /** How long one call may work, so that the changes of other tables are not held up. */
  static final Duration TURN = Duration.ofSeconds(1);

  private static final int PAGE_RECORDS = 256;

  private final ProcessRuntime runtime;
  private final TabletRecords records;
  private final SplitRecords splits;
  private final Map<TableId, Place> places = new ConcurrentHashMap<>();

  /**
   * How far a table's removal has come.
   *
   * @param released whether all records were seen to be released
   * @param next the row of METADATA to continue from
   */
  private record Place(boolean released, Bytes next) {}

  /** What a call left to do. */
  sealed interface Left {
    /** No record is left. */
    record Nothing() implements Left {}

    /** Some tablet is not released yet, or the time is over: call again. */
    record Some() implements Left {}

    /**
     * Nothing but damaged records, which stay.
     *
     * @param damage what is wrong with each; not empty
     */
    record Damaged(List<String> damage) implements Left {
      public Damaged {
        damage = List.copyOf(damage);
      }
    }
  }

  RecordRemoval(ProcessRuntime runtime, TabletRecords records) {
    this.runtime = runtime;
    this.records = records;
    this.splits = new SplitRecords(records);
  }

  /** Continues to remove the table's records, for about {@link #TURN}. */
  Left advance(TableId table) throws IOException {
    long endNanos = runtime.nanoTime() + TURN.toNanos();
    RowRange rows = MetadataKeys.table(table);
    Place place = places.getOrDefault(table, new Place(false, rows.start()));
    if (!place.released()) {
      place = check(rows, place.next(), endNanos);
    }
    if (place.released() && !isOver(endNanos)) {
      place = delete(rows, place.next(), endNanos);
    }
    places.put(table, place);
    return place.released() && !rows.isBeforeEnd(place.next()) ? end(table, rows) : new Left.Some();
  }

  /**
   * Reads on, up to the first record that is not released. If its tablet is split, its lower half
   * comes after those that were read. A released tablet of a dropped table is not assigned again,
   * unless a deposed master does so late; {@link #delete} finds that.
   */
  private Place check(RowRange rows, Bytes from, long endNanos) throws IOException {
    Bytes next = from;
    while (rows.isBeforeEnd(next)) {
      if (isOver(endNanos)) {
        return new Place(false, next);
      }
      List<TabletRecord> page = page(rows, next);
      for (TabletRecord record : page) {
        if (!isReleased(record)) {
          return new Place(false, next);
        }
        next = record.row().successor();
      }
      next = page.size() < PAGE_RECORDS ? rows.end() : next;
    }
    return new Place(true, rows.start());
  }

  /** Deletes on, in order: a record may count only because of the next one. */
  private Place delete(RowRange rows, Bytes from, long endNanos) throws IOException {
    Bytes next = from;
    while (rows.isBeforeEnd(next)) {
      List<TabletRecord> page = page(rows, next);
      for (TabletRecord record : page) {
        if (!isReleased(record) || !delete(record)) {
          return new Place(false, next);
        }
        next = record.row().successor();
        if (isOver(endNanos)) { // Not before: each call must get on, however slow the reads are.
          return new Place(true, next);
        }
      }
      next = page.size() < PAGE_RECORDS ? rows.end() : next;
    }
    return new Place(true, next);
  }

  private boolean delete(TabletRecord record) throws IOException {
    try {
      records.delete(record);
      return true;
    } catch (RecordChangedException e) {
      LOG.debug("{} was changed by somebody else; the next try looks at it again", record, e);
      return false;
    }
  }

  /** Looks at everything once more, as something may have been written late. */
  private Left end(TableId table, RowRange rows) throws IOException {
    places.remove(table);
    List<String> damage = new ArrayList<>();
    if (!records.reader().readUndamaged(rows, PAGE_RECORDS, damage::add).isEmpty()) {
      return new Left.Some();
    }
    if (!damage.isEmpty()) {
      return new Left.Damaged(damage);
    }
    splits.deleteTentatives(table);
    return new Left.Nothing();
  }

  private List<TabletRecord> page(RowRange rows, Bytes next) throws IOException {
    return records
        .reader()
        .readUndamaged(new RowRange(next, rows.end()), PAGE_RECORDS, damage -> {});
  }

  private boolean isOver(long endNanos) {
    return runtime.nanoTime() - endNanos >= 0;
  }

  private static boolean isReleased(TabletRecord record) {
    return record.assignment().state() == Assignment.State.NONE;
  }
}
