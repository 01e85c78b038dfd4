package io.stele.master;

import io.stele.files.FilesWithLists;
import io.stele.lock.Lock;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.metadata.Assignment;
import io.stele.metadata.JobNodes;
import io.stele.metadata.JobOrigin;
import io.stele.metadata.Layout;
import io.stele.metadata.MemoryRecords;
import io.stele.metadata.MetadataKeys;
import io.stele.metadata.Schemas;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.StoredJob;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.LocalityGroup;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.record.ClearedRows;
import io.stele.record.ManifestEdit;
import io.stele.runtime.IoConsumer;
import io.stele.runtime.IoRunnable;
import io.stele.runtime.Task;
import io.stele.sim.CrashableDisk;
import io.stele.sim.MemoryLockService;
import io.stele.sim.MemoryLockStore;
import io.stele.sim.SimulatedProcess;
import io.stele.sim.Simulation;
import io.stele.wire.Address;
import io.stele.wire.ByteStrings;
import io.stele.wire.ControlPlane;
import io.stele.wire.control.ControlProtos.ClearTabletRequestProto;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.EraseFamiliesRequestProto;
import io.stele.wire.control.ControlProtos.HostedTabletProto;
import io.stele.wire.control.ControlProtos.LoadTabletsRequestProto;
import io.stele.wire.control.ControlProtos.RefreshSchemaRequestProto;
import io.stele.wire.control.ControlProtos.ServerReportResponseProto;
import io.stele.wire.control.ControlProtos.ServerStatusProto;
import io.stele.wire.control.ControlProtos.SortSegmentsRequestProto;
import io.stele.wire.control.ControlProtos.SortSegmentsResponseProto;
import io.stele.wire.control.ControlProtos.SplitTabletRequestProto;
import io.stele.wire.control.ControlProtos.TabletRefProto;
import io.stele.wire.control.ControlProtos.UnloadTabletsRequestProto;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
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
  final FilesWithLists fs = new FilesWithLists(new CrashableDisk().mount());
  final Layout layout = new Layout(new Path("/stele"), "test");
  final MemoryRecords memory = new MemoryRecords(process, locks);
  final TabletRecords records = memory.records();
  final Schemas schemas = new Schemas(process, locks);
  final LoopSignal signal = new LoopSignal(process);
  final StepGuard guard = new StepGuard(signal);
  final Servers plane = new Servers();
  final TabletServers servers = new TabletServers(process, plane);
  final LogSorting sorting = new LogSorting(process, fs, servers, signal, 0);
  final DeadLogs logs = new DeadLogs(process, fs, layout, 2, sorting);
  final ServerLocks serverLocks = new ServerLocks(locks);
  final Recoveries recoveries = new Recoveries(process);
  final Fences fences = new Fences(process, serverLocks, logs, recoveries, LEASE, signal);
  final ServerWatch watch = new ServerWatch(process, serverLocks, fences, logs, signal, guard);
  final TableReaders readers = new TableReaders(fs, layout, schemas);
  final SchemaSteps steps = steps();
  final TableChanges changes = new TableChanges(process, schemas, steps, signal);
  final TableAdmin tables = new TableAdmin(process, schemas, steps, changes);
  final MasterParts parts = MasterParts.of(process, records, servers);
  final MasterLoop loop =
      new MasterLoop(process, cluster(schemas, changes), parts, recoveries, signal, guard);
  final BalanceSchedule balance =
      new BalanceSchedule(process, locks); // Nobody balances unless a test wants it.
  final JobLeases jobs = new JobLeases(process, new JobNodes(process, locks), Applications.NONE);
  final JobDirectories directories =
      new JobDirectories(fs, layout, schemas, new JobNodes(process, locks));
  final MasterRequests.Topics topics = topics();
  final MasterRequests requests = new MasterRequests(loop, parts, watch, balance, topics, signal);

  private int dropped;

  void run(Simulation.Work work) throws Exception {
    simulation.run(
        () -> {
          locks.watch(LockPaths.SERVERS, watch::locksChanged);
          work.run();
        });
  }

  /** The lock service; {@code before} sees the name of each method before it is called. */
  LockService watched(IoConsumer<String> before) {
    return (LockService)
        Proxy.newProxyInstance(
            LockService.class.getClassLoader(),
            new Class<?>[] {LockService.class},
            (proxy, method, arguments) -> {
              before.accept(method.getName());
              try {
                return method.invoke(locks, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  /** Another loop, which learns from {@code seen} what tables there are. */
  MasterLoop loop(LockService seen) {
    Schemas others = new Schemas(process, seen);
    TableChanges theirs = new TableChanges(process, others, steps(), signal);
    return new MasterLoop(
        process,
        cluster(others, theirs),
        MasterParts.of(process, records, servers),
        recoveries,
        signal,
        guard);
  }

  private MasterLoop.Cluster cluster(Schemas known, TableChanges made) {
    return new MasterLoop.Cluster(records, watch, servers, known, made, sorting);
  }

  private MasterRequests.Topics topics() {
    ChangeRequests asked = new ChangeRequests(tables, changes, schemas, loop);
    return new MasterRequests.Topics(
        asked,
        new JobRequests(process.wallClock(), jobs, directories),
        new ClusterStatusAnswer(process.wallClock(), loop, parts, asked, recoveries, balance));
  }

  void sleep(Duration time) throws InterruptedException {
    simulation.outside().sleep(time);
  }

  /** Starts a task that runs the loop. */
  Task startLoop() {
    return process.start("loop", loop);
  }

  /** Stops the loop, and returns when its task is over. */
  void stopLoop(Task task) throws Exception {
    loop.stop();
    simulation.outside().await(task.ended());
  }

  /** Lets the loop step until nothing is left to do, and requests be answered in between. */
  void stepUntilIdle() throws Exception {
    sleep(Duration.ofMillis(1)); // What is watched is told.
    for (int i = 0; i < 100 && loop.step(); i++) {
      sleep(Duration.ofMillis(50));
    }
    loop.step();
  }

  /** Lets the loop read all records again, and step until nothing is left to do. */
  void rereadUntilIdle() throws Exception {
    signal.rereadAllSoon();
    stepUntilIdle();
  }

  /** Lets the loop step for some time, with a pause after each step. */
  void stepFor(Duration time, Duration pause) throws Exception {
    for (Duration passed = Duration.ZERO; passed.compareTo(time) < 0; passed = passed.plus(pause)) {
      loop.step();
      sleep(pause);
    }
  }

  /** Does the work while a task runs the loop. */
  void whileTheLoopRuns(Simulation.Work work) throws Exception {
    Task task = startLoop();
    work.run();
    stopLoop(task);
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

  /** Begins a job of no application that may write; returns its name. */
  String beginJob(Duration lease) throws IOException {
    return jobs.begin(
        JobNodes.newRequest(process),
        lease,
        Optional.empty(),
        JobOrigin.UNKNOWN,
        StoredJob.Kind.MAY_WRITE);
  }

  /** Deletes the node of a table in the lock service, as if it was lost; its records stay. */
  void loseNode(TableId table) throws IOException {
    locks.delete(LockPaths.table(table), schemas.table(table).orElseThrow().version());
  }

  /** A READY table, not served by anybody. */
  TableId table(String name, Bytes... splitRows) throws IOException {
    TableAdmin.Answer answer = create("creation of " + name, name, splitRows);
    carryOn();
    return answer instanceof TableAdmin.Answer.Running running
        ? running.change().table()
        : ((TableAdmin.Answer.Ended) answer).change().table().orElseThrow();
  }

  /** Asks for a table by a change of that id. */
  TableAdmin.Answer create(String id, String name, Bytes... splitRows) throws IOException {
    return ask(id, new ChangeRequest.Create(schema(name), List.of(splitRows)));
  }

  /** Asks for a table to be dropped, by a change that nobody asked for before. */
  TableAdmin.Answer drop(String name) throws IOException {
    return ask("drop " + ++dropped, new ChangeRequest.Drop(name));
  }

  TableAdmin.Answer ask(String id, ChangeRequest.Wish wish) throws IOException {
    return tables.ask(new ChangeRequest(id, schemas.names().read(wish.name()).sequence(), wish));
  }

  /** Lets the changes on their way be carried on, until they end or this took some time. */
  void carryOn() throws IOException {
    try {
      for (int i = 0; i < 100 && changes.advance(table -> true); i++) {
        sleep(Duration.ofMillis(50));
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  static TableSchema schema(String name) {
    return TableSchema.of(name, List.of(ColumnFamily.of("f")), new LocalityGroup[0]);
  }

  /** The row of METADATA of the table's last tablet. */
  static Bytes lastRow(TableId table) {
    return MetadataKeys.row(table, Bytes.EMPTY);
  }

  /** The steps of a master that has taken none. */
  SchemaSteps steps() {
    return new SchemaSteps(process, schemas, records, servers, watch::answering, readers);
  }

  /** The root tablet. */
  TabletRecord root() throws IOException {
    return records.reader().readRoot().orElseThrow();
  }

  List<TabletRecord> tablets(TableId table) throws IOException {
    return records.reader().readAll(table);
  }

  /** The tablet of a table that has one. */
  TabletRecord only(TableId table) throws IOException {
    return tablets(table).get(0);
  }

  boolean isServed(TableId table) throws IOException {
    List<TabletRecord> tablets = tablets(table);
    return !tablets.isEmpty() && tablets.stream().allMatch(loop.view()::isServed);
  }

  /** How many requests of the master have read records of tables' tablets. */
  int reads() {
    return memory.reads() - plane.readsForReports;
  }

  /** All tablet servers. */
  final class Servers extends UnimplementedTabletServer implements ControlPlane {
    private Address asked;
    final List<String> requests = new ArrayList<>();
    final List<TabletId> damaged = new ArrayList<>(); // Cannot be loaded anywhere.
    final List<TabletId> away = new ArrayList<>(); // Cannot be loaded now.
    final List<TabletId> slow = new ArrayList<>(); // Are not loaded yet.
    final List<String> stalled = new ArrayList<>(); // Hosts that answer and load nothing.
    final List<String> failedOn = new ArrayList<>();
    boolean sorts = true;
    final List<String> sortedBy = new ArrayList<>(); // The hosts that were asked to sort.
    final List<TabletId> stuck = new ArrayList<>(); // Cannot be unloaded.
    final List<TabletId> lost = new ArrayList<>(); // Loaded, and not reported.
    final List<String> silent = new ArrayList<>(); // Hosts that do not answer.
    int readsForReports; // Of records: what servers have is taken from these.
    final Map<TabletId, Long> busy = new TreeMap<>(); // Requests a second.
    final Map<TabletId, String> localHosts = new TreeMap<>(); // The hosts with all bytes.
    int nonsense; // Added to the numbers of hosts in reports.

    @Override
    public <P, R> R call(Address server, Class<P> protocol, Duration timeout, Call<P, R> call)
        throws IOException {
      if (silent.contains(server.host())) {
        throw new IOException("no answer from " + server);
      }
      try {
        asked = server;
        return call.on(protocol.cast(this));
      } catch (ServiceException e) {
        throw new IOException(e.getCause());
      }
    }

    @Override
    public void retain(Set<Address> servers) {}

    private TabletRecord record(TabletRefProto tablet) throws IOException {
      return records
          .reader()
          .read(new TableId(tablet.getTableId()), ByteStrings.bytes(tablet.getMetadataRow()))
          .orElseThrow();
    }

    private EmptyProto change(IoRunnable change) throws ServiceException {
      try {
        change.run();
        return EmptyProto.getDefaultInstance();
      } catch (IOException e) {
        throw new ServiceException(e);
      }
    }

    @Override
    public EmptyProto clearTablet(RpcController c, ClearTabletRequestProto request)
        throws ServiceException {
      requests.add("clear " + request.getTablet().getTablet());
      RowRange rows =
          new RowRange(
              ByteStrings.bytes(request.getStartRow()), ByteStrings.bytes(request.getEndRow()));
      return change(() -> clear(record(request.getTablet()), request.getChange(), rows));
    }

    @Override
    public EmptyProto eraseFamilies(RpcController c, EraseFamiliesRequestProto request)
        throws ServiceException {
      requests.add("erase " + request.getFamiliesList() + " " + request.getTablet().getTablet());
      return change(() -> clear(record(request.getTablet()), request.getChange(), RowRange.ALL));
    }

    private void clear(TabletRecord record, long change, RowRange rows) throws IOException {
      RowRange here = record.extent().intersection(rows).orElseThrow();
      ClearedRows cleared = record.cleared().with(change, List.of(here));
      records.edit(record, ManifestEdit.builder("cleared").clear(cleared).build());
    }

    @Override
    public SortSegmentsResponseProto sortSegments(
        RpcController c, SortSegmentsRequestProto request) {
      requests.add("sort " + request.getSegmentsList());
      sortedBy.add(asked.host());
      return SortSegmentsResponseProto.newBuilder()
          .addAllDone(sorts ? request.getSegmentsList() : List.of())
          .build();
    }

    @Override
    public EmptyProto loadTablets(RpcController c, LoadTabletsRequestProto request)
        throws ServiceException {
      for (TabletRefProto tablet : request.getTabletsList()) {
        requests.add("load " + tablet.getTableId());
        TabletId id = new TabletId(new TableId(tablet.getTableId()), tablet.getTablet());
        if (damaged.contains(id) || away.contains(id)) {
          failedOn.add(asked.host());
          parts
              .failures()
              .failed(
                  new LoadFailureReport(
                      new ServerId(asked.host(), 1, 1),
                      id,
                      tablet.getEpoch(),
                      "as the test wants it",
                      damaged.contains(id)));
          signal.wakeUp();
          continue;
        }
        if (!slow.contains(id) && !stalled.contains(asked.host())) {
          change(() -> records.loaded(record(tablet)));
        }
      }
      return EmptyProto.getDefaultInstance();
    }

    @Override
    public EmptyProto unloadTablets(RpcController c, UnloadTabletsRequestProto request)
        throws ServiceException {
      for (TabletRefProto tablet : request.getTabletsList()) {
        requests.add("unload " + tablet.getTableId());
        if (!stuck.contains(new TabletId(new TableId(tablet.getTableId()), tablet.getTablet()))) {
          change(() -> records.unloaded(record(tablet), "unloaded"));
        }
      }
      return EmptyProto.getDefaultInstance();
    }

    @Override
    public EmptyProto refreshSchema(RpcController c, RefreshSchemaRequestProto request) {
      requests.add("refresh " + request.getName());
      return EmptyProto.getDefaultInstance();
    }

    @Override
    public ServerReportResponseProto report(RpcController c, EmptyProto request)
        throws ServiceException {
      try {
        return report(asked);
      } catch (IOException e) {
        throw new ServiceException(e);
      }
    }

    /** What the server of that address is to have, by the records, but for what it lost. */
    private ServerReportResponseProto report(Address server) throws IOException {
      ServerReportResponseProto.Builder report =
          ServerReportResponseProto.newBuilder()
              .setStatus(
                  ServerStatusProto.newBuilder()
                      .setServerId(server.host())
                      .setControlAddress(server.toString())
                      .setDataAddress(server.toString())
                      .setMemtableBytes(7));
      List<TabletRecord> all =
          new ArrayList<>(records.reader().readUndamaged(TableId.METADATA, damage -> {}));
      records.reader().readRoot().ifPresent(all::add);
      int before = memory.reads();
      all.addAll(records.reader().readUndamaged(RowRange.ALL, Integer.MAX_VALUE, damage -> {}));
      readsForReports += memory.reads() - before;
      for (TabletRecord record : all) {
        boolean has =
            record.assignment().state() == Assignment.State.LOADED
                && record.assignment().server().orElseThrow().host().equals(server.host())
                && !lost.contains(record.id());
        if (has) {
          HostedTabletProto.Builder tablet =
              HostedTabletProto.newBuilder()
                  .setTablet(TabletServers.ref(record))
                  .setState("LOADED")
                  .setStartRow(ByteStrings.of(record.extent().start()))
                  .setEndRow(ByteStrings.of(record.extent().end()))
                  .setRequests(
                      busy.getOrDefault(record.id(), 0L)
                          * Duration.ofNanos(process.nanoTime()).toSeconds());
          Optional.ofNullable(localHosts.get(record.id()))
              .ifPresent(
                  host -> {
                    tablet.addHosts(report.getHostsCount() + nonsense).addHostPercents(100);
                    report.addHosts(host);
                  });
          report.addTablets(tablet);
        }
      }
      return report.build();
    }

    @Override
    public EmptyProto splitTablet(RpcController c, SplitTabletRequestProto request) {
      requests.add("split " + request.getTablet().getTablet());
      return EmptyProto.getDefaultInstance();
    }
  }
}
