package io.stele.tabletserver;

import io.stele.metadata.Assignment;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecordReader;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TabletId;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The tablets that a server has given away since it began to drain, each until others were seen to
 * serve its rows. A server that must leave no tablet unserved ends only when there are none.
 *
 * <p>Safe for use by any number of threads.
 */
final class GivenAway {
  private final ServerId self;
  private final TabletRecordReader reader;
  private final Map<TabletId, Given> untaken = new ConcurrentSkipListMap<>();

  /** What was given away, and the epoch under which this server had it. */
  private record Given(RowRange rows, long epoch) {}

  GivenAway(ServerContext server) {
    this.self = server.id();
    this.reader = server.records().reader();
  }

  /** The server has just given a tablet away. */
  void add(TabletRecord record) {
    untaken.put(record.id(), new Given(record.extent(), record.assignment().epoch()));
  }

  /** How many were not seen taken yet. */
  int count() {
    return untaken.size();
  }

  /** Those that were not seen taken yet. */
  List<TabletId> tablets() {
    return List.copyOf(untaken.keySet());
  }

  /**
   * Whether others serve a tablet, or no server can; it is then forgotten. This reads a record, or
   * one of each part if it was split since. Damage of other records does not matter.
   *
   * @throws IOException if METADATA does not answer
   */
  boolean isTaken(TabletId tablet) throws IOException {
    Given given = untaken.get(tablet);
    if (given == null) {
      return true;
    }
    if (!isTaken(tablet, given.rows())) {
      return false;
    }
    untaken.remove(tablet, given); // Unless it was here again meanwhile.
    return true;
  }

  private boolean isTaken(TabletId tablet, RowRange rows) throws IOException {
    if (tablet.equals(TabletId.ROOT)) {
      return reader.readRoot().filter(this::isTaken).isPresent();
    }
    Bytes next = rows.start();
    while (true) {
      Optional<TabletRecord> now = reader.findUndamaged(tablet.table(), next);
      if (now.isEmpty()) {
        return true; // Its table was dropped; or the record is damaged, so that none can serve it.
      }
      if (!isTaken(now.get())) {
        return false;
      }
      next = now.get().extent().end();
      if (next.isEmpty() || !rows.isBeforeEnd(next)) {
        return true;
      }
    }
  }

  /** Whether another serves it, or it is itself the reason why nobody does. */
  private boolean isTaken(TabletRecord record) {
    Assignment now = record.assignment();
    return record.isQuarantined() || (now.state() == Assignment.State.LOADED && !now.isTo(self));
  }
}
