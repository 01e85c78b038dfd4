package io.stele.master;

import io.stele.metadata.Assignment;
import io.stele.metadata.RecordChangedException;
import io.stele.metadata.Schemas;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.CorruptionException;
import io.stele.model.TableId;
import java.io.IOException;
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
 * record is an orphan. Orphans are never assigned. An orphan to which nothing was ever written is
 * removed. Any other is left to an operator, because it may be the table's node that was lost. If
 * the operator gives the table up ({@link #giveUp}), its tablet is unloaded and the record removed.
 *
 * <p>For the one thread of the master's loop, but for {@link #giveUp}, which any thread may call.
 */
final class OrphanRecords {
  private static final Logger LOG = LoggerFactory.getLogger(OrphanRecords.class);

  private final Schemas schemas;
  private final TabletRecords records;
  private final Set<TableId> there = new TreeSet<>();
  private final Set<TableId> reported = new TreeSet<>();
  private final Set<TableId> givenUp = new ConcurrentSkipListSet<>();

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

  /** Forgets which tables exist: each is looked up again. */
  void lookAgain() {
    there.clear();
  }

  /** The tables among {@code tables} that are gone; their records were read before this call. */
  Set<TableId> gone(Set<TableId> tables) throws IOException {
    Set<TableId> gone = new TreeSet<>();
    for (TableId table : tables) {
      if (!there.contains(table)) {
        (isThere(table) ? there : gone).add(table);
      }
    }
    return gone;
  }

  private boolean isThere(TableId table) throws IOException {
    try {
      return schemas.table(table).isPresent();
    } catch (CorruptionException e) {
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
   * Removes {@code orphan} if nothing is lost by it, or if its table is given up and no server has
   * its tablet.
   *
   * @return whether it is removed
   */
  boolean remove(TabletRecord orphan) throws IOException {
    boolean untouched = isUntouched(orphan);
    if (isGivenUp(orphan.id().table()) && orphan.assignment().state() != Assignment.State.NONE) {
      return false; // It is being unloaded.
    }
    if (!untouched && !isGivenUp(orphan.id().table())) {
      if (reported.add(orphan.id().table())) {
        LOG.error(
            "METADATA has tablets with data of a table that the lock service does not have, such"
                + " as {}. They are not deleted: if table {} was not dropped, its node in the lock"
                + " service was lost",
            orphan,
            orphan.id().table());
      }
      return false;
    }
    try {
      records.delete(orphan);
      LOG.info(
          "Removed the record of {}: its table is gone, and {}",
          orphan,
          untouched ? "it never had data" : "an operator has given up its data");
      return true;
    } catch (RecordChangedException e) {
      LOG.debug("{} was changed by somebody else; will look at it again", orphan, e);
      return false;
    }
  }
}
