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
import io.stele.runtime.WorkerPool;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates, alters and drops tables in steps that can be repeated (see {@link Schemas}).
 *
 * <p>A request ({@link #create}, {@link #alter}, {@link #drop}) changes only the lock service; a
 * repeated request joins the change in progress. Threads of this class do the rest, a table at a
 * time, when the master's loop calls {@link #goOn}: it also repeats a step that failed, or that an
 * earlier master left. Every write is conditional, so requests and steps need no order. The files
 * of a dropped table are the {@link Sweeper}'s: another table may share them.
 *
 * <p>Safe for use by any number of threads.
 */
final class TableAdmin implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TableAdmin.class);
  private static final Duration LOOK_AGAIN = Duration.ofMillis(100);
  private static final Duration TRY_AGAIN = Duration.ofMillis(500);
  private static final int CHANGERS_MAX = 4;
  private static final int UNTOLD_MAX = 1000;

  private final ProcessRuntime runtime;
  private final Schemas schemas;
  private final TabletRecords records;
  private final Wake wake;
  private final WorkerPool changers;

  @GuardedBy("this")
  private final Map<TableId, Change> changes = new TreeMap<>();

  // Created, but its creator has not been told yet.
  @GuardedBy("this")
  private final Set<TableId> untold = new LinkedHashSet<>();

  /** A table on its way; the fields are guarded by the outer object. */
  private static final class Change {
    final StoredTable table;
    final long notBeforeNanos;
    boolean underWay;

    Change(StoredTable table, long notBeforeNanos) {
      this.table = table;
      this.notBeforeNanos = notBeforeNanos;
    }
  }

  /**
   * Nothing is on its way before {@link #resume}.
   *
   * @param wake told when a table is made or gone
   */
  TableAdmin(ProcessRuntime runtime, Schemas schemas, TabletRecords records, Wake wake) {
    this.runtime = runtime;
    this.schemas = schemas;
    this.records = records;
    this.wake = wake;
    this.changers = runtime.pool("table-changer", CHANGERS_MAX);
  }

  /** The schemas of all tables. */
  Schemas schemas() {
    return schemas;
  }

  /**
   * Begins to create a table; its records are still to be written. Where one of that name was begun
   * for the same wish, or with the same schema and split rows and nobody was told of it, it is that
   * one.
   *
   * @param creation names the wish; empty if it has no name
   * @return the table, CREATING or READY
   */
  StoredTable create(TableSchema schema, List<Bytes> splitRows, String creation)
      throws IOException {
    TableRules.checkNew(schema, splitRows);
    Optional<StoredTable> holder = schemas.holder(schema.name());
    if (holder.isEmpty()) {
      StoredTable begun = schemas.create(schema, splitRows, creation);
      if (hasItsName(begun)) {
        begin(begun);
        wake.look();
        LOG.info("Table {} ({}) is being created", schema.name(), begun.id());
        return begun;
      }
      schemas.delete(begun);
      holder = schemas.holder(schema.name());
    }
    StoredTable table =
        holder.orElseThrow(
            () -> SteleException.retryLater("table " + schema.name() + " was just dropped"));
    boolean isWanted = !creation.isEmpty() && table.creation().equals(creation);
    boolean isAlike = table.schema().equals(schema) && table.splitRows().equals(splitRows);
    return switch (table.state()) {
      case CREATING -> {
        if (!isWanted && !isAlike) {
          throw SteleException.refused(
              "a table "
                  + schema.name()
                  + " is already being created with another schema or other split rows: wait for it, or choose another name");
        }
        begin(table);
        yield table;
      }
      case READY -> {
        if (!isWanted && !(isAlike && isUntold(table.id()))) {
          throw SteleException.refused(
              "there is a table "
                  + schema.name()
                  + " already: choose another name, or drop it first");
        }
        yield table;
      }
      case DROPPING ->
          throw SteleException.retryLater(
              "the previous table " + schema.name() + " is still being dropped");
    };
  }

  private boolean hasItsName(StoredTable begun) throws IOException {
    try {
      return schemas.claimName(begun);
    } catch (IOException | SteleException e) {
      begin(begun); // Its node is there, so it will be finished.
      throw SteleException.outcomeUnknown(
          "table " + begun.schema().name() + " may have been created: " + e.getMessage(), e);
    }
  }

  /** The table's creator has been told that it exists. */
  synchronized void told(TableId table) {
    untold.remove(table);
  }

  private synchronized boolean isUntold(TableId table) {
    return untold.contains(table);
  }

  /**
   * Changes a table's schema, if it is {@code before} where that is given, and not {@code schema}
   * already; the servers are still to be told.
   */
  StoredTable alter(TableSchema schema, Optional<TableSchema> before) throws IOException {
    StoredTable table = schemas.require(schema.name());
    if (table.schema().equals(schema)) {
      return table;
    }
    if (before.isPresent() && !before.get().equals(table.schema())) {
      throw SteleException.refused(
          "table "
              + schema.name()
              + " was altered by somebody else, and nothing was changed: describe it"
              + " and try again");
    }
    return schemas.alter(table, schema);
  }

  /**
   * Begins to drop a table; its tablets are still to be unloaded. A repeated request finds the same
   * table.
   *
   * @param id which table of that name; without it, the one that has the name, or else one that is
   *     going
   * @return the table, DROPPING; empty if the one named is gone
   */
  Optional<StoredTable> drop(String name, Optional<TableId> id) throws IOException {
    TableRules.checkNotReserved(name);
    Optional<StoredTable> found = id.isPresent() ? schemas.table(id.get()) : byName(name);
    if (found.isEmpty()) {
      if (id.isEmpty()) {
        schemas.require(name); // Says that there is none.
      }
      return Optional.empty();
    }
    StoredTable table = found.get();
    if (table.state() != StoredTable.State.DROPPING) {
      table = schemas.advance(table, StoredTable.State.DROPPING);
      LOG.info("Table {} ({}) is being dropped", name, table.id());
    }
    if (begin(table)) {
      wake.lookAtAll();
    }
    return Optional.of(table);
  }

  private Optional<StoredTable> byName(String name) throws IOException {
    Optional<StoredTable> holder = schemas.holder(name);
    if (holder.isPresent()) {
      return holder;
    }
    synchronized (this) {
      return changes.values().stream()
          .map(change -> change.table)
          .filter(table -> table.state() == StoredTable.State.DROPPING)
          .filter(table -> table.schema().name().equals(name))
          .findFirst();
    }
  }

  /** Returns whether the table was not known to be on its way. */
  private synchronized boolean begin(StoredTable table) {
    Change known = changes.get(table.id());
    if (known != null && known.table.version() >= table.version()) {
      return false;
    }
    changes.put(table.id(), new Change(table, runtime.nanoTime()));
    return true;
  }

  /**
   * Looks which tables were begun or dropped earlier, by this master or another, and are not done;
   * {@link #goOn} sees to them.
   */
  void resume() throws IOException {
    for (StoredTable table : schemas.list().tables()) {
      if (table.state() != StoredTable.State.READY) {
        begin(table);
      }
    }
  }

  /** The tables whose tablets are to go. */
  synchronized Set<TableId> dropping() {
    Set<TableId> dropping = new TreeSet<>();
    changes.forEach(
        (id, change) -> {
          if (change.table.state() == StoredTable.State.DROPPING) {
            dropping.add(id);
          }
        });
    return dropping;
  }

  /**
   * Takes steps of all tables that are on their way, in the background.
   *
   * @param reachable whether a table's records can be read and written; others wait
   * @return whether there are such tables
   */
  boolean goOn(Predicate<TableId> reachable) {
    List<Change> due = new ArrayList<>();
    synchronized (this) {
      for (Change change : changes.values()) {
        if (!change.underWay
            && runtime.nanoTime() - change.notBeforeNanos >= 0
            && reachable.test(change.table.id())) {
          change.underWay = true;
          due.add(change);
        }
      }
    }
    try {
      due.forEach(change -> changers.execute(() -> step(change)));
    } catch (RejectedExecutionException e) {
      LOG.debug("The master stops", e);
    }
    return isBusy();
  }

  /** Whether some table is on its way. */
  synchronized boolean isBusy() {
    return !changes.isEmpty();
  }

  private void step(Change change) {
    StoredTable table = change.table;
    boolean done = false;
    Duration pause = TRY_AGAIN;
    try {
      done = table.state() == StoredTable.State.CREATING ? finish(table.id()) : clean(table);
      pause = LOOK_AGAIN;
    } catch (IOException | SteleException e) {
      LOG.warn(
          "Table {} ({}) stays {} for now; will retry",
          table.schema().name(),
          table.id(),
          table.state(),
          e);
    } finally {
      synchronized (this) {
        if (!done) {
          long next = runtime.nanoTime() + pause.toNanos();
          changes.replace(table.id(), change, new Change(table, next));
        } else {
          changes.remove(table.id(), change); // Unless it is another change by now.
        }
      }
    }
    if (done) {
      wake.lookAtAll();
    }
  }

  /**
   * Removes the records of a dropped table once no server has its tablets, and then the rest of it.
   *
   * @return whether nothing is left
   */
  private boolean clean(StoredTable table) throws IOException {
    schemas.releaseName(table);
    List<TabletRecord> left = records.readAll(table.id());
    // In order, and none before all are released: a record may count only because of the next.
    if (left.stream().anyMatch(record -> record.assignment().state() != Assignment.State.NONE)) {
      return false;
    }
    for (TabletRecord record : left) {
      try {
        records.delete(record);
      } catch (RecordChangedException e) {
        LOG.debug("{} was changed by somebody else; the next step looks at it again", record, e);
        return false;
      }
    }
    records.deleteTentatives(table.id());
    schemas.delete(table);
    LOG.info("Table {} ({}) is gone", table.schema().name(), table.id());
    return true;
  }

  /** Returns true; where it fails it throws. */
  private boolean finish(TableId id) throws IOException {
    Optional<StoredTable> found = schemas.table(id);
    if (found.isEmpty() || found.get().state() != StoredTable.State.CREATING) {
      return true; // Another master was faster, or it was dropped meanwhile.
    }
    StoredTable table = found.get();
    if (!schemas.claimName(table)) {
      LOG.info("Another table has the name {}: {} is not created", table.schema().name(), id);
      schemas.delete(table);
      return true;
    }
    records.createTable(id, table.splitRows());
    schemas.advance(table, StoredTable.State.READY);
    synchronized (this) {
      untold.add(id);
      if (untold.size() > UNTOLD_MAX) {
        untold.remove(untold.iterator().next());
      }
    }
    LOG.info("Table {} ({}) is created", table.schema().name(), id);
    return true;
  }

  /** Ends all steps; the next master takes them. */
  @Override
  public void close() {
    changers.close();
  }
}
