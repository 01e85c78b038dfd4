package io.stele.tabletserver;

import io.stele.config.ClusterConfig;
import io.stele.config.MemoryPlan;
import io.stele.config.ProcessMemory;
import io.stele.config.TabletServerConfig;
import io.stele.files.NameSpace;
import io.stele.lock.Lease;
import io.stele.lock.Lock;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.UnreachableException;
import io.stele.log.LogDirectory;
import io.stele.metadata.Bootstrap;
import io.stele.metadata.JobNodes;
import io.stele.metadata.Layout;
import io.stele.metadata.LockServiceCopy;
import io.stele.metadata.Schemas;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TabletKind;
import io.stele.runtime.AgreedClock;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.Task;
import io.stele.sstable.CaffeineBlockCache;
import io.stele.web.StatusPage;
import io.stele.wire.Address;
import io.stele.wire.DataServer;
import io.stele.wire.Request;
import io.stele.wire.RequestHandler;
import io.stele.wire.Responder;
import io.stele.wire.TabletServerProtocol;
import io.stele.wire.Transport;
import io.stele.wire.control.ControlProtos.TabletServerService;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A tablet server: takes its lock, keeps its lease, and hosts the tablets that the master assigns
 * to it (§5.2).
 *
 * <p>It serves from the return of {@link #start} until {@link #drain}, {@link #kill} or a failure
 * after which it must not continue: it reports that to {@link Environment#onAbort}, which ends the
 * process. This class creates, wires and closes its parts; {@link TabletLifecycle} works on the
 * tablets. Safe for use by any number of threads.
 */
public final class TabletServer {
  private static final Logger LOG = LoggerFactory.getLogger(TabletServer.class);
  private static final Duration LOCK_AGAIN = Duration.ofMillis(100);
  private static final Duration ROUND = Duration.ofMillis(200);

  /**
   * No outage ends a server: a change of METADATA that is in doubt is retried until it is known.
   */
  private static final Duration METADATA_PATIENCE = Duration.ofDays(30);

  /** How long a server tries to read what it is to load, before another one is asked. */
  private static final Duration ASSIGNMENT_PATIENCE = Duration.ofSeconds(20);

  private static final Duration CLOSE_GRACE = Duration.ofSeconds(5);
  private static final Duration LONG = Duration.ofDays(1);
  private static final int CONTROL_HANDLERS = 4;

  private final ServerContext context;
  private final MasterContact contact;
  private final TabletLifecycle lifecycle;
  private final ServerPage page;
  private final TabletLocality locality;
  private final Transport.Listener dataListener;
  private final Transport.Listener controlListener;
  private final Transport.Listener pageListener;
  private final Optional<String> container;
  private final long valueBytesMax;
  private final long operationsBytes;
  private final Lock lock;
  private final LockService locks;
  private final Duration leaseLength;
  private final LeaseKeeper leaseKeeper;
  private final Teardown teardown;
  private final Draining draining;
  private final CompletableFuture<Void> stopped = new CompletableFuture<>();

  /**
   * The surroundings of a server.
   *
   * @param conf Hadoop's configuration with the {@code stele.*} keys
   * @param runtime clocks, random numbers, threads and timers
   * @param fs the file system of the root directory
   * @param locks the lock service, with a session of the server's own
   * @param transport its network; the server closes only the listeners that it opens
   * @param memory the memory it may use
   * @param container the YARN container the server runs in
   * @param onAbort told once why the server ends prematurely; must end the process
   */
  public record Environment(
      Configuration conf,
      ProcessRuntime runtime,
      FileSystem fs,
      LockService locks,
      Transport transport,
      ProcessMemory memory,
      Optional<String> container,
      Consumer<String> onAbort) {}

  /**
   * Starts a server: when this returns, it has its lock and may be assigned tablets.
   *
   * @throws SteleException REFUSED if the configuration is wrong or the root directory has a newer
   *     layout, NOT_FOUND if there is no root directory yet
   */
  public static TabletServer start(Environment environment) throws IOException {
    ServerLife life = new ServerLife(environment.runtime(), environment.onAbort());
    Teardown teardown = new Teardown();
    Teardown givenUp = new Teardown();
    CompletableFuture<TabletServer> started = new CompletableFuture<>();
    try {
      TabletServer server = new TabletServer(environment, life, teardown, givenUp, started);
      started.complete(server);
      return server;
    } catch (IOException | RuntimeException | Error e) {
      life.end("it could not start: " + e);
      teardown.run();
      givenUp.run();
      throw e;
    }
  }

  /**
   * Starts a server.
   *
   * @param teardown what is closed when the server ends, however it does
   * @param givenUp what is closed besides if it cannot start
   */
  private TabletServer(
      Environment environment,
      ServerLife life,
      Teardown teardown,
      Teardown givenUp,
      CompletableFuture<TabletServer> started)
      throws IOException {
    this.teardown = teardown;
    this.container = environment.container();
    TabletServerConfig config = TabletServerConfig.of(environment.conf(), environment.memory());
    valueBytesMax = config.memory().valueBytesMax();
    operationsBytes = config.memory().operationsBytes();
    ProcessRuntime runtime = environment.runtime();
    FileSystem fs = environment.fs();
    locks = environment.locks();
    Transport transport = environment.transport();
    Layout layout = Bootstrap.join(fs, config.cluster().root(), locks);
    transport.join(layout.memberKey(fs));

    // The port is part of the server's name, and everything else is created under that name.
    StartingHandler requests = new StartingHandler();
    DataServer.Limits limits = limits(config.memory());
    dataListener = transport.serveData(config.port(), limits, requests);
    teardown.add(dataListener::close);
    ServerId id = new ServerId(transport.host(), dataListener.port(), runtime.wallClock().millis());
    // Before the lock: once a server is fenced, nothing may create its log directory again.
    Path logs = layout.logs(id);
    LogDirectory.create(fs, logs);
    ServerResources resources = ServerResources.open(runtime, fs, logs, id, config, life);
    teardown.add(resources::closeThreads);
    givenUp.add(resources::giveUpLogs);
    TabletAccess access =
        new TabletAccess(runtime, locks, transport.dataPlane(), config.cluster().lease());
    teardown.add(access::close);
    TabletRecords records = new TabletRecords(runtime, locks, access, METADATA_PATIENCE);
    context = new ServerContext(runtime, id, life, records, new HostedTablets(runtime), resources);
    CaffeineBlockCache cache = cache(config);
    Schemas schemas = new Schemas(runtime, locks, config.metadataSplitBytes());
    AgreedClock clock = new AgreedClock(runtime, config.clockSkewMax());
    TabletStorage storage = TabletStorage.of(runtime, clock, fs, layout, cache, config);
    TabletLoader loader = loader(access, schemas, storage, config);
    contact = new MasterContact(runtime, locks, transport.controlPlane(), id);
    teardown.add(contact::close);
    lifecycle =
        new TabletLifecycle(
            context, schemas, loader, new Splitter(context, loader, contact), contact);
    leaseLength = config.cluster().lease();
    Lease lease = new Lease(runtime, leaseLength);
    LogSorter sorter =
        new LogSorter(runtime, fs, layout, resources.of(TabletKind.USER).memtables());
    teardown.add(sorter::close);
    TabletWork work = new TabletWork(context, config);
    RequestedWork requested = requested(work, fs, layout, schemas);
    locality = new TabletLocality(context, fs, layout);
    DataService service = serve(requests, limits, () -> mayAnswer(lease, life), requested);
    AdminService admin = new AdminService(context, schemas, lifecycle, requested, sorter, started);
    controlListener = serveControl(transport, config.controlPort(), admin);
    teardown.add(controlListener::close);
    page = page(config.cluster(), cache, service);
    pageListener = transport.servePage(0, page::render);
    teardown.add(pageListener::close);

    new WarmUp(runtime, locks, access, loader).run();
    lock = takeUnfencedLock(fs, layout);
    draining = new Draining(context, lock, this::info, lifecycle, contact);
    leaseKeeper = LeaseKeeper.start(runtime, lease, lock, clock, life::abort);
    teardown.add(leaseKeeper::close);
    startWork(new Maintenance(context, lifecycle, loader, work, requested, config));
    LOG.info("Tablet server {} is ready; control plane on port {}", id, controlListener.port());
  }

  private void startWork(Maintenance maintenance) {
    startWork("maintenance", () -> maintenance.run(ROUND));
    startWork("tablet-locality", locality::run);
    startWork("log-nodes", new LogNodes(context)::run);
  }

  private void startWork(String name, Runnable work) {
    Task task = context.runtime().start(name, work);
    teardown.add(task::interrupt);
  }

  private TabletLoader loader(
      TabletAccess access, Schemas schemas, TabletStorage storage, TabletServerConfig config) {
    TabletRecords assignments =
        new TabletRecords(context.runtime(), locks, access, ASSIGNMENT_PATIENCE);
    return new TabletLoader(
        context,
        assignments.reader(),
        schemas,
        storage,
        config.memory().replayBytes(),
        new LockServiceCopy(context.runtime(), storage.fs(), storage.layout(), locks));
  }

  private static CaffeineBlockCache cache(TabletServerConfig config) {
    return new CaffeineBlockCache(config.cacheHeapBytes(), config.cacheOffHeapBytes());
  }

  private static Transport.Listener serveControl(Transport transport, int port, AdminService admin)
      throws IOException {
    return transport.serveControl(
        port,
        CONTROL_HANDLERS,
        TabletServerProtocol.class,
        TabletServerService.newReflectiveBlockingService(admin));
  }

  private RequestedWork requested(TabletWork work, FileSystem fs, Layout layout, Schemas schemas) {
    JobNodes jobs = new JobNodes(context.runtime(), locks);
    JobStates states = new JobStates(context.runtime(), context.tablets(), jobs);
    teardown.add(states::close);
    JobPins pins = new JobPins(jobs, states);
    JobFiles files = new JobFiles(context.runtime(), fs, layout.root(), jobs, states);
    RowClearing clearing = new RowClearing(context.runtime(), schemas.names());
    return new RequestedWork(work, states, pins, files, clearing);
  }

  /** Refuses requests until there is a handler to pass them to. */
  private static final class StartingHandler implements RequestHandler {
    private volatile Optional<RequestHandler> started = Optional.empty();

    void use(RequestHandler handler) {
      started = Optional.of(handler);
    }

    @Override
    public void handle(Request request, Responder responder) {
      if (started.isPresent()) {
        started.get().handle(request, responder);
      } else {
        responder.fail(SteleException.retryLater("this server is starting: try again"));
      }
    }
  }

  private static boolean mayAnswer(Lease lease, ServerLife life) {
    return lease.valid() && !life.isOver();
  }

  /** At most a quarter of the requests that the data plane accepts may wait for memory. */
  private static WriteDelay writeDelay(ProcessRuntime runtime, DataServer.Limits limits) {
    return new WriteDelay(
        runtime,
        limits.requestsMax() / 4,
        limits.memory().userBytesMax() / MemoryPlan.FRAME_COPIES / 4);
  }

  private DataService serve(
      StartingHandler requests,
      DataServer.Limits limits,
      BooleanSupplier mayAnswer,
      JobOutcomes outcomes) {
    DataService service =
        new DataService(
            context.runtime(),
            context.tablets(),
            context.resources(),
            writeDelay(context.runtime(), limits),
            mayAnswer,
            outcomes);
    requests.use(service);
    return service;
  }

  private ServerPage page(ClusterConfig cluster, CaffeineBlockCache cache, DataService service) {
    return new ServerPage(
        context, cluster, cache::statistics, locality, service, dataListener::requestsRefused);
  }

  private static DataServer.Limits limits(MemoryPlan plan) {
    LOG.info("Memory, {}", plan.describe());
    return DataServer.Limits.DEFAULT.within(
        plan.frameBytesMax(),
        new DataServer.Memory(
            MemoryPlan.FRAME_COPIES,
            plan.requestBytes(),
            plan.systemRequestBytes(),
            plan.answerBytes(),
            MemoryPlan.SYSTEM_ANSWER_BYTES));
  }

  /** The lock of a server that the master does not treat as dead. */
  private Lock takeUnfencedLock(FileSystem fs, Layout layout) throws IOException {
    Lock taken = takeLock();
    try {
      checkNotFenced(fs, layout);
      return taken;
    } catch (IOException | RuntimeException e) {
      taken.release(); // The next try is another server, of the same session.
      throw e;
    }
  }

  /**
   * Looks for both names: HDFS's client repeats the creation of a directory if the NameNode fails
   * over, which may bring back the old name of one that was renamed meanwhile. What came back is
   * deleted, as nothing was logged in it: a fence refuses to choose between two directories.
   */
  private void checkNotFenced(FileSystem fs, Layout layout) throws IOException {
    NameSpace.catchUp(fs, layout.root());
    boolean fenced = fs.exists(layout.recovery(id()));
    if (fenced) {
      fs.delete(layout.logs(id()), true);
    }
    if (fenced || !fs.exists(layout.logs(id()))) {
      throw new IOException(
          "the master treated server " + id() + " as dead before it had its lock: start another");
    }
  }

  /**
   * Waits while the lock service is down: it may have granted the lock already, and the session
   * keeps it.
   */
  private Lock takeLock() throws IOException {
    Bytes info = info(false).encode();
    while (true) {
      try {
        return locks
            .tryLock(LockPaths.server(id()), info)
            .orElseThrow(() -> new IOException("another process has the lock of server " + id()));
      } catch (UnreachableException e) {
        LOG.warn("Server {} cannot get its lock yet; will retry: {}", id(), e.getMessage());
      }
      try {
        context.runtime().sleep(LOCK_AGAIN);
      } catch (InterruptedException e) {
        throw Futures.interrupted(e, "taking the lock of server " + id());
      }
    }
  }

  private ServerInfo info(boolean drains) {
    return new ServerInfo(
        controlAddress(),
        new Address(id().host(), dataListener.port()),
        Optional.of(new Address(id().host(), pageListener.port())),
        container,
        drains,
        leaseLength);
  }

  /** The server's id. A restarted server has another one. */
  public ServerId id() {
    return context.id();
  }

  /** Whether the server has ended or is ending. */
  public boolean isOver() {
    return context.life().isOver();
  }

  /** Waits until the server was drained or killed. */
  public void await() throws InterruptedException {
    boolean over = false;
    while (!over) {
      over = context.runtime().await(stopped, LONG);
    }
  }

  /** The largest cell value that the server accepts, in bytes. */
  long valueBytesMax() {
    return valueBytesMax;
  }

  /** The memory for operations on users' tablets, in bytes. */
  long operationsBytes() {
    return operationsBytes;
  }

  /** The address of its control plane. */
  public Address controlAddress() {
    return new Address(id().host(), controlListener.port());
  }

  /** Where the bytes of its tablets lie. */
  TabletLocality locality() {
    return locality;
  }

  HostedTablets tablets() {
    return context.tablets();
  }

  StatusPage page() {
    return page.render();
  }

  /** Whether {@link #drainAndEnd} is under way. */
  public boolean isEnding() {
    return draining.isShuttingDown();
  }

  /**
   * Drains the server and ends it: unloads every tablet, whether or not others take them.
   *
   * @throws SteleException RETRY_LATER if it is being drained and ended already
   * @throws IOException if it failed: the server continues, and may be assigned tablets again
   */
  public void drainAndEnd() throws IOException {
    draining.drainForShutdown();
    endDrained();
  }

  /**
   * From now on, until {@link #undrain}, does what {@link #drainAndEnd} does, and tries again if
   * that fails. Does not wait.
   *
   * @param unlessLast only while another server takes tablets
   * @param reason why the request is repeated: {@link #undrain} is refused meanwhile. Empty if it
   *     is made once
   */
  void beginDrainAndEnd(boolean unlessLast, Optional<Draining.Reason> reason) {
    draining.beginEnd(this::endDrained, unlessLast, reason);
  }

  private void endDrained() throws IOException {
    context.life().end("drained");
    try {
      leaseKeeper.close();
      dataListener.close(CLOSE_GRACE);
      context.resources().closeLogs();
      lock.release();
    } finally {
      stop();
    }
  }

  /**
   * From now on the server gives every tablet away and takes none, until {@link #undrain} or its
   * end, and only while another server takes tablets. Does not wait.
   */
  void drain() {
    draining.begin();
  }

  /**
   * Takes tablets again after {@link #drain}, soon, and gives up a {@link #beginDrainAndEnd} that
   * has failed so far. Does not wait.
   *
   * @throws SteleException REFUSED if {@link #drainAndEnd} is under way, or is asked for again and
   *     again
   */
  public void undrain() {
    draining.undo();
  }

  /** Whether its lock says that it is drained. */
  public boolean isDraining() {
    return contact.isDraining();
  }

  /**
   * Ends the server at once, as if its process had died: it writes, answers and releases nothing.
   */
  public void kill() {
    context.life().end("killed");
    stop();
  }

  private void stop() {
    teardown.run();
    stopped.complete(null);
  }
}
