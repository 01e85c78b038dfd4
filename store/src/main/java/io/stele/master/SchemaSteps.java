package io.stele.master;

import io.stele.metadata.EndedChange;
import io.stele.metadata.SchemaChange;
import io.stele.metadata.SchemaChange.Step;
import io.stele.metadata.Schemas;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecords;
import io.stele.model.NewerFormatException;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The steps of changes of schema. Any master can repeat a step as long as it is the change's
 * current step: the step skips what is already done.
 *
 * <p>Safe for use by any number of threads; steps wait for METADATA.
 */
final class SchemaSteps {
  private static final Logger LOG = LoggerFactory.getLogger(SchemaSteps.class);

  private final Schemas schemas;
  private final TabletRecords records;
  private final RecordRemoval removal;
  private final SchemaNews news;
  private final Clearing clearing;
  private final FamilyErasing erasing;
  private final TableReaders readers;

  /** The changes that clear rows and for which this master holds up commits, by id. */
  private final Set<String> heldUp = ConcurrentHashMap.newKeySet();

  /** Asks {@code servers} for what they have to do, of those {@code answering}. */
  SchemaSteps(
      ProcessRuntime runtime,
      Schemas schemas,
      TabletRecords records,
      TabletServers servers,
      Supplier<ServerWatch.Answering> answering,
      TableReaders readers) {
    this.schemas = schemas;
    this.records = records;
    this.removal = new RecordRemoval(runtime, records);
    Supplier<Map<ServerId, ServerInfo>> live = () -> answering.get().live();
    this.news = new SchemaNews(runtime, servers, answering);
    this.clearing = new Clearing(runtime, records, live, servers::clear);
    this.erasing = new FamilyErasing(runtime, records, servers, live);
    this.readers = readers;
  }

  /** Why no table can have {@code schema} here, if so. */
  Optional<String> whyNot(TableSchema schema) throws IOException {
    return readers.whyNot(schema);
  }

  /** The result of a step. */
  sealed interface Taken {
    /** The step waits for others, and must be retried. */
    record Waits() implements Taken {}

    /** The step was taken; this is the next one. */
    record Next(Step step) implements Taken {}

    /** The last step was taken. */
    record Ended(EndedChange change) implements Taken {}
  }

  /** Whether {@code rows} are known to be done for a change that clears rows or erases families. */
  boolean isCleared(SchemaChange change, RowRange rows) {
    return change.step() == Step.ERASE_FAMILIES
        ? erasing.isErased(change, rows)
        : clearing.isCleared(change, rows);
  }

  /**
   * Takes the change's step.
   *
   * @throws IOException if it cannot be taken now
   */
  Taken take(SchemaChange change) throws IOException {
    Optional<StoredTable> table = schemas.table(change.table());
    return switch (change.step()) {
      case WRITE_NODE -> writeNode(change, table);
      case MAKE_DIRECTORY -> {
        readers.apply(change.table());
        yield new Taken.Next(Step.WRITE_RECORDS);
      }
      case WRITE_RECORDS -> {
        if (table.isEmpty()) {
          yield lost(change);
        }
        records.createTable(change.table(), table.get().splitRows());
        yield new Taken.Next(Step.MAKE_READY);
      }
      case MAKE_READY -> {
        if (table.isEmpty()) {
          yield lost(change);
        }
        if (table.get().state() == StoredTable.State.CREATING) {
          schemas.advance(table.get(), StoredTable.State.READY);
        }
        yield new Taken.Ended(change.made());
      }
      case ERASE_FAMILIES -> {
        if (table.isEmpty()) {
          yield lost(change);
        }
        yield erasing.advance(change, table.get());
      }
      case WRITE_SCHEMA -> {
        if (table.isEmpty()) {
          yield lost(change);
        }
        yield writeSchema(change, table.get());
      }
      case GRANT_READING -> {
        readers.apply(change.table());
        yield new Taken.Next(Step.TELL_SERVERS);
      }
      case TELL_SERVERS ->
          table.isPresent() && news.spread(table.get()).isPresent()
              ? new Taken.Waits()
              : new Taken.Ended(change.made());
      case MARK_DROPPED -> {
        if (table.isPresent() && table.get().state() != StoredTable.State.DROPPING) {
          schemas.advance(table.get(), StoredTable.State.DROPPING);
        }
        yield new Taken.Next(Step.REMOVE_RECORDS);
      }
      case REMOVE_RECORDS -> removeRecords(change);
      case REMOVE_NODE -> {
        if (table.isPresent() && !schemas.delete(table.get())) {
          yield new Taken.Waits();
        }
        yield new Taken.Ended(change.made());
      }
      case CLEAR_TABLETS -> {
        if (table.isEmpty()) {
          yield lost(change);
        }
        yield clear(change, table.get().schema().name());
      }
    };
  }

  private Taken writeNode(SchemaChange change, Optional<StoredTable> table) throws IOException {
    TableSchema wanted = change.wanted().orElseThrow();
    if (table.isPresent() && !table.get().schema().equals(wanted)) {
      return new Taken.Ended(
          change.failed(
              SteleException.Code.REFUSED,
              "the id "
                  + change.table()
                  + " is already that of table "
                  + table.get().schema().name()
                  + ", as if nodes in ZooKeeper had been lost: nothing was created, try again"));
    }
    if (table.isEmpty()) {
      try {
        schemas.create(change.table(), wanted, change.splitRows());
      } catch (SteleException e) {
        return refused(change, e);
      }
    }
    return new Taken.Next(wanted.readers().isEmpty() ? Step.WRITE_RECORDS : Step.MAKE_DIRECTORY);
  }

  private Taken writeSchema(SchemaChange change, StoredTable table) throws IOException {
    TableSchema wanted = change.wanted().orElseThrow();
    if (table.schema().equals(wanted)) {
      schemas.noteJobs(table);
      return new Taken.Next(Step.GRANT_READING); // Nobody knows which readers it had.
    }
    if (!isAtStep(change, table)) {
      return new Taken.Waits();
    }
    try {
      schemas.alter(table, wanted);
    } catch (SteleException e) {
      return refused(change, e);
    }
    return new Taken.Next(
        table.schema().readers().equals(wanted.readers()) ? Step.TELL_SERVERS : Step.GRANT_READING);
  }

  /** Ends a change whose step was refused and has changed nothing: it would be refused again. */
  private static Taken refused(SchemaChange change, SteleException why) {
    if (why.code() != SteleException.Code.REFUSED || why instanceof NewerFormatException) {
      throw why; // A master of a later version can take the step.
    }
    LOG.warn("Table {} is not {}", change.table(), change.kind().participle(), why);
    return new Taken.Ended(change.failed(why.code(), String.valueOf(why.getMessage())));
  }

  private Taken clear(SchemaChange change, String name) throws IOException {
    if (!heldUp.contains(change.id())) {
      schemas.beginClearing(name, change); // Another master may have begun it and died.
      heldUp.add(change.id());
    }
    return switch (clearing.advance(change)) {
      case DONE -> new Taken.Ended(change.made());
      case GOES_ON -> new Taken.Waits();
      case STUCK -> new Taken.Ended(givenUp(change, clearing.giveUp(change)));
    };
  }

  /**
   * Lets jobs commit again after a change that cleared rows. Not before its end is written: until
   * then a tablet that was asked may still be cleared.
   */
  void ended(SchemaChange change) throws IOException {
    if (heldUp.contains(change.id())) {
      schemas.endClearing(change);
      heldUp.remove(change.id());
    }
  }

  private static EndedChange givenUp(SchemaChange change, ChangeProgress progress) {
    return change.failed(
        SteleException.Code.OUTCOME_UNKNOWN,
        "the rows were deleted from "
            + progress.done()
            + " of "
            + progress.all()
            + " tablets, and for "
            + Clearing.GIVE_UP.toSeconds()
            + " s from no other: the other tablets may still have them; see `stele check`, and"
            + " delete the rows again");
  }

  /**
   * Whether the change is still at this step, after its table was read. If so, a write that is
   * conditional on the table as it was read undoes no later change, even if another master made
   * one.
   */
  private boolean isAtStep(SchemaChange change, StoredTable table) throws IOException {
    return schemas
        .names()
        .read(table.schema().name())
        .running()
        .filter(now -> now.id().equals(change.id()) && now.step() == change.step())
        .isPresent();
  }

  private static Taken lost(SchemaChange change) {
    LOG.error("Table {} has no node in ZooKeeper any more", change.table());
    return new Taken.Ended(
        change.failed(
            SteleException.Code.NOT_FOUND,
            "the node of table "
                + change.table()
                + " in ZooKeeper was lost while the table was "
                + change.kind().participle()
                + (change.kind() == SchemaChange.Kind.CREATE
                    ? ": nothing is left of the table"
                    : ": its tablets and files are there; see `stele check`")));
  }

  /** Whether METADATA has records of a table, including damaged ones. Waits for METADATA. */
  boolean hasRecords(TableId table) throws IOException {
    return records.reader().hasAny(table);
  }

  private Taken removeRecords(SchemaChange change) throws IOException {
    RecordRemoval.Left left = removal.advance(change.table());
    if (left instanceof RecordRemoval.Left.Damaged damaged) {
      return new Taken.Ended(
          change.failed(
              SteleException.Code.OUTCOME_UNKNOWN,
              "the table was dropped, but not all of it: "
                  + damaged.damage().size()
                  + " of its records in METADATA cannot be read, so it is unknown which servers have"
                  + " these tablets. The records, the table's files and all logs of dead servers are"
                  + " kept; see `stele check`. Once the records are repaired or deleted, the master"
                  + " removes the rest by itself. The first is: "
                  + damaged.damage().get(0)));
    }
    return left instanceof RecordRemoval.Left.Nothing
        ? new Taken.Next(Step.REMOVE_NODE)
        : new Taken.Waits();
  }

  /**
   * Removes records that were written late, after the table's change had ended, by a master that
   * had lost its lock without knowing it, or that were damaged when the table was dropped.
   *
   * @return whether nothing is left to do now; damaged records may still be left
   */
  boolean clear(TableId id) throws IOException {
    Optional<StoredTable> table = schemas.table(id);
    if (table.isEmpty() || table.get().state() == StoredTable.State.READY) {
      return true;
    }
    if (table.get().state() == StoredTable.State.CREATING) {
      schemas.advance(table.get(), StoredTable.State.DROPPING);
      return false;
    }
    RecordRemoval.Left left = removal.advance(id);
    return left instanceof RecordRemoval.Left.Nothing
        ? schemas.delete(table.get())
        : left instanceof RecordRemoval.Left.Damaged;
  }
}
