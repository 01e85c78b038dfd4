package io.stele.master;

import io.stele.metadata.EndedChange;
import io.stele.metadata.SchemaChange;
import io.stele.metadata.SchemaChange.Step;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecords;
import io.stele.model.ColumnFamily;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
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
  private final ProcessRuntime runtime;
  private final TabletRecords records;
  private final TabletServers servers;
  private final Supplier<Map<ServerId, ServerInfo>> live;

  private final Map<String, Clearing> works = new ConcurrentHashMap<>(); // By change.

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
    SortedSet<String> names = new TreeSet<>(table.dropped().names());
    names.retainAll(wanted.families().stream().map(ColumnFamily::name).toList());
    return names;
  }

  /** Whether {@code rows} are known to be done for a change in progress. */
  boolean isErased(SchemaChange change, RowRange rows) {
    Clearing work = works.get(change.id());
    return work != null && work.isCleared(change, rows);
  }

  /** Requests the erasing that is not yet done. */
  SchemaSteps.Taken advance(SchemaChange change, StoredTable table) throws IOException {
    SortedSet<String> families = comeBack(table, change.wanted().orElseThrow());
    Clearing work = works.computeIfAbsent(change.id(), id -> clearing(table, families));
    return switch (work.advance(change)) {
      case DONE -> {
        works.remove(change.id());
        yield new SchemaSteps.Taken.Next(Step.WRITE_SCHEMA);
      }
      case GOES_ON -> new SchemaSteps.Taken.Waits();
      case STUCK -> {
        EndedChange ended = givenUp(change, families, work.giveUp(change));
        works.remove(change.id());
        yield new SchemaSteps.Taken.Ended(ended);
      }
    };
  }

  private Clearing clearing(StoredTable table, SortedSet<String> families) {
    String name = table.schema().name();
    return new Clearing(
        runtime,
        records,
        live,
        (server, record, change, rows) -> servers.erase(server, record, change, name, families));
  }

  private static EndedChange givenUp(
      SchemaChange change, SortedSet<String> families, ChangeProgress progress) {
    return change.failed(
        SteleException.Code.RETRY_LATER,
        "the table had "
            + (families.size() == 1 ? "a family " : "families ")
            + String.join(", ", families)
            + ", still to be removed from "
            + (progress.all() - progress.done())
            + " of "
            + progress.all()
            + " tablets, and for "
            + Clearing.GIVE_UP.toSeconds()
            + " s none got done: nothing was altered; see `stele check`, and try again");
  }
}
