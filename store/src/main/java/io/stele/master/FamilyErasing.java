package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.EndedChange;
import io.stele.metadata.SchemaChange;
import io.stele.metadata.SchemaChange.Step;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.ColumnFamily;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.record.ClearedRows;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * Has dropped families erased from all tablets of a table before other families get their names. A
 * tablet's record says that it was done, as with {@link Clearing cleared} rows.
 *
 * <p>A table has one change at a time. So a change that makes no progress, because a tablet cannot
 * be loaded or a job's files wait in it, ends after a while. Nothing has then been altered, and a
 * new request continues from there.
 *
 * <p>Safe for use by any number of threads; waits for METADATA only.
 */
final class FamilyErasing {
  /** A change that makes no progress for this long ends. */
  static final Duration GIVE_UP = Duration.ofMinutes(1);

  private final ProcessRuntime runtime;
  private final TabletRecords records;
  private final TabletServers servers;
  private final Supplier<Map<ServerId, ServerInfo>> live;

  @GuardedBy("this")
  private final Map<String, Work> works = new HashMap<>(); // By change.

  /** A change in progress, and since when it has made no progress. */
  private static final class Work {
    final Clearing clearing;
    ClearedRows done = ClearedRows.NONE;
    long sinceNanos;

    Work(Clearing clearing, long nowNanos) {
      this.clearing = clearing;
      this.sinceNanos = nowNanos;
    }
  }

  FamilyErasing(
      ProcessRuntime runtime,
      TabletRecords records,
      TabletServers servers,
      Supplier<Map<ServerId, ServerInfo>> live) {
    this.runtime = runtime;
    this.records = records;
    this.servers = servers;
    this.live = live;
  }

  /** The families of {@code wanted} that have the names of dropped families. */
  static SortedSet<String> comeBack(StoredTable table, TableSchema wanted) {
    SortedSet<String> names = new TreeSet<>(table.droppedFamilies());
    names.retainAll(wanted.families().stream().map(ColumnFamily::name).toList());
    return names;
  }

  /** Whether {@code rows} are known to be done for a change in progress. */
  boolean isErased(SchemaChange change, RowRange rows) {
    Work work;
    synchronized (this) {
      work = works.get(change.id());
    }
    return work != null && work.clearing.isCleared(change, rows);
  }

  /** Requests the erasing that is not yet done. */
  SchemaSteps.Taken goOn(SchemaChange change, StoredTable table) throws IOException {
    SortedSet<String> families = comeBack(table, change.wanted().orElseThrow());
    Work work;
    synchronized (this) {
      work =
          works.computeIfAbsent(
              change.id(), id -> new Work(clearing(table, families), runtime.nanoTime()));
    }
    if (work.clearing.goOn(change)) {
      forget(change);
      return new SchemaSteps.Taken.Next(Step.WRITE_SCHEMA);
    }
    return isStuck(change, work)
        ? new SchemaSteps.Taken.Ended(givenUp(change, families, work))
        : new SchemaSteps.Taken.Waits();
  }

  private Clearing clearing(StoredTable table, SortedSet<String> families) {
    String name = table.schema().name();
    return new Clearing(
        records,
        live,
        (server, record, change, rows) -> servers.erase(server, record, change, name, families));
  }

  private synchronized void forget(SchemaChange change) {
    works.remove(change.id());
  }

  private boolean isStuck(SchemaChange change, Work work) {
    synchronized (this) {
      ClearedRows done = work.clearing.done(change);
      if (!done.equals(work.done)) {
        work.done = done;
        work.sinceNanos = runtime.nanoTime();
      }
      return runtime.nanoTime() - work.sinceNanos > GIVE_UP.toNanos();
    }
  }

  private EndedChange givenUp(SchemaChange change, SortedSet<String> families, Work work)
      throws IOException {
    List<TabletRecord> tablets = records.readAll(change.table());
    ClearedRows done = work.clearing.done(change);
    long left =
        tablets.stream()
            .filter(record -> !done.left(change.sequence(), record.extent()).isEmpty())
            .count();
    forget(change);
    return new EndedChange(
        change.id(),
        change.sequence(),
        Optional.of(change.table()),
        Optional.of(
            new EndedChange.Failure(
                SteleException.Code.RETRY_LATER,
                "the table had "
                    + (families.size() == 1 ? "a family " : "families ")
                    + String.join(", ", families)
                    + ", still to be removed from "
                    + left
                    + " of "
                    + tablets.size()
                    + " tablets, and for "
                    + GIVE_UP.toSeconds()
                    + " s none got done: nothing was altered; see `stele check`, and try again")));
  }
}
