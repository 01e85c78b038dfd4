package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.Assignment;
import io.stele.metadata.RecordChangedException;
import io.stele.metadata.Schemas;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableRules;
import io.stele.model.TableSchema;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.Lock;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tables coming and going, each in steps that can be repeated (see {@link Schemas}): a step that
 * failed, or a master that ended between two, is made up for by {@link #resume} and {@link #goOn}.
 * The files of a dropped table are the {@link Sweeper}'s: another table may share them.
 *
 * <p>One change is made at a time. Requests wait for their turn; the master's loop ({@link
 * #resume}, {@link #clean}) never does, but tries again at its next step. Safe for use by any
 * number of threads.
 */
final class TableAdmin {
  private static final Logger LOG = LoggerFactory.getLogger(TableAdmin.class);

  private final Schemas schemas;
  private final TabletRecords records;
  private final Lock changing;

  @GuardedBy("changing")
  private final Map<TableId, StoredTable> creating = new TreeMap<>();

  @GuardedBy("this")
  private final Map<TableId, StoredTable> dropping = new TreeMap<>();

  TableAdmin(ProcessRuntime runtime, Schemas schemas, TabletRecords records) {
    this.changing = runtime.newLock();
    this.schemas = schemas;
    this.records = records;
  }

  /** The schemas of all tables. */
  Schemas schemas() {
    return schemas;
  }

  /** Makes a table; its tablets are still to be assigned. */
  StoredTable create(TableSchema schema, List<Bytes> splitRows) throws IOException {
    TableRules.checkNew(schema, splitRows);
    return change(
        () -> {
          if (schemas.byName(schema.name()).isPresent()) {
            throw exists(schema.name());
          }
          StoredTable table = schemas.create(schema, splitRows);
          try {
            return finish(table);
          } catch (SteleException e) {
            if (e.code() == SteleException.Code.REFUSED) {
              throw e;
            }
            throw SteleException.outcomeUnknown(
                "table "
                    + schema.name()
                    + " is being created, but METADATA could not be written yet; the master goes on"
                    + " trying: "
                    + e.getMessage(),
                e);
          }
        });
  }

  /**
   * Changes a table's schema, if it is {@code before} where that is given; the servers are still to
   * be told.
   */
  StoredTable alter(TableSchema schema, Optional<TableSchema> before) throws IOException {
    return change(
        () -> {
          StoredTable table = schemas.require(schema.name());
          if (before.isPresent() && !before.get().equals(table.schema())) {
            throw SteleException.refused(
                "table "
                    + schema.name()
                    + " was altered by somebody else meanwhile and nothing was changed: look at it"
                    + " again");
          }
          return schemas.alter(table, schema);
        });
  }

  /** Has a table go; its tablets are still to be given up. */
  StoredTable drop(String name) throws IOException {
    TableRules.checkNotReserved(name);
    return change(
        () -> {
          StoredTable found = schemas.require(name);
          StoredTable table = schemas.advance(found, StoredTable.State.DROPPING);
          goesOnDropping(table);
          LOG.info("Table {} ({}) is being dropped", name, table.id());
          return table;
        });
  }

  /** A change of one table. */
  @FunctionalInterface
  private interface Change {
    StoredTable make() throws IOException;
  }

  private StoredTable change(Change change) throws IOException {
    changing.lock();
    try {
      return change.make();
    } finally {
      changing.unlock();
    }
  }

  /**
   * Looks which tables were begun or dropped earlier, by this master or another, and are not done;
   * {@link #goOn} sees to them.
   *
   * @return false where a change is under way: try again
   */
  boolean resume() throws IOException {
    if (!changing.tryLock()) {
      return false;
    }
    try {
      for (StoredTable table : schemas.list().tables()) {
        switch (table.state()) {
          case READY -> {}
          case CREATING -> creating.put(table.id(), table);
          case DROPPING -> goesOnDropping(table);
        }
      }
      return true;
    } finally {
      changing.unlock();
    }
  }

  private void goesOnDropping(StoredTable table) throws IOException {
    synchronized (this) {
      dropping.put(table.id(), table);
    }
    schemas.releaseName(table);
  }

  /** The tables whose tablets are to go. */
  synchronized Set<TableId> dropping() {
    return new TreeSet<>(dropping.keySet());
  }

  /**
   * Finishes tables that were begun, and removes what is left of dropped ones: the records of
   * tablets that nobody has any more, and the rest once none is left. Does nothing while a change
   * is under way.
   *
   * @param reachable whether a table's records can be read and written; others wait
   * @return whether something was done
   */
  boolean goOn(Predicate<TableId> reachable) {
    if (!changing.tryLock()) {
      return false;
    }
    try {
      boolean done = false;
      for (StoredTable table : List.copyOf(creating.values())) {
        if (reachable.test(table.id())) {
          creating.remove(table.id()); // Whatever comes of it, the next look finds what is left.
          done |= tried(table, this::finishLater);
        }
      }
      List<StoredTable> going;
      synchronized (this) {
        going = List.copyOf(dropping.values());
      }
      for (StoredTable table : going) {
        done |= reachable.test(table.id()) && tried(table, this::clean);
      }
      return done;
    } finally {
      changing.unlock();
    }
  }

  /** One step of one table. */
  @FunctionalInterface
  private interface Step {
    boolean take(StoredTable table) throws IOException;
  }

  private static boolean tried(StoredTable table, Step step) {
    try {
      return step.take(table);
    } catch (IOException | SteleException e) {
      LOG.warn(
          "Table {} ({}) stays {} for now", table.schema().name(), table.id(), table.state(), e);
      return false;
    }
  }

  private boolean finishLater(StoredTable begun) throws IOException {
    Optional<StoredTable> table = schemas.table(begun.id());
    if (table.isPresent() && table.get().state() == StoredTable.State.CREATING) {
      finish(table.get());
    }
    return true;
  }

  private boolean clean(StoredTable table) throws IOException {
    List<TabletRecord> left = records.readAll(table.id());
    if (left.isEmpty()) {
      records.deleteTentatives(table.id());
      schemas.delete(table);
      synchronized (this) {
        dropping.remove(table.id());
      }
      LOG.info("Table {} ({}) is gone", table.schema().name(), table.id());
      return true;
    }
    // In order, and none before all are given up: a record may count only because of the next.
    if (left.stream().anyMatch(record -> record.assignment().state() != Assignment.State.NONE)) {
      return false;
    }
    for (TabletRecord record : left) {
      try {
        records.delete(record);
      } catch (RecordChangedException e) {
        LOG.debug("{} was changed meanwhile", record, e); // The next look shows how it is.
      }
    }
    return true;
  }

  private StoredTable finish(StoredTable table) throws IOException {
    if (!schemas.claimName(table)) {
      schemas.delete(table);
      throw exists(table.schema().name());
    }
    records.createTable(table.id(), table.splitRows());
    StoredTable ready = schemas.advance(table, StoredTable.State.READY);
    LOG.info("Table {} ({}) is created", table.schema().name(), table.id());
    return ready;
  }

  private static SteleException exists(String name) {
    return SteleException.refused(
        "there is a table " + name + " already: choose another name, or drop it first");
  }
}
