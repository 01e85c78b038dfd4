package io.stele.master;

import io.stele.lock.Lock;
import io.stele.lock.LockPaths;
import io.stele.metadata.Layout;
import io.stele.metadata.MemoryRecords;
import io.stele.metadata.MetadataKeys;
import io.stele.metadata.Schemas;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.LocalityGroup;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.sim.CrashableDisk;
import io.stele.sim.MemoryLockService;
import io.stele.sim.MemoryLockStore;
import io.stele.sim.SimulatedProcess;
import io.stele.sim.Simulation;
import io.stele.wire.Address;
import io.stele.wire.ByteStrings;
import io.stele.wire.ControlPlane;
import io.stele.wire.TabletServerProtocol;
import io.stele.wire.control.ControlProtos.CompactTableRequestProto;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.LoadTabletRequestProto;
import io.stele.wire.control.ControlProtos.RefreshSchemaRequestProto;
import io.stele.wire.control.ControlProtos.ServerReportResponseProto;
import io.stele.wire.control.ControlProtos.TabletRefProto;
import io.stele.wire.control.ControlProtos.UnloadTabletRequestProto;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.thirdparty.protobuf.RpcController;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/**
 * The parts of a master in a simulated process, over records, locks and files in memory, with
 * tablet servers that do at once what they are asked.
 */
final class MasterFixture {
  static final Duration LEASE = Duration.ofSeconds(10);

  final Simulation simulation = new Simulation(1, 10_000_000);
  final SimulatedProcess process = simulation.process("master");
  final MemoryLockStore store = new MemoryLockStore();
  final MemoryLockService locks = store.connect(process.pool("callbacks", 1));
  final FileSystem fs = new CrashableDisk().mount();
  final Layout layout = new Layout(new Path("/stele"), "test");
  final MemoryRecords memory = new MemoryRecords(process, locks);
  final TabletRecords records = memory.records();
  final Schemas schemas = new Schemas(process, locks);
  final Wake wake = new Wake(process);
  final ServerWatch watch = new ServerWatch(process, locks, fs, layout, LEASE, wake);
  final Servers plane = new Servers();
  final TabletServers servers = new TabletServers(process, plane);
  final TableAdmin tables = new TableAdmin(process, schemas, records);
  final MasterLoop loop = new MasterLoop(process, records, watch, servers, tables, wake);
  final MasterRequests requests =
      new MasterRequests(process, loop, tables, records, watch, servers);

  void run(Simulation.Work work) throws Exception {
    simulation.run(work);
  }

  void sleep(Duration time) throws InterruptedException {
    simulation.outside().sleep(time);
  }

  /** Lets the loop step until nothing is left to do, and requests be answered in between. */
  void settle() throws Exception {
    for (int i = 0; i < 100 && loop.step(); i++) {
      sleep(Duration.ofMillis(50));
    }
    loop.step();
  }

  /** A server takes its lock. */
  Lock start(ServerId server) throws IOException {
    fs.mkdirs(layout.logs(server));
    Address address = new Address(server.host(), server.port());
    ServerInfo info = new ServerInfo(address, address, Optional.empty(), Optional.empty());
    return store.connect(work -> {}).tryLock(LockPaths.server(server), info.encode()).orElseThrow();
  }

  /** Root tablet and METADATA, cut at {@code splitRows}, with their first records. */
  void bootstrap(Bytes... splitRows) throws IOException {
    records.createRoot();
    records.createTable(TableId.METADATA, List.of(splitRows));
  }

  /** A READY table, not served by anybody. */
  TableId table(String name, Bytes... splitRows) throws IOException {
    return tables.create(schema(name), List.of(splitRows)).id();
  }

  static TableSchema schema(String name) {
    return TableSchema.of(name, List.of(ColumnFamily.of("f")), new LocalityGroup[0]);
  }

  /** The row of METADATA of the table's last tablet. */
  static Bytes lastRow(TableId table) {
    return MetadataKeys.row(table, Bytes.EMPTY);
  }

  boolean isServed(TableId table) throws IOException {
    List<TabletRecord> tablets = records.readAll(table);
    return !tablets.isEmpty() && tablets.stream().allMatch(loop.view()::isServed);
  }

  /** All tablet servers. */
  final class Servers implements ControlPlane, TabletServerProtocol {
    final List<String> requests = new ArrayList<>();

    @Override
    public <P, R> R call(Address server, Class<P> protocol, Duration timeout, Call<P, R> call)
        throws IOException {
      try {
        return call.on(protocol.cast(this));
      } catch (ServiceException e) {
        throw new IOException(e.getCause());
      }
    }

    @Override
    public void retain(Set<Address> servers) {}

    private TabletRecord record(TabletRefProto tablet) throws IOException {
      return records
          .read(new TableId(tablet.getTableId()), ByteStrings.bytes(tablet.getMetadataRow()))
          .orElseThrow();
    }

    /** Something that may fail. */
    private interface Change {
      void make() throws IOException;
    }

    private EmptyProto change(Change change) throws ServiceException {
      try {
        change.make();
        return EmptyProto.getDefaultInstance();
      } catch (IOException e) {
        throw new ServiceException(e);
      }
    }

    @Override
    public EmptyProto loadTablet(RpcController c, LoadTabletRequestProto request)
        throws ServiceException {
      requests.add("load " + request.getTablet().getTableId());
      return change(() -> records.loaded(record(request.getTablet())));
    }

    @Override
    public EmptyProto unloadTablet(RpcController c, UnloadTabletRequestProto request)
        throws ServiceException {
      requests.add("unload " + request.getTablet().getTableId());
      return change(() -> records.unloaded(record(request.getTablet()), "unloaded"));
    }

    @Override
    public EmptyProto refreshSchema(RpcController c, RefreshSchemaRequestProto request) {
      requests.add("refresh " + request.getName());
      return EmptyProto.getDefaultInstance();
    }

    @Override
    public EmptyProto compactTable(RpcController c, CompactTableRequestProto request) {
      throw new UnsupportedOperationException();
    }

    @Override
    public ServerReportResponseProto report(RpcController c, EmptyProto request) {
      return ServerReportResponseProto.getDefaultInstance();
    }

    @Override
    public EmptyProto drain(RpcController c, EmptyProto request) {
      throw new UnsupportedOperationException();
    }
  }
}
