package io.stele.master;

import io.stele.metadata.SchemaChange;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.record.ClearedRows;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Makes the servers of a table's tablets clear its rows, or erase families from them. The tablets'
 * records say which rows are done, also after splits and merges. So the work is complete when the
 * rows that the records name, even if read at different moments, cover all rows.
 *
 * <p>Finished rows are remembered while the change runs. So only the records of the remaining rows
 * are read, a limited number at a time, in order: the cost depends on the table's tablets, not on
 * how often it is looked at.
 *
 * <p>Safe for use by any number of threads; waits for METADATA only.
 */
final class Clearing {
  // The most tablets of one table that have requests at a time: enough for all servers to have
  // some.
  private static final int AT_ONCE = 1000;

  private final TabletRecords records;
  private final Supplier<Map<ServerId, ServerInfo>> live;
  private final Request request;
  private final Map<String, ClearedRows> known = new ConcurrentHashMap<>(); // By change.

  /** The request to the server that has a tablet. */
  @FunctionalInterface
  interface Request {
    /** Starts a request to apply {@code change} to {@code rows} of a tablet; never waits. */
    void make(ServerInfo server, TabletRecord record, long change, RowRange rows);
  }

  Clearing(TabletRecords records, Supplier<Map<ServerId, ServerInfo>> live, Request request) {
    this.records = records;
    this.live = live;
    this.request = request;
  }

  /** Requests the work that is not done; returns whether everything is done. */
  boolean goOn(SchemaChange change) throws IOException {
    ClearedRows done = done(change);
    int room = AT_ONCE;
    for (RowRange left : done.left(change.sequence(), change.rows())) {
      Optional<Bytes> next = Optional.of(left.start());
      while (next.isPresent() && room > 0) {
        List<TabletRecord> some = records.readFrom(change.table(), next.get(), room);
        next = Optional.empty();
        for (TabletRecord record : some) {
          Optional<RowRange> wanted = record.extent().intersection(left);
          if (wanted.isEmpty()) {
            break;
          }
          done = done.with(change.sequence(), cleared(record, wanted.get(), change));
          room--;
          next =
              Optional.of(record.extent().end())
                  .filter(end -> !end.isEmpty() && left.isBeforeEnd(end));
        }
      }
    }
    boolean all = done.left(change.sequence(), change.rows()).isEmpty();
    if (all) {
      known.remove(change.id());
    } else {
      known.put(change.id(), done);
    }
    return all;
  }

  /** Whether {@code rows} are known to be cleared for a change in progress. */
  boolean isCleared(SchemaChange change, RowRange rows) {
    return done(change).left(change.sequence(), rows).isEmpty();
  }

  /** The rows known to be done for a change in progress. */
  ClearedRows done(SchemaChange change) {
    return known.getOrDefault(change.id(), ClearedRows.NONE);
  }

  /** The rows of {@code wanted} that are cleared; requests the others. */
  private List<RowRange> cleared(TabletRecord record, RowRange wanted, SchemaChange change) {
    if (record.cleared().left(change.sequence(), wanted).isEmpty()) {
      return List.of(wanted);
    }
    record
        .location()
        .flatMap(at -> Optional.ofNullable(live.get().get(at.server())))
        .ifPresent(server -> request.make(server, record, change.sequence(), change.rows()));
    return record.cleared().clipped(wanted).of(change.sequence());
  }
}
