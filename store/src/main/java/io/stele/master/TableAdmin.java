package io.stele.master;

import io.stele.master.ChangeRequest.Alter;
import io.stele.master.ChangeRequest.Clear;
import io.stele.master.ChangeRequest.Create;
import io.stele.master.ChangeRequest.Drop;
import io.stele.metadata.EndedChange;
import io.stele.metadata.SchemaChange;
import io.stele.metadata.SchemaChange.Step;
import io.stele.metadata.Schemas;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TableName;
import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.model.TableId;
import io.stele.model.TableRules;
import io.stele.runtime.IoRunnable;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts requests to create, alter, clear and drop tables. It decides each request once, and
 * writes the decision into the node of the table's name ({@link io.stele.metadata.TableNames}), in
 * one conditional write. {@link TableChanges} makes the change.
 *
 * <p>A repeated request, to this master or another, is answered from the written decision. For each
 * name one change is made at a time; requests for others must be repeated later. But a drop ends a
 * change that only waits for tablets to clear rows or to erase families: such a change might wait
 * for a tablet that cannot be loaded any more.
 *
 * <p>Safe for use by any number of threads. Requests wait only for the lock service; the first one
 * that names readers also for the NameNode, and those under the name of a table whose node was lost
 * for METADATA.
 */
final class TableAdmin {
  private static final Logger LOG = LoggerFactory.getLogger(TableAdmin.class);
  private static final int ATTEMPTS_MAX = 20;

  private final ProcessRuntime runtime;
  private final Schemas schemas;
  private final SchemaSteps steps;
  private final TableChanges changes;

  TableAdmin(ProcessRuntime runtime, Schemas schemas, SchemaSteps steps, TableChanges changes) {
    this.runtime = runtime;
    this.schemas = schemas;
    this.steps = steps;
    this.changes = changes;
  }

  /** The state of a change. */
  sealed interface Answer {
    /** The change is in progress. */
    record Running(SchemaChange change) implements Answer {}

    /** The change has ended. */
    record Ended(EndedChange change) implements Answer {}
  }

  /**
   * Begins a change, or returns the state of the one with that id.
   *
   * @throws SteleException RETRY_LATER while another change is made under the name: nothing was
   *     done, and nothing is remembered
   */
  Answer ask(ChangeRequest request) throws IOException {
    request.wish().check();
    String name = request.wish().name();
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      TableName now = schemas.names().read(name);
      Optional<EndedChange> ended = now.ended(request.id());
      if (ended.isPresent()) {
        return new Answer.Ended(ended.get());
      }
      Optional<SchemaChange> running = now.running();
      if (running.isPresent() && running.get().id().equals(request.id())) {
        changes.begin(name, running.get());
        return new Answer.Running(running.get());
      }
      checkRemembered(request, now);
      if (running.isPresent() && !isSuperseded(running.get(), request)) {
        changes.begin(name, running.get());
        throw isBusy(name, running.get());
      }
      TableName free = running.map(change -> now.with(superseded(change))).orElse(now);
      Answer answer = decide(request, free);
      if (writeDown(free, answer)) {
        return answer;
      }
    }
    throw SteleException.retryLater(
        "table " + name + " is being changed by other requests all the time: try again");
  }

  /**
   * The state of a requested change.
   *
   * @param name the table's
   * @param id of the change
   * @throws SteleException NOT_FOUND if the change is not remembered, or was never decided
   */
  Answer find(String name, String id) throws IOException {
    TableName now = schemas.names().read(name);
    Optional<EndedChange> ended = now.ended(id);
    if (ended.isPresent()) {
      return new Answer.Ended(ended.get());
    }
    SchemaChange running =
        now.running()
            .filter(change -> change.id().equals(id))
            .orElseThrow(
                () ->
                    SteleException.notFound(
                        "it is not in progress, and not among the last changes of a table "
                            + name
                            + ": `stele table changes` shows those in progress"));
    changes.begin(name, running);
    return new Answer.Running(running);
  }

  /** Fails with OUTCOME_UNKNOWN if the requested change may have been forgotten. */
  private static void checkRemembered(ChangeRequest request, TableName now) {
    if (request.seen() < now.forgotten()) {
      throw SteleException.outcomeUnknown(
          "whether table "
              + now.name()
              + " was "
              + request.wish().kind().participle()
              + " is no longer remembered: too many changes were made to the table since",
          new IllegalStateException(request.seen() + " < " + now.forgotten()));
    }
  }

  private static SteleException isBusy(String name, SchemaChange running) {
    return SteleException.retryLater(
        "table "
            + name
            + " is just being "
            + running.kind().participle()
            + ", and only one change is made to a table at a time: "
            + running.step().waitsFor());
  }

  /** Whether {@code request} ends the change in progress. */
  private static boolean isSuperseded(SchemaChange running, ChangeRequest request) {
    boolean mayLast =
        switch (running.step()) {
          case CLEAR_TABLETS, ERASE_FAMILIES, WRITE_SCHEMA, GRANT_READING -> true;
          case WRITE_NODE,
              MAKE_DIRECTORY,
              WRITE_RECORDS,
              MAKE_READY,
              TELL_SERVERS,
              MARK_DROPPED,
              REMOVE_RECORDS,
              REMOVE_NODE ->
              false;
        };
    return mayLast && request.wish() instanceof Drop;
  }

  private static EndedChange superseded(SchemaChange change) {
    if (change.step() == Step.CLEAR_TABLETS) {
      return change.failed(
          Code.OUTCOME_UNKNOWN,
          "the table is being dropped; the rows were deleted from some of its tablets at most");
    }
    return change.step() == Step.ERASE_FAMILIES
        ? change.failed(Code.RETRY_LATER, "the table is being dropped: nothing was altered")
        : change.failed(
            Code.OUTCOME_UNKNOWN, "the table is being dropped, and may have been altered before");
  }

  private boolean writeDown(TableName now, Answer answer) throws IOException {
    if (answer instanceof Answer.Ended refused) {
      return schemas.names().write(now, now.with(refused.change()));
    }
    SchemaChange change = ((Answer.Running) answer).change();
    if (!schemas.names().write(now, now.of(Optional.of(change.table())).with(change))) {
      return false;
    }
    LOG.info("Table {} ({}) is being {}", now.name(), change.table(), change.kind().participle());
    changes.begin(now.name(), change);
    return true;
  }

  private Answer decide(ChangeRequest request, TableName now) throws IOException {
    Optional<StoredTable> table =
        now.table().isPresent() ? schemas.table(now.table().get()) : Optional.empty();
    if (request.wish() instanceof Create create) {
      if (table.isPresent()) {
        return refused(
            request,
            now,
            Code.ALREADY_EXISTS,
            "there is a table " + now.name() + " already: choose another name, or drop it first");
      }
      return decideCreate(request, now, create);
    }
    if (table.isEmpty() || table.get().state() != StoredTable.State.READY) {
      Optional<String> lost = table.isEmpty() ? whyUnusable(now) : Optional.empty();
      String why = lost.isPresent() ? lost.get() : schemas.missing(now.name());
      return refused(request, now, Code.NOT_FOUND, why);
    }
    table.get().requireChangeable(); // A recorded change must not be refused later.
    if (request.wish() instanceof Drop) {
      return new Answer.Running(SchemaChange.drop(head(request, now, table.get().id())));
    }
    if (request.wish() instanceof Clear clear) {
      SchemaChange.Head head = head(request, now, table.get().id());
      return new Answer.Running(SchemaChange.clear(head, clear.rows()));
    }
    return decideAlter(request, now, table.get(), (Alter) request.wish());
  }

  private Answer decideCreate(ChangeRequest request, TableName now, Create create)
      throws IOException {
    Optional<String> lost = whyUnusable(now);
    Optional<String> why = lost.isPresent() ? lost : steps.whyNot(create.schema());
    if (why.isEmpty()) {
      why = refusal(() -> schemas.requireRoom(create.schema(), create.splitRows()));
    }
    if (why.isPresent()) {
      return refused(request, now, Code.REFUSED, why.get());
    }
    SchemaChange.Head head = head(request, now, schemas.nextId());
    return new Answer.Running(SchemaChange.create(head, create.schema(), create.splitRows()));
  }

  private Answer decideAlter(ChangeRequest request, TableName now, StoredTable table, Alter alter)
      throws IOException {
    Optional<String> why = whyNot(table, alter);
    if (why.isPresent()) {
      return refused(request, now, Code.REFUSED, why.get());
    }
    SortedSet<String> back = FamilyErasing.comeBack(table, alter.schema());
    Optional<String> job = schemas.jobWithDropped(table, back);
    if (job.isPresent()) {
      SortedSet<String> its = new TreeSet<>(back);
      its.retainAll(table.dropped().under(job.get()));
      return refused(
          request,
          now,
          Code.RETRY_LATER,
          "job "
              + job.get()
              + " may have been running when table "
              + now.name()
              + " lost the family "
              + String.join(" and the family ", its)
              + ", and may have files with cells of it: nothing was altered; choose another name, or"
              + " try again when the job is over: `stele job list` shows the jobs, and `stele job end"
              + " JOB` ends one that no longer runs");
    }
    Step first = back.isEmpty() ? Step.WRITE_SCHEMA : Step.ERASE_FAMILIES;
    SchemaChange.Head head = head(request, now, table.id());
    return new Answer.Running(SchemaChange.alter(head, first, alter.schema()));
  }

  /** What to do about the name's table, which has no node, if anything is left of it. */
  private Optional<String> whyUnusable(TableName now) throws IOException {
    return now.table().isPresent() && steps.hasRecords(now.table().get())
        ? Optional.of(
            "the node of table "
                + now.name()
                + " ("
                + now.table().get()
                + ") in ZooKeeper was lost, its tablets and files are there: restore it with"
                + " `stele restore-zookeeper`, or give the table up with `stele repair`")
        : Optional.empty();
  }

  /**
   * Takes the name of a table that is gone, so that another table can have it. Reads the names of
   * all tables.
   *
   * @return false if a change runs for the table: try again when it has ended
   */
  boolean freeName(TableId table) throws IOException {
    for (String name : schemas.names().all()) {
      try {
        Optional<TableName> now =
            schemas.names().find(name).filter(one -> one.table().equals(Optional.of(table)));
        if (now.isPresent()
            && (now.get().running().isPresent()
                || !schemas.names().write(now.get(), now.get().of(Optional.empty())))) {
          return false;
        }
      } catch (CorruptionException | NewerFormatException e) {
        LOG.error("The name {} in ZooKeeper cannot be decoded", name, e);
      }
    }
    return true;
  }

  private Optional<String> whyNot(StoredTable table, Alter alter) throws IOException {
    boolean isChanged = alter.before().filter(before -> !before.equals(table.schema())).isPresent();
    if (isChanged && !table.schema().equals(alter.schema())) {
      return Optional.of(
          "table "
              + alter.name()
              + " was altered by somebody else, and nothing was changed: describe it"
              + " and try again");
    }
    Optional<String> why =
        refusal(
            () -> {
              TableRules.checkChange(table.schema(), alter.schema());
              schemas.requireRoom(table, alter.schema());
            });
    return why.isPresent() || alter.schema().readers().equals(table.schema().readers())
        ? why
        : steps.whyNot(alter.schema());
  }

  /** Why {@code check} refuses, if it does: a recorded change must not be refused later. */
  private static Optional<String> refusal(IoRunnable check) throws IOException {
    try {
      check.run();
      return Optional.empty();
    } catch (SteleException e) {
      if (e.code() != Code.REFUSED) {
        throw e;
      }
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }

  private static Answer refused(ChangeRequest request, TableName now, Code code, String why) {
    return new Answer.Ended(
        new EndedChange(
            request.id(),
            now.next(request.seen()),
            now.table(),
            Optional.of(new EndedChange.Failure(code, why))));
  }

  private SchemaChange.Head head(ChangeRequest request, TableName now, TableId table) {
    return new SchemaChange.Head(
        request.id(), now.next(request.seen()), table, runtime.wallClock().millis());
  }
}
