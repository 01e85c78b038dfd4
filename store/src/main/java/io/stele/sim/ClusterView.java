package io.stele.sim;

import io.stele.config.Keys;
import io.stele.lock.LockService;
import io.stele.metadata.Assignment;
import io.stele.metadata.JobNodes;
import io.stele.metadata.Schemas;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TableName;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecordReader;
import io.stele.metadata.TabletRecords;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.wire.Address;
import io.stele.wire.TabletServerProtocol;
import io.stele.wire.Transport;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.HostedTabletProto;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Reads METADATA and the tablet servers of a {@link SimulatedCluster} as any client can.
 *
 * <p>For the holder of the simulation's baton alone.
 */
final class ClusterView {
  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(5);

  private final LockService locks;
  private final Transport transport;
  private final TabletRecordReader records;
  private final Schemas schemas;
  private final JobNodes jobs;

  ClusterView(SimulatedCluster cluster, SimulatedProcess process) {
    this.locks = cluster.ensemble().connect(process);
    this.transport = cluster.network().transport(process, process.name());
    TabletAccess access =
        new TabletAccess(process, locks, transport.dataPlane(), Keys.LEASE.in(cluster.conf()));
    this.records = new TabletRecords(process, locks, access, CALL_TIMEOUT).reader();
    this.schemas = new Schemas(process, locks);
    this.jobs = new JobNodes(process, locks);
  }

  /** All tables, METADATA and the root tablet's too. */
  NavigableSet<TableId> tables() throws IOException {
    return tables(table -> true);
  }

  /** The same without those that are being dropped. */
  NavigableSet<TableId> tablesToServe() throws IOException {
    return tables(table -> table.state() != StoredTable.State.DROPPING);
  }

  private NavigableSet<TableId> tables(Predicate<StoredTable> wanted) throws IOException {
    NavigableSet<TableId> tables = new TreeSet<>(Set.of(TableId.METADATA, TableId.ROOT));
    schemas.list().tables().stream().filter(wanted).map(StoredTable::id).forEach(tables::add);
    return tables;
  }

  /**
   * Tables that are on their way, changes of them, and names and records of tables that are not
   * there.
   */
  List<String> leftOver() throws IOException {
    List<String> left = new ArrayList<>();
    for (StoredTable table : schemas.list().tables()) {
      if (table.state() != StoredTable.State.READY) {
        left.add("table " + table.id() + " stays " + table.state());
      }
    }
    for (String name : schemas.names().all()) {
      TableName now = schemas.names().read(name);
      now.running().ifPresent(change -> left.add("under the name " + name + " stays " + change));
      if (now.table().isPresent() && schemas.byName(name).isEmpty()) {
        left.add("the name " + name + " is that of no table");
      }
    }
    Set<TableId> tables = tables();
    for (TabletRecord record :
        records.readUndamaged(RowRange.ALL, Integer.MAX_VALUE, damage -> {})) {
      if (!tables.contains(record.id().table())) {
        left.add(record + " is of no table");
      }
    }
    return left;
  }

  /** The jobs that are not over. */
  List<String> jobs() throws IOException {
    return jobs.names();
  }

  /** The records of all tablets of {@code tables}. */
  List<TabletRecord> records(Set<TableId> tables) throws IOException {
    List<TabletRecord> all = new ArrayList<>();
    for (TableId table : tables) {
      all.addAll(records.readAll(table));
    }
    return all;
  }

  /** The servers that hold their locks. */
  Map<ServerId, ServerInfo> servers() throws IOException {
    return ServerInfo.all(locks);
  }

  /** The epochs of the tablets that the server with that control plane serves, by name. */
  Map<String, Long> served(Address control) throws IOException {
    Map<String, Long> epochs = new TreeMap<>();
    transport
        .controlPlane()
        .call(
            control,
            TabletServerProtocol.class,
            CALL_TIMEOUT,
            protocol -> protocol.report(null, EmptyProto.getDefaultInstance()))
        .getTabletsList()
        .forEach(hosted -> epochs.put(name(hosted), hosted.getTablet().getEpoch()));
    return epochs;
  }

  /** Whether a server that serves {@code epochs} serves the tablet as its record says. */
  static boolean isServed(TabletRecord record, Map<String, Long> epochs) {
    Assignment assignment = record.assignment();
    Long epoch = epochs.get(record.id().toString());
    return assignment.state() == Assignment.State.LOADED
        && epoch != null
        && epoch == assignment.epoch();
  }

  private static String name(HostedTabletProto hosted) {
    return hosted.getTablet().getTableId() + "/" + hosted.getTablet().getTablet();
  }
}
