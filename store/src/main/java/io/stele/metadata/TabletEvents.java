package io.stele.metadata;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.metadata.avro.EventValue;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.CorruptionException;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The events of tablets, stored in their rows of METADATA; each row keeps the latest.
 *
 * <p>Safe for use by any number of threads.
 */
public final class TabletEvents {
  private static final int ROWS_AT_ONCE = 500;

  private final ProcessRuntime runtime;
  private final TabletAccess access;
  private final RootRecordRows root;
  private final Duration timeout;

  /**
   * An event of a tablet.
   *
   * @param time by the clock of the METADATA server that recorded it
   * @param tablet the one that has the row now: the upper half, for events before a split
   * @param what in words
   * @param epoch of the tablet's assignment
   * @param server the server concerned
   */
  public record Event(
      Instant time, TabletId tablet, String what, long epoch, Optional<ServerId> server) {}

  /**
   * Events over {@code access}; those of the root tablet are in {@code locks}.
   *
   * @param timeout how long one page may take
   */
  public TabletEvents(
      ProcessRuntime runtime, LockService locks, TabletAccess access, Duration timeout) {
    this.runtime = runtime;
    this.access = access;
    this.root = new RootRecordRows(runtime, locks, timeout);
    this.timeout = timeout;
  }

  /** The events of one table's tablets, the oldest first. */
  public List<Event> of(TableId table) throws IOException {
    return table.equals(TableId.ROOT)
        ? ofRoot()
        : in(MetadataKeys.recordsOf(table), MetadataKeys.table(table));
  }

  /** The events of one tablet, the oldest first; only its table's rows are read. */
  public List<Event> of(TabletId tablet) throws IOException {
    return of(tablet.table()).stream().filter(event -> event.tablet().equals(tablet)).toList();
  }

  /** The events of all tablets, METADATA's and the root tablet among them, the oldest first. */
  public List<Event> ofAll() throws IOException {
    List<Event> events = new ArrayList<>(of(TableId.ROOT));
    events.addAll(of(TableId.METADATA));
    events.addAll(in(TableId.METADATA, RowRange.ALL));
    events.sort(Comparator.comparing(Event::time));
    return events;
  }

  private List<Event> ofRoot() throws IOException {
    List<Event> events = new ArrayList<>();
    for (Row row : root.scan(RowRange.ALL, 1)) {
      add(row, LockPaths.ROOT, events);
    }
    events.sort(Comparator.comparing(Event::time));
    return events;
  }

  private List<Event> in(TableId records, RowRange range) throws IOException {
    List<Event> events = new ArrayList<>();
    Bytes next = range.start();
    while (range.isBeforeEnd(next)) {
      RowQuery query =
          RowQuery.ALL
              .range(new RowRange(next, range.end()))
              .family(RecordCodec.EXTENT)
              .family(RecordCodec.EVENTS)
              .limit(ROWS_AT_ONCE);
      TabletAccess.Rows page =
          Futures.await(
              runtime,
              access.rows(records, next, query, Deadline.after(runtime, timeout)),
              "reading events");
      for (Row row : page.rows()) {
        add(row, "METADATA row " + row.key(), events);
      }
      if (page.next().isEmpty() && page.rows().size() < ROWS_AT_ONCE) {
        break;
      }
      next = page.next().orElseGet(() -> last(page).successor());
    }
    events.sort(Comparator.comparing(Event::time));
    return events;
  }

  private static Bytes last(TabletAccess.Rows page) {
    return page.rows().get(page.rows().size() - 1).key();
  }

  private static void add(Row row, String where, List<Event> events) throws CorruptionException {
    Optional<TabletId> tablet = Optional.empty();
    for (Cell cell : row.cells()) {
      if (cell.family().equals(RecordCodec.EXTENT) && tablet.isEmpty()) {
        tablet = Optional.of(RecordCodec.tabletOf(cell.value(), where)); // The newest comes first.
      }
    }
    for (Cell cell : row.cells()) {
      if (cell.family().equals(RecordCodec.EVENTS) && tablet.isPresent()) {
        TabletId id = tablet.get();
        events.add(
            Avro.decode(
                cell.value(),
                EventValue.class,
                where,
                event ->
                    new Event(
                        Instant.EPOCH.plus(cell.timestampMicros(), ChronoUnit.MICROS),
                        id,
                        event.getWhat(),
                        event.getEpoch(),
                        Optional.of(event.getServer())
                            .filter(server -> !server.isEmpty())
                            .map(ServerId::parse))));
      }
    }
  }
}
