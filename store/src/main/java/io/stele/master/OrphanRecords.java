package io.stele.master;

import io.stele.metadata.Assignment;
import io.stele.metadata.RecordChangedException;
import io.stele.metadata.Schemas;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import io.stele.model.TableId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds records of tables that no longer exist. A master that lost its lock without knowing it may
 * have written them late.
 *
 * <p>A table's node exists before its first record and is deleted after its last, and an id is
 * never used again. So if a table's node does not exist after a record of the table was read, the
 * record is an orphan. Orphans are never assigned. If nothing was ever written to any tablet of the
 * table, its orphans are removed. Otherwise they are all left to an operator, because it may be the
 * table's node that was lost. If the operator gives the table up ({@link #giveUp}), its tablets are
 * unloaded and the records removed.
 *
 * <p>For the one thread of the master's loop, but for {@link #giveUp}, which any thread may call.
 */
final class OrphanRecords {
  private static final Logger LOG = LoggerFactory.getLogger(OrphanRecords.class);

  private final Schemas schemas;
  private final TabletRecords records;
  private final Set<TableId> there = new TreeSet<>();
  private final Set<TableId> withData = new TreeSet<>();
  private final Set<TableId> reported = new TreeSet<>();
  private final Set<TableId> givenUp = new ConcurrentSkipListSet<>();
  private boolean listed;

  OrphanRecords(Schemas schemas, TabletRecords records) {
    this.schemas = schemas;
    this.records = records;
  }

  /** Removes the records of {@code table} if the table is gone, whatever data they name. */
  void giveUp(TableId table) {
    givenUp.add(table);
  }

  /** The tables that were given up. */
  Set<TableId> givenUp() {
    return givenUp;
  }

  /** Whether its tablets must be unloaded, and then its records removed. */
  boolean isGivenUp(TableId table) {
    return givenUp.contains(table);
  }

  /** Forgets which tables exist: they are listed again. */
  void lookAgain() {
    there.clear();
    listed = false;
    withData.clear();
  }

  /** The tables among {@code tables} that are gone; their records were read before this call. */
  Set<TableId> gone(Set<TableId> tables) throws IOException {
    if (tables.isEmpty()) {
      return Set.of();
    }
    if (!listed) {
      there.addAll(schemas.ids());
      listed = true;
    }
    Set<TableId> gone = new TreeSet<>();
    for (TableId table : tables) {
      if (!there.contains(table)) {
        (isThere(schemas, table) ? there : gone).add(table);
      }
    }
    return gone;
  }

  /** Whether the table has a node. */
  static boolean isThere(Schemas schemas, TableId table) throws IOException {
    try {
      return schemas.table(table).isPresent();
    } catch (CorruptionException | NewerFormatException e) {
      return true; // Whatever is in it.
    }
  }

  /** Whether no server has the tablet, and nothing was ever written to it. */
  static boolean isUntouched(TabletRecord record) {
    return record.assignment().state() == Assignment.State.NONE
        && record.files().isEmpty()
        && record.pending().isEmpty()
        && record.logs().isEmpty()
        && record.redo().sequence() == 0;
  }

  /**
   * Removes those of the {@code orphans} of one table that no server has, if nothing is lost by it
   * or the table is given up.
   *
   * @return those that are removed
   */
  List<TabletRecord> remove(TableId table, List<TabletRecord> orphans) throws IOException {
    if (orphans.isEmpty()) {
      return List.of();
    }
    if (!isGivenUp(table)) {
      Optional<String> data = withData.contains(table) ? Optional.of("") : data(table, orphans);
      if (data.isPresent()) {
        withData.add(table);
        if (reported.add(table)) {
          LOG.error(
              "METADATA has tablets with data of a table that ZooKeeper does not have: {}."
                  + " None are deleted: if table {} was not dropped, its node in ZooKeeper"
                  + " was lost",
              data.get(),
              table);
        }
        return List.of();
      }
    }
    List<TabletRecord> removed = new ArrayList<>();
    for (TabletRecord orphan : orphans) {
      if (orphan.assignment().state() == Assignment.State.NONE && delete(orphan)) {
        removed.add(orphan);
      }
    }
    return removed;
  }

  /**
   * One of the table's tablets that has, or may have, data.
   *
   * @param known some of its records, which may not be all
   */
  private Optional<String> data(TableId table, List<TabletRecord> known) throws IOException {
    Optional<String> found = firstTouched(known);
    if (found.isPresent()) {
      return found;
    }
    List<String> damaged = new ArrayList<>();
    found = firstTouched(records.reader().readUndamaged(table, damaged::add));
    return found.or(() -> damaged.stream().findFirst());
  }

  private static Optional<String> firstTouched(List<TabletRecord> some) {
    return some.stream()
        .filter(record -> !isUntouched(record))
        .findFirst()
        .map(TabletRecord::toString);
  }

  private boolean delete(TabletRecord orphan) throws IOException {
    try {
      records.delete(orphan);
      LOG.info(
          "Removed the record of {}: its table is gone, and {}",
          orphan,
          isGivenUp(orphan.id().table())
              ? "an operator has given up its data"
              : "it never had data");
      return true;
    } catch (RecordChangedException e) {
      LOG.debug("{} was changed by somebody else; will look at it again", orphan, e);
      return false;
    }
  }
}
