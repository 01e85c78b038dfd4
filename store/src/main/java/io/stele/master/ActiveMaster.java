package io.stele.master;

import io.stele.config.ClusterConfig;
import io.stele.config.Keys;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.metadata.Bootstrap;
import io.stele.metadata.JobNodes;
import io.stele.metadata.LastingNodes;
import io.stele.metadata.Layout;
import io.stele.metadata.LockServiceCopy;
import io.stele.metadata.Schemas;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletRecords;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.Address;
import io.stele.wire.MasterProtocol;
import io.stele.wire.Transport;
import io.stele.wire.control.ControlProtos.MasterService;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The elected master, wired: everything it needs, opened in order and closed in reverse.
 *
 * <p>Begun by one thread; {@link #sweep} and {@link #close} may be called by any.
 */
final class ActiveMaster implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ActiveMaster.class);
  // Short, so that the loop does not wait for a server that has died while others need it.
  private static final Duration LOOP_TIMEOUT = Duration.ofSeconds(3);
  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(30);
  private static final int REQUEST_HANDLERS = 8;

  private final ProcessRuntime runtime;
  private final Consumer<Throwable> failed;
  private final Deque<AutoCloseable> open;
  private final Address address;
  private final Sweeper sweeper;
  private final JobSweep jobSweep;
  private final JobDirectories jobDirectories;
  private volatile boolean closed;

  /**
   * Prepares the cluster's directory, serves requests, and starts the loop.
   *
   * @param failed told when the master cannot go on
   */
  static ActiveMaster begin(
      Master.Environment environment, ClusterConfig cluster, Consumer<Throwable> failed)
      throws IOException {
    Deque<AutoCloseable> open = new ArrayDeque<>();
    try {
      return new ActiveMaster(environment, cluster, failed, open);
    } catch (IOException | RuntimeException e) {
      closeAll(open);
      throw e;
    }
  }

  /** Pushes to {@code open} whatever must be closed, even if this fails halfway. */
  private ActiveMaster(
      Master.Environment environment,
      ClusterConfig cluster,
      Consumer<Throwable> failed,
      Deque<AutoCloseable> open)
      throws IOException {
    this.runtime = environment.runtime();
    this.failed = failed;
    this.open = open;
    Configuration conf = environment.conf();
    FileSystem fs = environment.fs();
    LockService locks = environment.locks();
    Transport transport = environment.transport();
    TabletAccess access =
        opened(new TabletAccess(runtime, locks, transport.dataPlane(), cluster.lease()));
    LoopSignal signal = new LoopSignal(runtime);
    StepGuard guard = new StepGuard(signal);
    TabletRecords forLoop = new TabletRecords(runtime, locks, access, LOOP_TIMEOUT, guard);
    TabletRecords records = new TabletRecords(runtime, locks, access, REQUEST_TIMEOUT);
    Schemas schemas = new Schemas(runtime, locks);
    Layout layout = Bootstrap.begin(runtime, fs, cluster.root(), locks, records);
    transport.join(layout.memberKey(fs));
    TabletServers requests = opened(new TabletServers(runtime, transport.controlPlane()));
    LogSorting sorting =
        new LogSorting(runtime, fs, requests, signal, Keys.SORT_BYTES_MIN.in(conf));
    DeadLogs logs = new DeadLogs(runtime, fs, layout, Keys.LOG_REPLICAS_MIN.in(conf), sorting);
    Recoveries recoveries = new Recoveries(runtime);
    ServerLocks serverLocks = new ServerLocks(locks);
    Fences fences =
        opened(new Fences(runtime, serverLocks, logs, recoveries, cluster.lease(), signal));
    ServerWatch servers = new ServerWatch(runtime, serverLocks, fences, logs, signal, guard);
    TableReaders readers = new TableReaders(fs, layout, schemas);
    SchemaSteps steps =
        new SchemaSteps(runtime, schemas, forLoop, requests, servers::answering, readers);
    TableChanges changes = opened(new TableChanges(runtime, schemas, steps, signal));
    TableAdmin tables = new TableAdmin(runtime, schemas, steps, changes);
    MasterParts parts = MasterParts.of(runtime, forLoop, requests);
    BalanceSchedule balance = new BalanceSchedule(runtime, locks);
    configure(parts, conf, balance, schemas);
    MasterLoop loop =
        new MasterLoop(
            runtime,
            new MasterLoop.Cluster(forLoop, servers, requests, schemas, changes, sorting),
            parts,
            recoveries,
            signal,
            guard);
    Sweeper.Store store = new Sweeper.Store(fs, layout, serverLocks);
    sweeper = new Sweeper(runtime, records, schemas, store, Keys.SWEEP_GRACE.in(conf));
    JobNodes nodes = new JobNodes(runtime, locks);
    JobLeases jobs = new JobLeases(runtime, nodes, environment.applications());
    jobSweep = new JobSweep(records.reader(), schemas, fs, layout, nodes, jobs);
    jobDirectories = new JobDirectories(fs, layout, schemas, nodes);
    ChangeRequests changeRequests = new ChangeRequests(tables, changes, schemas, loop);
    ClusterStatusAnswer status =
        new ClusterStatusAnswer(
            runtime.wallClock(), loop, parts, changeRequests, recoveries, balance);
    status.hasFilesIn(layout);
    MasterRequests.Topics topics =
        new MasterRequests.Topics(
            changeRequests, new JobRequests(runtime.wallClock(), jobs, jobDirectories), status);
    MasterRequests service = new MasterRequests(loop, parts, servers, balance, topics, signal);
    MasterPage page = page(cluster, status, new TableOverview(loop::view, schemas));
    address = serve(environment, service, status, page);

    startLoop(loop, locks, servers);
    run("master-jobs", jobs);
    copyNodes(new LockServiceCopy(runtime, fs, layout, locks), locks, changes, records);
    run("master-sweep", () -> sweepNowAndThen(Keys.SWEEP_INTERVAL.in(conf)));
  }

  private void startLoop(MasterLoop loop, LockService locks, ServerWatch servers) {
    run("master-loop", loop);
    open.push(loop::stop);
    opened(locks.watch(LockPaths.SERVERS, servers::locksChanged));
  }

  private void copyNodes(
      LockServiceCopy copy, LockService locks, TableChanges changes, TabletRecords records) {
    LockServiceCopier copier =
        new LockServiceCopier(runtime, copy, new LastingNodes(locks), records.reader());
    changes.whenEnded(copier::schemaChanged);
    run("master-copy", copier);
  }

  private void configure(
      MasterParts parts, Configuration conf, BalanceSchedule balance, Schemas schemas) {
    Reshaping.Settings reshaping =
        new Reshaping.Settings(Keys.HOT_SPLIT_BYTES_MIN.in(conf), Keys.MERGE_AFTER.in(conf));
    parts.rebalancing().balanceBy(balance);
    parts.rebalancing().reshapeBy(new Reshaping(runtime, balance, schemas::table, reshaping));
    parts.failures().retryAfter(Keys.QUARANTINE_RETRY.in(conf));
  }

  private MasterPage page(ClusterConfig cluster, ClusterStatusAnswer status, TableOverview tables) {
    return new MasterPage(cluster, runtime.wallClock().instant(), status, tables);
  }

  /** Serves requests, and the page; returns where requests are served. */
  private Address serve(
      Master.Environment environment,
      MasterRequests service,
      ClusterStatusAnswer status,
      MasterPage page)
      throws IOException {
    Transport transport = environment.transport();
    Transport.Listener control =
        opened(
            transport.serveControl(
                Keys.MASTER_PORT.in(environment.conf()),
                REQUEST_HANDLERS,
                MasterProtocol.class,
                MasterService.newReflectiveBlockingService(service)));
    Address served = new Address(transport.host(), control.port());
    status.servesAt(served);
    Transport.Listener shown = opened(transport.servePage(0, page::render));
    status.showsPageAt(new Address(transport.host(), shown.port()));
    return served;
  }

  Address address() {
    return address;
  }

  /** Sweeps once, now. */
  int sweep() throws IOException {
    int deleted;
    try {
      deleted = sweeper.sweep();
    } catch (IOException | RuntimeException e) {
      if (!closed && !Futures.isInterruption(e)) {
        sweepJobsDespite(e);
      }
      throw e;
    }
    return deleted + sweepJobs();
  }

  private int sweepJobs() throws IOException {
    jobDirectories.endWriting();
    return jobSweep.sweep();
  }

  /** What hinders one sweep does not hinder the other. */
  private void sweepJobsDespite(Exception failure) {
    try {
      sweepJobs();
    } catch (IOException | RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  private void sweepNowAndThen(Duration interval) {
    while (!closed) {
      try {
        runtime.sleep(interval);
        sweep();
      } catch (InterruptedException e) {
        return; // The master is closed.
      } catch (IOException | RuntimeException e) {
        if (!closed) {
          LOG.warn("Could not sweep; will retry in {}", interval, e);
        }
      }
    }
  }

  private void run(String name, Runnable work) {
    Runnable guarded =
        () -> {
          try {
            work.run();
          } catch (RuntimeException | Error e) {
            failed.accept(e); // A master without this thread would only be in the way.
          }
        };
    open.push(runtime.start(name, guarded)::interrupt);
  }

  private <T extends AutoCloseable> T opened(T resource) {
    open.push(resource);
    return resource;
  }

  /** Ends everything; the next master finishes what was in progress. */
  @Override
  public void close() {
    closed = true;
    closeAll(open);
  }

  private static void closeAll(Deque<AutoCloseable> open) {
    while (!open.isEmpty()) {
      try {
        open.pop().close();
      } catch (Exception e) {
        LOG.warn("Something failed while the master stopped", e);
      }
    }
  }
}
