package io.stele.master;

import io.stele.metadata.SchemaChange;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.record.ClearedRows;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Has the rows of a table cleared by the servers that have its tablets. Which are is in the
 * tablets' records, and stays there through splits and merges: so they are done when what the
 * records say, at whatever moments they were read, covers all rows.
 *
 * <p>Safe for use by any number of threads; waits for METADATA only.
 */
final class Clearing {
  private final TabletRecords records;
  private final TabletServers servers;
  private final Supplier<Map<ServerId, ServerInfo>> live;

  Clearing(TabletRecords records, TabletServers servers, Supplier<Map<ServerId, ServerInfo>> live) {
    this.records = records;
    this.servers = servers;
    this.live = live;
  }

  /** Asks for what is not done; returns whether all is. */
  boolean goOn(SchemaChange change) throws IOException {
    List<RowRange> done = new ArrayList<>();
    for (TabletRecord record : records.readAll(change.table())) {
      Optional<RowRange> wanted = record.extent().intersection(change.rows());
      if (wanted.isEmpty()) {
        continue;
      }
      ClearedRows cleared = record.cleared();
      if (cleared.left(change.sequence(), wanted.get()).isEmpty()) {
        done.add(wanted.get());
        continue;
      }
      done.addAll(cleared.clipped(wanted.get()).of(change.sequence()));
      record
          .location()
          .flatMap(at -> Optional.ofNullable(live.get().get(at.server())))
          .ifPresent(server -> servers.clear(server, record, change.sequence(), change.rows()));
    }
    ClearedRows all = ClearedRows.NONE.with(change.sequence(), done);
    return all.left(change.sequence(), change.rows()).isEmpty();
  }
}
