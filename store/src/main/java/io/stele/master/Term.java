package io.stele.master;

import io.stele.config.ClusterConfig;
import io.stele.config.Keys;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.metadata.Bootstrap;
import io.stele.metadata.Layout;
import io.stele.metadata.Schemas;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletRecords;
import io.stele.wire.Address;
import io.stele.wire.ControlServer;
import io.stele.wire.DataPlane;
import io.stele.wire.MasterProtocol;
import io.stele.wire.control.ControlProtos.MasterService;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The active master, wired: everything that one term needs, begun in order and ended in reverse.
 */
final class Term implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Term.class);
  // Short, so that the loop does not wait for a server that has died while others need it.
  private static final Duration LOOP_TIMEOUT = Duration.ofSeconds(3);
  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(30);
  private static final int REQUEST_HANDLERS = 8;

  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private volatile Address address;
  private Sweeper sweeper;

  private Term() {}

  static Term begin(
      Configuration conf,
      ClusterConfig cluster,
      FileSystem fs,
      LockService locks,
      DataPlane plane,
      String host)
      throws IOException {
    Term term = new Term();
    try {
      term.wire(conf, cluster, fs, locks, plane, host);
      return term;
    } catch (IOException | RuntimeException e) {
      term.close();
      throw e;
    }
  }

  private void wire(
      Configuration conf,
      ClusterConfig cluster,
      FileSystem fs,
      LockService locks,
      DataPlane plane,
      String host)
      throws IOException {
    InstantSource clock = InstantSource.system();
    SecureRandom random = new SecureRandom();
    TabletAccess access = opened(new TabletAccess(locks, plane, random));
    TabletRecords forLoop = new TabletRecords(locks, access, LOOP_TIMEOUT, clock, random);
    TabletRecords records = new TabletRecords(locks, access, REQUEST_TIMEOUT, clock, random);
    Schemas schemas = new Schemas(locks);

    Layout layout = Bootstrap.begin(fs, cluster.root(), locks, records);
    TableAdmin tables = new TableAdmin(schemas, forLoop, fs, layout);
    TabletServers requests = opened(new TabletServers(conf));
    Wake wake = new Wake();
    ServerWatch servers = opened(new ServerWatch(locks, fs, layout, cluster.lease(), wake));
    MasterLoop loop = new MasterLoop(forLoop, servers, requests, tables, wake);
    sweeper = new Sweeper(records, schemas, fs, layout, Keys.SWEEP_GRACE.in(conf), clock);

    MasterRequests service =
        new MasterRequests(() -> address, loop, wake, tables, schemas, records, servers, requests);
    ControlServer control =
        opened(
            ControlServer.start(
                conf,
                new Address("0.0.0.0", Keys.MASTER_PORT.in(conf)),
                REQUEST_HANDLERS,
                MasterProtocol.class,
                MasterService.newReflectiveBlockingService(service)));
    address = new Address(host, control.port());

    run("master-loop", loop);
    open.push(loop::stop);
    opened(locks.watch(LockPaths.SERVERS, servers::locksChanged));
    run("master-sweep", () -> sweepNowAndThen(Keys.SWEEP_INTERVAL.in(conf)));
  }

  Address address() {
    return address;
  }

  /** Sweeps once, now. */
  int sweep() throws IOException {
    synchronized (sweeper) {
      return sweeper.sweep();
    }
  }

  private void sweepNowAndThen(Duration interval) {
    while (true) {
      try {
        Thread.sleep(interval.toMillis());
        sweep();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return; // The term is over.
      } catch (InterruptedIOException e) {
        LOG.debug("Sweeping ends with the term", e);
        return;
      } catch (IOException | RuntimeException e) {
        LOG.warn("Could not sweep: {}; next time, then", e.toString());
      }
    }
  }

  private void run(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
    open.push(thread::interrupt);
  }

  private <T extends AutoCloseable> T opened(T resource) {
    open.push(resource);
    return resource;
  }

  /** Ends everything; what was under way is left to the next master. */
  @Override
  public void close() {
    while (!open.isEmpty()) {
      try {
        open.pop().close();
      } catch (Exception e) {
        LOG.warn("While the master ended", e);
      }
    }
  }
}
