package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.config.Keys;
import io.stele.config.ProcessMemory;
import io.stele.config.TabletServerConfig;
import io.stele.lock.LockService;
import io.stele.log.LogDirectory;
import io.stele.log.WholeFence;
import io.stele.metadata.EndedChange;
import io.stele.metadata.JobNodes;
import io.stele.metadata.Layout;
import io.stele.metadata.LockServiceCopy;
import io.stele.metadata.MemoryRecords;
import io.stele.metadata.SchemaChange;
import io.stele.metadata.Schemas;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TableName;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.ServerClock;
import io.stele.runtime.SystemRuntime;
import io.stele.runtime.WorkerPool;
import io.stele.sim.CrashableDisk;
import io.stele.sim.CrashableFileSystem;
import io.stele.sim.FaultInjector;
import io.stele.sim.MemoryLockStore;
import io.stele.sim.Operation;
import io.stele.sstable.CaffeineBlockCache;
import io.stele.tablet.OperationRequest;
import io.stele.tablet.ReadRequest;
import io.stele.tablet.UntimedPages;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * The parts of one tablet server, without its network and lock: real tablets and logs on a disk in
 * memory, and records in memory. What pools are given to do waits until the test has them {@link
 * #work}.
 */
final class TestServer implements AutoCloseable {
  /** What servers have in common: disk, lock service and METADATA. */
  static final class World {
    final CrashableDisk disk = new CrashableDisk();
    final MemoryLockStore lockStore = new MemoryLockStore();
    final MemoryRecords metadata = new MemoryRecords(SystemRuntime.INSTANCE, lockStore.connect());
    private int servers;
  }

  /** Takes what its owner is to do, for the test to have it done. */
  static final class HeldWork implements WorkerPool {
    private final List<Runnable> held = new ArrayList<>();
    private Optional<RuntimeException> failure = Optional.empty();

    /** Has the next attempt to hand it work fail, as if by a bug. */
    synchronized void failOnce(RuntimeException bug) {
      failure = Optional.of(bug);
    }

    @Override
    public synchronized void execute(Runnable work) {
      if (failure.isPresent()) {
        RuntimeException bug = failure.get();
        failure = Optional.empty();
        throw bug;
      }
      held.add(work);
    }

    /** How much there is to do. */
    synchronized int size() {
      return held.size();
    }

    /** Does it, on the calling thread. */
    void work() {
      List<Runnable> now;
      synchronized (this) {
        now = List.copyOf(held);
        held.clear();
      }
      now.forEach(Runnable::run);
    }

    @Override
    public void close() {}
  }

  final World world;
  final CrashableFileSystem fs;
  final LockService locks;
  final List<String> aborts = new ArrayList<>();
  final List<String> notLoaded = new ArrayList<>();
  final List<TabletRecord> changed = new ArrayList<>();
  final TabletNews news =
      new TabletNews() {
        @Override
        public void notLoaded(TabletId tablet, Bytes row, long epoch, Throwable why) {
          notLoaded.add(tablet + " " + FailureCause.of(why));
        }

        @Override
        public void changed(List<TabletRecord> tablets) {
          changed.addAll(tablets);
        }
      };
  final HeldWork handlers = new HeldWork();
  final HeldWork loaders = new HeldWork();
  final HeldWork minor = new HeldWork();
  final HeldWork rewrites = new HeldWork();
  final HeldWork splits = new HeldWork();
  final HeldWork registering = new HeldWork();
  final TabletServerConfig config;
  final Layout layout;
  final Schemas schemas;
  final ServerContext context;
  final TabletLoader loader;
  final Splitter splitter;
  final TabletLifecycle lifecycle;
  final Evacuation evacuation;
  final TableCompactions compactions;
  final JobNodes jobs;
  final JobStates states;
  final JobPins pins;
  final JobFiles files;
  final TabletWork tabletWork;
  final RowClearing clearing;
  final RequestedWork requested;

  TestServer(World world) throws IOException {
    this(world, SystemRuntime.INSTANCE, new Configuration(false));
  }

  TestServer(World world, ProcessRuntime runtime, Configuration conf) throws IOException {
    this.world = world;
    this.fs = world.disk.mount();
    this.locks = world.lockStore.connect();
    conf.set(Keys.ROOT_DIR.name(), "/stele");
    conf.set(Keys.CACHE_BYTES.name(), "4m");
    this.config = TabletServerConfig.of(conf, new ProcessMemory(1L << 30, 1L << 30));
    this.layout = Layout.openOrCreate(runtime, fs, new Path("/stele"));
    this.schemas = new Schemas(runtime, locks);
    ServerId id = new ServerId("host", 1, ++world.servers);
    LogDirectory.create(fs, layout.logs(id));
    ServerLife life = new ServerLife(runtime, aborts::add);
    ServerResources real = ServerResources.open(runtime, fs, layout.logs(id), id, config, life);
    ServerResources resources =
        new ServerResources(
            holding(real.of(TabletKind.USER)), holding(real.of(TabletKind.SYSTEM)), loaders);
    this.context =
        new ServerContext(
            runtime, id, life, world.metadata.records(), new HostedTablets(runtime), resources);
    this.loader =
        new TabletLoader(
            context,
            world.metadata.records().reader(),
            schemas,
            untimed(
                TabletStorage.of(
                    runtime,
                    ServerClock.trusting(runtime.wallClock()),
                    fs,
                    layout,
                    new CaffeineBlockCache(config.cacheHeapBytes(), config.cacheOffHeapBytes()),
                    config)),
            config.memory().replayBytes(),
            new LockServiceCopy(runtime, fs, layout, locks));
    this.splitter = new Splitter(context, loader, news);
    this.lifecycle = new TabletLifecycle(context, schemas, loader, splitter, news);
    this.evacuation = new Evacuation(context, lifecycle);
    this.compactions = new TableCompactions(context.tablets());
    this.jobs = new JobNodes(runtime, locks);
    this.states = new JobStates(runtime, context.tablets(), jobs);
    this.pins = new JobPins(jobs, states);
    this.files = new JobFiles(runtime, fs, layout.root(), jobs, states);
    this.tabletWork = new TabletWork(context, config);
    this.clearing = new RowClearing(runtime, schemas.names());
    this.requested = new RequestedWork(tabletWork, states, pins, files, clearing);
  }

  private static TabletStorage untimed(TabletStorage storage) {
    return new TabletStorage(
        storage.clock(),
        storage.fs(),
        storage.layout(),
        storage.sstables(),
        storage.pace(),
        UntimedPages.of(storage.options()),
        storage.largeBlocks());
  }

  private KindResources holding(KindResources real) {
    return new KindResources(
        real.kind(),
        real.log(),
        real.memtables(),
        real.operations(),
        real.compactions(),
        new KindResources.Threads(
            new KindResources.Threads.Handlers(handlers, handlers, handlers),
            loaders,
            minor,
            rewrites,
            splits,
            registering));
  }

  Maintenance maintenance() {
    return new Maintenance(context, lifecycle, loader, tabletWork, requested, config);
  }

  TabletRecords records() {
    return context.records();
  }

  /** Makes a table of one tablet, which nobody has. */
  TabletRecord createTable(TableSchema schema) throws IOException {
    TableId id = schemas.nextId();
    TableName name = schemas.names().read(schema.name());
    schemas.names().write(name, name.of(Optional.of(id)));
    schemas.create(id, schema, List.of());
    StoredTable ready = schemas.advance(schemas.table(id).orElseThrow(), StoredTable.State.READY);
    records().createTable(ready.id(), List.of());
    return records().reader().readAll(ready.id()).get(0);
  }

  /** Assigns a tablet that nobody has to this server, and loads it. */
  HostedTablet take(TabletRecord record) throws IOException {
    TabletRecord assigned = records().assign(record, context.id());
    load(assigned);
    return context.tablets().find(assigned.id()).orElseThrow();
  }

  /** Takes a tablet that a server had, which has died and is fenced. */
  HostedTablet takeOver(TabletRecord loaded) throws IOException {
    return take(records().release(loaded, "its server died"));
  }

  /** Loads a tablet that is assigned to this server. */
  void load(TabletRecord assigned) throws IOException {
    load(assigned, assigned.assignment().epoch());
  }

  /** Loads a tablet, as if it were asked for under {@code epoch} just now. */
  void load(TabletRecord assigned, long epoch) throws IOException {
    loader.load(assigned.id(), assigned.row(), epoch, context.runtime().nanoTime());
  }

  /** Makes a table of one tablet, and loads it. */
  HostedTablet takeNew(TableSchema schema) throws IOException {
    return take(createTable(schema));
  }

  /** The tablet's record as METADATA has it; empty where it has none any more. */
  TabletRecord stored(TabletId tablet) throws IOException {
    return records().reader().readAll(tablet.table()).stream()
        .filter(record -> record.id().equals(tablet))
        .findFirst()
        .orElseThrow();
  }

  /** Replaces the schema of a tablet by one whose families count no fewer versions than before. */
  static void alter(HostedTablet hosted, TableSchema schema) {
    hosted.tablet().alter(schema, hosted.tablet().lowered());
  }

  /** Writes one cell. */
  static void put(HostedTablet hosted, String row, String value) throws Exception {
    hosted
        .tablet()
        .apply(OperationRequest.of(Mutation.of(row).put("f", "q", value)))
        .get(30, TimeUnit.SECONDS);
  }

  /** Has a change of a table in progress under its name, of that number. */
  void beginChange(String table, long number) throws IOException {
    TableName name = schemas.names().read(table);
    SchemaChange change =
        new SchemaChange(
            "change" + number,
            number,
            SchemaChange.Step.CLEAR_TABLETS,
            name.table().orElseThrow(),
            Optional.empty(),
            List.of(),
            0,
            RowRange.ALL);
    assertThat(schemas.names().write(name, name.with(change))).isTrue();
  }

  /** Ends what {@link #beginChange} began. */
  void endChange(String table) throws IOException {
    TableName name = schemas.names().read(table);
    SchemaChange running = name.running().orElseThrow();
    EndedChange ended =
        new EndedChange(
            running.id(), running.sequence(), Optional.of(running.table()), Optional.empty());
    assertThat(schemas.names().write(name, name.with(ended))).isTrue();
  }

  /** How many rows a tablet has. */
  static int rows(HostedTablet hosted) throws IOException {
    return hosted.tablet().read(ReadRequest.of(RowQuery.ALL)).rows().size();
  }

  /** Does what is to be done in the background, and what comes of it. */
  void work() {
    List<HeldWork> all = List.of(loaders, minor, rewrites, splits, registering);
    while (all.stream().anyMatch(one -> one.size() > 0)) {
      all.forEach(HeldWork::work);
    }
  }

  /** Dies, and is fenced: its log is readable. */
  void dieAndBeFenced() throws IOException {
    close();
    WholeFence.fence(
        WholeFence.of(SystemRuntime.INSTANCE, world.disk.mount()),
        layout.logs(context.id()),
        layout.recovery(context.id()));
  }

  @Override
  public void close() {
    context.life().end("the test is over");
    context.tablets().all().forEach(hosted -> hosted.tablet().close());
    context.resources().closeLogs();
  }

  /** No SSTable can be opened. */
  static FaultInjector openingAnSSTableFails() {
    return openingAnSSTable(new FaultInjector.Effect.Fail());
  }

  /** Whoever opens an SSTable meets a bug. */
  static FaultInjector openingAnSSTableThrows(String bug) {
    return openingAnSSTable(
        new FaultInjector.Effect.Delay(
            () -> {
              throw new IllegalStateException(bug);
            }));
  }

  private static FaultInjector openingAnSSTable(FaultInjector.Effect effect) {
    return FaultInjector.always(Operation.OPEN, path -> path.getName().endsWith(".sst"), effect);
  }
}
