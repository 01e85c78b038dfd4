package io.stele.master;

import io.stele.metadata.SchemaChange;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.record.ClearedRows;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Makes the servers of a table's tablets clear its rows, or erase families from them. The tablets'
 * records say which rows are done, even after splits and merges. So the work is complete when the
 * rows that the records name, even if read at different moments, cover all rows.
 *
 * <p>Finished rows are remembered while the change runs. So only the records of the remaining rows
 * are read, a limited number at a time, in order: the cost depends on the table's tablets, not on
 * how often it is looked at.
 *
 * <p>A table has one change at a time. So a change that makes no progress, for example because a
 * tablet cannot be loaded, should end after a while. Finished rows stay finished, and a new request
 * does the others.
 *
 * <p>Safe for use by any number of threads; waits for METADATA only.
 */
final class Clearing {
  // The most tablets of one table that have requests at a time: enough for all servers to have
  // some.
  private static final int AT_ONCE = 1000;

  /** A change that makes no progress for this long should end. */
  static final Duration GIVE_UP = Duration.ofMinutes(1);

  // If nothing could be looked at for this long, METADATA was away, and that time does not count.
  private static final Duration AWAY_MIN = Duration.ofSeconds(10);

  private final ProcessRuntime runtime;
  private final TabletRecords records;
  private final Supplier<Map<ServerId, ServerInfo>> live;
  private final Request request;
  private final Map<String, Progress> known = new ConcurrentHashMap<>(); // By change.

  /** How far a change is. */
  enum State {
    /** Everything is done. */
    DONE,
    /** Something is left to do. */
    GOES_ON,
    /** Something is left to do, and for a while nothing was done. */
    STUCK
  }

  /** The rows that are done, since when they have been all, and when that was looked at last. */
  private record Progress(ClearedRows done, long sinceNanos, long lookedNanos) {}

  /** The request to the server that has a tablet. */
  @FunctionalInterface
  interface Request {
    /** Starts a request to apply {@code change} to {@code rows} of a tablet; never waits. */
    void make(ServerInfo server, TabletRecord record, long change, RowRange rows);
  }

  Clearing(
      ProcessRuntime runtime,
      TabletRecords records,
      Supplier<Map<ServerId, ServerInfo>> live,
      Request request) {
    this.runtime = runtime;
    this.records = records;
    this.live = live;
    this.request = request;
  }

  /** Requests the work that is not done. */
  State advance(SchemaChange change) throws IOException {
    ClearedRows done = done(change);
    int room = AT_ONCE;
    for (RowRange left : done.left(change.sequence(), change.rows())) {
      Optional<Bytes> next = Optional.of(left.start());
      while (next.isPresent() && room > 0) {
        List<TabletRecord> some = records.reader().readFrom(change.table(), next.get(), room);
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
    if (done.left(change.sequence(), change.rows()).isEmpty()) {
      known.remove(change.id());
      return State.DONE;
    }
    long now = runtime.nanoTime();
    long since = since(change, done, now);
    known.put(change.id(), new Progress(done, since, now));
    return now - since > GIVE_UP.toNanos() ? State.STUCK : State.GOES_ON;
  }

  private long since(SchemaChange change, ClearedRows done, long nowNanos) {
    return Optional.ofNullable(known.get(change.id()))
        .filter(last -> last.done().equals(done))
        .filter(last -> nowNanos - last.lookedNanos() < AWAY_MIN.toNanos())
        .map(Progress::sinceNanos)
        .orElse(nowNanos);
  }

  /** Ends a change that is not done; returns how many of the tablets with rows of it are done. */
  ChangeProgress giveUp(SchemaChange change) throws IOException {
    List<RowRange> wanted =
        records.reader().readAll(change.table()).stream()
            .flatMap(record -> record.extent().intersection(change.rows()).stream())
            .toList();
    ChangeProgress progress = ChangeProgress.counted(wanted, rows -> isCleared(change, rows));
    known.remove(change.id());
    return progress;
  }

  /** Whether {@code rows} are known to be cleared for a change in progress. */
  boolean isCleared(SchemaChange change, RowRange rows) {
    return done(change).left(change.sequence(), rows).isEmpty();
  }

  private ClearedRows done(SchemaChange change) {
    return Optional.ofNullable(known.get(change.id())).map(Progress::done).orElse(ClearedRows.NONE);
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
