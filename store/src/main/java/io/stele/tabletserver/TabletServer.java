package io.stele.tabletserver;

import io.stele.config.TabletServerConfig;
import io.stele.lock.Lease;
import io.stele.lock.Lock;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.log.CommitLog;
import io.stele.log.LogDirectory;
import io.stele.log.LogKind;
import io.stele.log.LogLocation;
import io.stele.log.LogOptions;
import io.stele.metadata.Bootstrap;
import io.stele.metadata.Layout;
import io.stele.metadata.Schemas;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.Durability;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.Task;
import io.stele.runtime.WorkerPool;
import io.stele.sstable.CacheStatistics;
import io.stele.sstable.CaffeineBlockCache;
import io.stele.tablet.Tablet;
import io.stele.wire.Address;
import io.stele.wire.DataServer;
import io.stele.wire.TabletServerProtocol;
import io.stele.wire.Transport;
import io.stele.wire.control.ControlProtos.CompactionKindProto;
import io.stele.wire.control.ControlProtos.TabletServerService;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A tablet server: takes its lock, keeps its lease, and hosts the tablets that the master assigns
 * to it (§5.2).
 *
 * <p>It needs nothing but a file system and a lock service. It serves from the moment {@link
 * #start} returns until {@link #drain}, {@link #kill} or a failure after which it may not go on:
 * that it tells {@link Environment#onAbort}, which ends the process. Safe for use by any number of
 * threads.
 */
public final class TabletServer {
  private static final Logger LOG = LoggerFactory.getLogger(TabletServer.class);
  private static final Duration ROUND = Duration.ofMillis(200);
  private static final Duration METADATA_PATIENCE = Duration.ofMinutes(10);
  private static final Duration CLOSE_GRACE = Duration.ofSeconds(5);
  private static final int DATA_LOOPS = 2;
  private static final int CONTROL_HANDLERS = 4;
  private static final int LOADERS = 8;
  private static final long SYSTEM_MEMTABLE_BYTES = 32L << 20;

  private final TabletServerConfig config;
  private final Environment environment;
  private final ProcessRuntime runtime;
  private final ServerLife life;
  private final HostedTablets tablets = new HostedTablets();
  private final Set<TabletId> moving = ConcurrentHashMap.newKeySet();
  private final Map<LogKind, MemtableBudget> budgets = new EnumMap<>(LogKind.class);
  private final List<WorkerPool> pools = new ArrayList<>();
  private final CompletableFuture<Void> stopped = new CompletableFuture<>();
  private volatile boolean draining;

  // Set once each by start(), before anything that reads them can be reached.
  private ServerId id;
  private Schemas schemas;
  private TabletRecords records;
  private TabletAccess access;
  private Transport.Listener dataListener;
  private Transport.Listener controlListener;
  private Transport.Listener pageListener;
  private Map<LogKind, CommitLog> logs;
  private CaffeineBlockCache cache;
  private Lock lock;
  private LeaseKeeper leaseKeeper;
  private TabletLoader loader;
  private Maintenance maintenance;
  private Map<LogKind, WorkerPool> loaders;
  private WorkerPool rootLoader;
  private Task rounds;

  /**
   * What a server touches outside of itself.
   *
   * @param conf Hadoop's configuration with the {@code stele.*} keys
   * @param runtime clocks, random numbers, threads and timers
   * @param fs where the root directory is
   * @param locks the lock service, with a session of the server's own
   * @param transport its network; the server ends the listeners that it opens, no more
   * @param container the YARN container the server runs in
   * @param onAbort told once why the server ends before its time; must end the process
   */
  public record Environment(
      Configuration conf,
      ProcessRuntime runtime,
      FileSystem fs,
      LockService locks,
      Transport transport,
      Optional<String> container,
      Consumer<String> onAbort) {}

  private TabletServer(Environment environment) {
    this.environment = environment;
    this.runtime = environment.runtime();
    this.config = TabletServerConfig.of(environment.conf());
    this.life = new ServerLife(runtime, environment.onAbort());
    budgets.put(LogKind.USER, new MemtableBudget(config.memtableTotalBytes()));
    budgets.put(LogKind.META, new MemtableBudget(SYSTEM_MEMTABLE_BYTES));
  }

  /**
   * Starts a server: when this returns it has its lock and may be given tablets.
   *
   * @throws SteleException REFUSED where the configuration is wrong or the root directory is of a
   *     newer layout, NOT_FOUND where there is no root directory yet
   */
  public static TabletServer start(Environment environment) throws IOException {
    TabletServer server = new TabletServer(environment);
    try {
      server.start();
      return server;
    } catch (IOException | RuntimeException e) {
      server.kill();
      throw e;
    }
  }

  private void start() throws IOException {
    FileSystem fs = environment.fs();
    Layout layout = Bootstrap.join(fs, config.cluster().root(), environment.locks());
    schemas = new Schemas(runtime, environment.locks());
    access = new TabletAccess(runtime, environment.locks(), environment.transport().dataPlane());
    records = new TabletRecords(runtime, environment.locks(), access, METADATA_PATIENCE);
    cache = new CaffeineBlockCache(config.cacheHeapBytes(), config.cacheOffHeapBytes());

    Lease lease = new Lease(runtime, config.cluster().lease());
    Transport transport = environment.transport();
    dataListener =
        transport.serveData(
            config.port(),
            new DataService(
                tablets,
                budgets,
                writeDelay(),
                each(kind -> pool("handler-" + kind, config.handlers())),
                () -> lease.valid() && !life.isOver()));
    id = new ServerId(transport.host(), dataListener.port(), runtime.wallClock().millis());

    // The log directory comes before the lock: after a server was fenced nothing may bring it back.
    LogDirectory.create(fs, layout.logs(id));
    logs = openLogs(layout);
    loader =
        new TabletLoader(
            id,
            tablets,
            fs,
            layout,
            logs,
            cache,
            budgets,
            records,
            schemas,
            runtime,
            CompactionRate.of(runtime, config.compactionBytesPerSecond()),
            config,
            life);
    Splitter splitter = new Splitter(tablets, records, loader, logs, life, runtime);
    maintenance =
        new Maintenance(
            tablets,
            logs,
            budgets,
            each(kind -> pool("minor-" + kind, 2)),
            each(kind -> pool("compaction-" + kind, config.compactionThreads())),
            each(kind -> pool("split-" + kind, 1)),
            splitter,
            loader,
            life,
            config);
    // Loading a user tablet waits for METADATA, which may be waiting to be loaded here.
    loaders = each(kind -> pool("loader-" + kind, LOADERS));
    rootLoader = pool("loader-root", 1); // METADATA's tablets wait for the root tablet, likewise.
    controlListener =
        transport.serveControl(
            config.controlPort(),
            CONTROL_HANDLERS,
            TabletServerProtocol.class,
            TabletServerService.newReflectiveBlockingService(new AdminService(runtime, this)));
    pageListener = transport.servePage(0, new ServerPage(this)::page);
    lock = takeLock();
    leaseKeeper = LeaseKeeper.start(runtime, lease, lock, life::abort);
    rounds = runtime.start("maintenance", this::rounds);
    LOG.info("Tablet server {} serves, control plane on port {}", id, controlListener.port());
  }

  private Map<LogKind, CommitLog> openLogs(Layout layout) throws IOException {
    Map<LogKind, CommitLog> open = new EnumMap<>(LogKind.class);
    LogOptions options = LogOptions.DEFAULT.withSegmentBytes(config.logSegmentBytes());
    for (LogKind kind : LogKind.values()) {
      open.put(
          kind,
          CommitLog.open(
              runtime,
              new LogLocation(environment.fs(), layout.logs(id), id, kind),
              kind == LogKind.META ? options.withDurability(Durability.HSYNC) : options,
              failure -> life.abort("its " + kind + " log has failed: " + failure)));
    }
    return open;
  }

  private Lock takeLock() throws IOException {
    return environment
        .locks()
        .tryLock(LockPaths.server(id), info(false).encode())
        .orElseThrow(() -> new IOException("somebody holds the lock of server " + id));
  }

  private ServerInfo info(boolean drains) {
    return new ServerInfo(
        controlAddress(),
        new Address(id.host(), dataListener.port()),
        Optional.of(new Address(id.host(), pageListener.port())),
        environment.container(),
        drains);
  }

  private void rounds() {
    try {
      while (!life.awaitEnd(ROUND)) {
        maintenance.round();
      }
    } catch (InterruptedException e) {
      return; // The server stops.
    } catch (RuntimeException | Error e) {
      life.abort("maintenance failed: " + e);
      throw e;
    }
  }

  /** Its name: a restarted server has another. */
  public ServerId id() {
    return id;
  }

  /** Whether it has ended or is ending. */
  public boolean isOver() {
    return life.isOver();
  }

  /** Waits until the server was drained, aborted or killed. */
  public void await() throws InterruptedException {
    while (!runtime.await(stopped, Duration.ofDays(1))) {
      continue;
    }
  }

  HostedTablets tablets() {
    return tablets;
  }

  Map<LogKind, MemtableBudget> budgets() {
    return budgets;
  }

  CacheStatistics cacheStatistics() {
    return cache.statistics();
  }

  Map<LogKind, CommitLog> logs() {
    return logs;
  }

  Address controlAddress() {
    return new Address(id.host(), controlListener.port());
  }

  /**
   * Loads a tablet in the background; its record tells when it is served. Asked again meanwhile, it
   * does nothing.
   */
  void load(TabletId tablet, Bytes row, long epoch) {
    inBackground(
        tablet,
        "load",
        () -> {
          // While draining only what METADATA needs: a user tablet waits for the end of this server
          // and goes elsewhere.
          boolean wanted = !draining || tablet.table().isSystem();
          if (wanted && tablets.find(tablet).isEmpty()) {
            loader.load(tablet, row, epoch);
          }
        });
  }

  /**
   * Unloads a tablet in the background; its record tells when it is free. Asked again meanwhile, it
   * does nothing.
   */
  void unload(TabletId tablet, long epoch, boolean discard) {
    inBackground(
        tablet,
        "unload",
        () -> {
          Optional<HostedTablet> hosted = tablets.find(tablet);
          if (hosted.isPresent() && hosted.get().record().assignment().epoch() == epoch) {
            unload(hosted.get(), discard);
          }
        });
  }

  private interface Work {
    void run() throws IOException, InterruptedException;
  }

  private void inBackground(TabletId tablet, String what, Work work) {
    if (!moving.add(tablet)) {
      return;
    }
    WorkerPool threads =
        tablet.equals(TabletId.ROOT) ? rootLoader : loaders.get(HostedTablet.kindOf(tablet));
    threads.execute(
        () -> {
          try {
            work.run();
          } catch (InterruptedException e) {
            Futures.interruptAgain(); // The server stops.
          } catch (IOException | RuntimeException e) {
            // The master sees that the record did not change, and asks again.
            LOG.warn("Could not {} tablet {}", what, tablet, e);
          } catch (Error e) {
            // Its record may say that it is loaded here.
            life.abort("could not " + what + " tablet " + tablet + ": " + e);
            throw e;
          } finally {
            moving.remove(tablet);
          }
        });
  }

  /**
   * Minor compaction, stop, second minor compaction, release (§6, "Speeding up tablet recovery").
   */
  private void unload(HostedTablet hosted, boolean discard)
      throws IOException, InterruptedException {
    Tablet tablet = hosted.tablet();
    hosted.larger().acquire(HostedTablet.LARGER_MAX);
    try {
      if (!tablets.has(hosted)) {
        return; // It was split while this waited.
      }
      if (!discard) {
        tablet.minorCompact();
      }
      hosted.minor().acquire(1);
      try {
        pauseAndCompact(tablet, discard);
        if (!discard) {
          // Before the tablet is free: it may come back here at once and need the log again.
          logs.get(hosted.kind()).forget(hosted.id());
        }
        tablets.remove(hosted);
        hosted
            .manifest()
            .change(before -> records.release(before, discard ? "discarded" : "unloaded"));
      } finally {
        hosted.minor().release(1);
      }
    } finally {
      hosted.larger().release(HostedTablet.LARGER_MAX);
    }
    if (discard) {
      logs.get(hosted.kind()).forget(hosted.id());
    }
    tablet.close();
    LOG.info("Unloaded tablet {}", hosted.id());
  }

  private void pauseAndCompact(Tablet tablet, boolean discard) throws IOException {
    boolean done = false;
    try {
      Futures.await(runtime, tablet.pauseWrites(), "pausing writes");
      if (!discard) {
        tablet.minorCompact();
      }
      done = true;
    } finally {
      if (!done) {
        tablet.resumeWrites(); // It stays, and is served as before.
      }
    }
  }

  /** Puts the table's current schema in force for its tablets here. */
  void refreshSchema(String name) throws IOException {
    tablets.alter(schemas.require(name));
  }

  /** Compacts the tablets of a table here, one after the other. */
  void compact(TableId table, CompactionKindProto kind) throws IOException {
    for (HostedTablet hosted : of(table)) {
      try {
        hosted.larger().acquire(1);
      } catch (InterruptedException e) {
        throw Futures.interrupted(e, "compacting tablet " + hosted.id());
      }
      try {
        if (!tablets.has(hosted)) {
          continue; // It was split while this waited, which compacts its memtable too.
        }
        hosted.tablet().minorCompact();
        switch (kind) {
          case MINOR -> {}
          case MERGING -> hosted.tablet().mergingCompact();
          case MAJOR -> hosted.tablet().majorCompact();
        }
      } finally {
        hosted.larger().release(1);
      }
    }
  }

  private List<HostedTablet> of(TableId table) {
    return tablets.all().stream().filter(hosted -> hosted.id().table().equals(table)).toList();
  }

  /**
   * Unloads every tablet and ends the server. User tablets first: their records must be written
   * while METADATA is still served.
   */
  public void drain() throws IOException {
    LOG.info("Draining {} tablets", tablets.count());
    draining = true;
    try {
      lock.update(info(true).encode());
    } catch (IOException | RuntimeException e) {
      draining = false; // The master goes on giving it tablets.
      throw e;
    }
    maintenance.drain();
    try {
      unloadAll(hosted -> hosted.kind() == LogKind.USER);
      unloadAll(hosted -> !hosted.id().equals(TabletId.ROOT));
      unloadAll(hosted -> true);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "draining");
    }
    life.end("drained");
    leaseKeeper.close();
    dataListener.close(CLOSE_GRACE);
    logs.values().forEach(CommitLog::close);
    lock.release();
    stopThreads();
  }

  private void unloadAll(Predicate<HostedTablet> which) throws IOException, InterruptedException {
    // Again until there is none left: a split may put two in the place of one.
    for (List<HostedTablet> some = tablets.all().stream().filter(which).toList();
        !some.isEmpty();
        some = tablets.all().stream().filter(which).toList()) {
      for (HostedTablet hosted : some) {
        unload(hosted, false);
      }
    }
  }

  /**
   * Ends the server at once, as if its process had died: nothing is written, answered or released.
   */
  public void kill() {
    life.end("killed");
    if (leaseKeeper != null) {
      leaseKeeper.close();
    }
    if (dataListener != null) {
      dataListener.close();
    }
    stopThreads();
  }

  private void stopThreads() {
    if (rounds != null) {
      rounds.interrupt();
    }
    pools.forEach(WorkerPool::close);
    if (controlListener != null) {
      controlListener.close();
    }
    if (pageListener != null) {
      pageListener.close();
    }
    if (access != null) {
      access.close();
    }
    stopped.complete(null);
  }

  private <T> Map<LogKind, T> each(Function<LogKind, T> make) {
    Map<LogKind, T> map = new EnumMap<>(LogKind.class);
    for (LogKind kind : LogKind.values()) {
      map.put(kind, make.apply(kind));
    }
    return map;
  }

  /** At most a quarter of what the data plane takes on waits for memory. */
  private WriteDelay writeDelay() {
    return new WriteDelay(
        runtime,
        DataServer.Limits.DEFAULT.requestsMax() / 4,
        DataServer.Limits.DEFAULT.bytesMax() / 4);
  }

  private WorkerPool pool(String name, int threadsMax) {
    WorkerPool pool = runtime.pool(name, threadsMax);
    pools.add(pool);
    return pool;
  }
}
