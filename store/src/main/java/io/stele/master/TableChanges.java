package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.EndedChange;
import io.stele.metadata.MetadataKeys;
import io.stele.metadata.SchemaChange;
import io.stele.metadata.SchemaChange.Kind;
import io.stele.metadata.SchemaChange.Step;
import io.stele.metadata.Schemas;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TableName;
import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The schema changes in progress. Threads of this class take each from step to step when the
 * master's loop calls {@link #advance}. A failed step is repeated, and so is a step that an earlier
 * master may have taken.
 *
 * <p>Before each step the remaining work is read from the node of the table's name, and after it
 * the node is written, conditional on what was read: so two masters may continue the same change.
 * The {@link Sweeper} deletes the files of a dropped table, because another table may share them.
 *
 * <p>Safe for use by any number of threads.
 */
final class TableChanges implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TableChanges.class);
  private static final Duration CHECK_AGAIN_AFTER = Duration.ofMillis(100);
  private static final Duration TRY_AGAIN = Duration.ofMillis(500);
  private static final Duration LIST_EVERY = Duration.ofSeconds(20);
  private static final Duration REMEMBERED = Duration.ofHours(1);
  private static final int CHANGERS_MAX = 4;

  /** How many tables and names on which nothing is done are read each time. */
  private static final int AT_REST_READ_MAX = 16;

  private final ProcessRuntime runtime;
  private final Schemas schemas;
  private final SchemaSteps steps;
  private final LoopSignal signal;
  private volatile Consumer<String> whenEnded = name -> {};
  private final WorkerPool changers;

  @GuardedBy("this")
  private final Map<TableId, Work> works = new TreeMap<>();

  private final AtRest<TableId> tablesAtRest = new AtRest<>(AT_REST_READ_MAX);
  private final AtRest<String> namesAtRest = new AtRest<>(AT_REST_READ_MAX);

  // For the one thread that resumes.
  private final Map<String, Idle> idle = new HashMap<>();
  private Optional<Long> listedNanos = Optional.empty();

  /**
   * A change in progress.
   *
   * @param name the table's
   * @param change its last known state
   */
  record Running(String name, SchemaChange change) {}

  /**
   * A table in progress: during a change, or removed except for parts of it that were written late.
   */
  private static final class Work {
    final Optional<Running> change;
    final TableId table;
    final long notBeforeNanos;
    boolean inProgress;

    Work(Optional<Running> change, TableId table, long notBeforeNanos) {
      this.change = change;
      this.table = table;
      this.notBeforeNanos = notBeforeNanos;
    }

    boolean isOf(SchemaChange other) {
      return change.filter(one -> one.change().id().equals(other.id())).isPresent();
    }

    boolean needsRecords() {
      return change.isEmpty() || change.get().change().step().needsRecords();
    }

    boolean removesTablets() {
      return change.isEmpty() || change.get().change().step() == Step.REMOVE_RECORDS;
    }
  }

  /** A name without a table, and since when it has been unchanged. */
  private record Idle(int version, long nanos) {}

  /**
   * The state before {@link #resume}: no changes are in progress.
   *
   * @param signal told when a table is made, will be dropped, or is gone
   */
  TableChanges(ProcessRuntime runtime, Schemas schemas, SchemaSteps steps, LoopSignal signal) {
    this.runtime = runtime;
    this.schemas = schemas;
    this.steps = steps;
    this.signal = signal;
    this.changers = runtime.pool("table-changer", CHANGERS_MAX);
  }

  /** Starts a recorded change, unless it is already known. */
  void begin(String name, SchemaChange change) {
    synchronized (this) {
      Work known = works.get(change.table());
      if (known != null && known.isOf(change)) {
        return;
      }
      Optional<Running> begun = Optional.of(new Running(name, change));
      works.put(change.table(), new Work(begun, change.table(), runtime.nanoTime()));
    }
    moves(change.table(), Optional.of(name));
    signal.wakeUp();
  }

  /**
   * Finds changes that this master or another began earlier and that have not ended, and tables
   * without a change that are neither complete nor gone. For one thread.
   *
   * <p>Names are listed rarely; created tables are found anyway. A table or a name that this master
   * has found at rest is read only now and then. If another master changes it all the same, whoever
   * asked that one for the change asks this one for its end, and {@link #begin} learns it.
   */
  void resume() throws IOException {
    for (TableId table : tablesAtRest.choose(schemas.ids())) {
      check(table);
    }
    long now = runtime.nanoTime();
    if (listedNanos.filter(last -> now - last < LIST_EVERY.toNanos()).isEmpty()) {
      Set<String> names = new TreeSet<>(schemas.names().all());
      idle.keySet().retainAll(names);
      for (String name : namesAtRest.choose(names)) {
        check(name, now);
      }
      listedNanos = Optional.of(now);
    }
  }

  private void check(TableId id) throws IOException {
    Optional<StoredTable> table;
    try {
      table = schemas.table(id);
      table
          .filter(one -> one.state() != StoredTable.State.READY)
          .ifPresent(StoredTable::requireChangeable);
    } catch (CorruptionException | NewerFormatException e) {
      LOG.error("The node of table {} in ZooKeeper is left as it is", id, e);
      return;
    }
    if (table.isPresent() && table.get().state() == StoredTable.State.READY) {
      tablesAtRest.rests(id);
    } else if (table.isPresent()) {
      tablesAtRest.moves(id);
      resume(table.get());
    }
  }

  private void moves(TableId table, Optional<String> name) {
    tablesAtRest.moves(table);
    name.ifPresent(namesAtRest::moves);
  }

  private void resume(StoredTable table) throws IOException {
    String name = table.schema().name();
    try {
      // Read after the table: its change was recorded before the table was.
      Optional<SchemaChange> running =
          schemas
              .names()
              .find(name)
              .flatMap(TableName::running)
              .filter(change -> change.table().equals(table.id()));
      if (running.isPresent()) {
        begin(name, running.get());
        return;
      }
      if (!isAsListed(table)) {
        return; // Its change ended after the tables were listed: the table is ready, or gone.
      }
    } catch (CorruptionException | NewerFormatException e) {
      LOG.error("The name {} or its table in ZooKeeper cannot be decoded", name, e);
      return;
    }
    synchronized (this) {
      works.computeIfAbsent(table.id(), id -> new Work(Optional.empty(), id, runtime.nanoTime()));
    }
  }

  /**
   * Whether the table's node is still as it was listed. A change writes it for the last time before
   * the name says that the change ended.
   */
  private boolean isAsListed(StoredTable table) throws IOException {
    return schemas.table(table.id()).filter(now -> now.version() == table.version()).isPresent();
  }

  private void check(String name, long now) throws IOException {
    try {
      Optional<TableName> found = schemas.names().find(name);
      if (found.flatMap(TableName::running).isPresent()) {
        namesAtRest.moves(name);
        begin(name, found.get().running().orElseThrow());
      } else {
        namesAtRest.rests(name);
      }
      if (found.isEmpty() || found.get().running().isPresent() || found.get().table().isPresent()) {
        idle.remove(name);
        return;
      }
      Idle before = idle.get(name);
      if (before == null || before.version() != found.get().version()) {
        idle.put(name, new Idle(found.get().version(), now));
      } else if (now - before.nanos() > REMEMBERED.toNanos()) {
        schemas.names().forget(found.get());
        idle.remove(name);
      }
    } catch (CorruptionException | NewerFormatException e) {
      LOG.error("The name {} in ZooKeeper cannot be decoded", name, e);
    }
  }

  /** The tables whose tablets must be removed. */
  synchronized Set<TableId> dropping() {
    Set<TableId> dropping = new TreeSet<>();
    works.values().stream().filter(Work::removesTablets).forEach(work -> dropping.add(work.table));
    return dropping;
  }

  /** The changes in progress, by table. */
  synchronized List<Running> running() {
    return works.values().stream().flatMap(work -> work.change.stream()).toList();
  }

  /** How many tablets of a change's table are done. */
  ChangeProgress progress(SchemaChange change, MasterLoop.View view) {
    return ChangeProgress.of(change, view, rows -> steps.isCleared(change, rows));
  }

  /**
   * Continues all changes in the background.
   *
   * @param reachable whether a table's records can be read and written; steps that need the records
   *     of other tables wait; called on any thread
   * @return whether there are any changes
   */
  boolean advance(Predicate<TableId> reachable) {
    List<Work> due = new ArrayList<>();
    boolean isBusy;
    synchronized (this) {
      for (Work work : works.values()) {
        if (!work.inProgress
            && runtime.nanoTime() - work.notBeforeNanos >= 0
            && (!work.needsRecords() || reachable.test(work.table))) {
          work.inProgress = true;
          due.add(work);
        }
      }
      isBusy = !works.isEmpty();
    }
    try {
      due.forEach(work -> changers.execute(() -> carryOn(work, reachable)));
    } catch (RejectedExecutionException e) {
      LOG.debug("The master stops", e);
    }
    return isBusy;
  }

  private void carryOn(Work work, Predicate<TableId> reachable) {
    Optional<Work> next = Optional.of(later(work, work.change, TRY_AGAIN));
    try {
      next =
          work.change.isPresent()
              ? carryOn(work, work.change.get(), reachable)
              : steps.clear(work.table)
                  ? Optional.empty()
                  : Optional.of(later(work, Optional.empty(), CHECK_AGAIN_AFTER));
    } catch (IOException | SteleException e) {
      LOG.warn("Cannot make progress on table {}; will retry", described(work), e);
    } finally {
      replace(work, next);
    }
  }

  private void replace(Work work, Optional<Work> next) {
    synchronized (this) {
      if (next.isPresent()) {
        works.replace(work.table, work, next.get());
        return;
      }
      works.remove(work.table, work); // Unless it is another change by now.
    }
    moves(work.table, work.change.map(Running::name));
  }

  private Work later(Work work, Optional<Running> change, Duration pause) {
    return new Work(change, work.table, runtime.nanoTime() + pause.toNanos());
  }

  private static String described(Work work) {
    return work.change
        .map(
            one ->
                one.name()
                    + " ("
                    + work.table
                    + "), which is being "
                    + one.change().kind().participle()
                    + " ("
                    + one.change().step()
                    + ")")
        .orElse(work.table + ", of which something was written late,");
  }

  /** Takes steps until one must wait; empty when nothing is left to do. */
  private Optional<Work> carryOn(Work work, Running first, Predicate<TableId> reachable)
      throws IOException {
    while (true) {
      TableName now = schemas.names().read(first.name());
      Optional<SchemaChange> change =
          now.running().filter(running -> running.id().equals(first.change().id()));
      if (change.isEmpty()) {
        steps.ended(first.change()); // Another master was faster.
        return Optional.empty();
      }
      SchemaSteps.Taken taken =
          change.get().step().needsRecords() && !reachable.test(work.table)
              ? new SchemaSteps.Taken.Waits()
              : steps.take(change.get());
      if (taken instanceof SchemaSteps.Taken.Waits) {
        Running seen = new Running(first.name(), change.get());
        return Optional.of(later(work, Optional.of(seen), CHECK_AGAIN_AFTER));
      } else if (taken instanceof SchemaSteps.Taken.Next next) {
        schemas.names().write(now, now.with(change.get().at(next.step())));
        if (next.step() == Step.REMOVE_RECORDS) {
          signal.rereadSoon(MetadataKeys.table(work.table));
        }
      } else if (taken instanceof SchemaSteps.Taken.Ended ended
          && schemas.names().write(now, after(now, change.get(), ended.change()))) {
        LOG.info(
            "Table {} ({}) {}",
            now.name(),
            change.get().table(),
            ended
                .change()
                .failure()
                .map(EndedChange.Failure::message)
                .orElse("is " + change.get().kind().participle()));
        signal.rereadSoon(MetadataKeys.table(work.table));
        whenEnded.accept(now.name());
        steps.ended(change.get());
        return Optional.empty();
      }
    }
  }

  /** Tells {@code work}, which must not wait, under which name a change has ended. */
  void whenEnded(Consumer<String> work) {
    whenEnded = work;
  }

  private static TableName after(TableName now, SchemaChange change, EndedChange ended) {
    boolean isGone =
        change.kind() == Kind.DROP || (change.kind() == Kind.CREATE && ended.failure().isPresent());
    return (isGone ? now.of(Optional.empty()) : now).with(ended);
  }

  /** Stops all steps; the next master continues them. */
  @Override
  public void close() {
    changers.close();
  }
}
