package io.stele.sim;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.client.Stele;
import io.stele.config.Keys;
import io.stele.config.ProcessMemory;
import io.stele.files.HdfsClientDefaults;
import io.stele.lock.LockService;
import io.stele.master.Applications;
import io.stele.master.Master;
import io.stele.metadata.Assignment;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecordReader;
import io.stele.metadata.TabletRecords;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.IoCallable;
import io.stele.runtime.SystemRuntime;
import io.stele.tabletserver.TabletServer;
import io.stele.wire.NetworkTransport;
import io.stele.wire.Transport;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A whole cluster in one JVM: masters and tablet servers, each like a process of its own with its
 * own session and its own view of the file system, which may be killed and started at any moment.
 *
 * <pre>{@code
 * try (MiniStele cluster = MiniStele.start(MiniStele.quick(conf), Site.inMemory(), 2, 1)) {
 *   Stele stele = cluster.client();
 *   ...
 *   cluster.killServer(cluster.servers().get(0));
 * }
 * }</pre>
 *
 * <p>Safe for use by any number of threads.
 */
public final class MiniStele implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MiniStele.class);

  /** As each of the servers sees it; in truth they share that of this process. */
  private static final ProcessMemory MEMORY = new ProcessMemory(4L << 30, 1L << 30);

  private static final String HOST = "localhost";
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration POLL_EVERY = Duration.ofMillis(20);

  private final Configuration conf;
  private final Site site;
  private final RandomGenerator random;
  private final LockService locks;
  private final Transport transport;
  private final TabletAccess access;
  private final TabletRecordReader records;
  private final Stele client;

  @GuardedBy("this")
  private final Map<ServerId, ServerProcess> servers = new LinkedHashMap<>();

  @GuardedBy("this")
  private final List<MasterProcess> masters = new ArrayList<>();

  @GuardedBy("this")
  private final Map<ServerId, String> aborts = new LinkedHashMap<>();

  private record ServerProcess(
      TabletServer server, LockService locks, Transport transport, FileSystem fs) {}

  private record MasterProcess(
      Master master, LockService locks, Transport transport, FileSystem fs) {}

  private MiniStele(Configuration conf, Site site, long seed) throws IOException {
    this.conf = conf;
    this.site = site;
    this.random = new Random(seed);
    this.locks = site.connect();
    this.transport = new NetworkTransport(conf, SystemRuntime.INSTANCE, HOST);
    this.access =
        new TabletAccess(SystemRuntime.INSTANCE, locks, transport.dataPlane(), Keys.LEASE.in(conf));
    this.records =
        new TabletRecords(SystemRuntime.INSTANCE, locks, access, Duration.ofSeconds(5)).reader();
    this.client =
        Stele.over(conf, SystemRuntime.INSTANCE, locks, transport, Optional.of(site.mount()));
  }

  /**
   * Starts a cluster with one master and waits until METADATA is served.
   *
   * @param conf Hadoop's, with {@code stele.*} keys; see {@link #quick}
   * @param tabletServers how many
   * @param seed of all that is random
   */
  public static MiniStele start(Configuration conf, Site site, int tabletServers, long seed)
      throws IOException {
    MiniStele cluster = new MiniStele(conf, site, seed);
    try {
      cluster.startMaster();
      for (int i = 0; i < tabletServers; i++) {
        cluster.startServer();
      }
      if (tabletServers > 0) {
        cluster.awaitServed(TableId.METADATA);
      }
      return cluster;
    } catch (IOException | RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  /** {@code conf} with times so short that a dead server is replaced within seconds. */
  public static Configuration quick(Configuration conf) {
    Configuration quick = new Configuration(conf);
    quick.setIfUnset(Keys.ROOT_DIR.name(), "/stele");
    quick.setIfUnset(Keys.SESSION_TIMEOUT.name(), "2s");
    quick.setIfUnset(Keys.LEASE.name(), "1s");
    quick.setIfUnset(Keys.SWEEP_GRACE.name(), "0ms");
    quick.setIfUnset(Keys.CACHE_BYTES.name(), "16m");
    quick.setIfUnset(Keys.MEMTABLE_TOTAL_BYTES.name(), "256m");
    HdfsClientDefaults.shortenWaits(quick);
    return quick;
  }

  /** Starts a master; the second and further ones wait to take over. */
  public synchronized Master startMaster() throws IOException {
    FileSystem fs = site.mount();
    LockService session = site.connect();
    Transport transport = new NetworkTransport(conf, SystemRuntime.INSTANCE, HOST);
    Master master =
        Master.start(
            new Master.Environment(
                conf,
                SystemRuntime.INSTANCE,
                fs,
                session,
                transport,
                Optional.empty(),
                Applications.NONE));
    masters.add(new MasterProcess(master, session, transport, fs));
    return master;
  }

  /** Starts a tablet server; waits for the master to have made the root directory. */
  public TabletServer startServer() throws IOException {
    FileSystem fs = site.mount();
    LockService session = site.connect();
    Transport transport = new NetworkTransport(conf, SystemRuntime.INSTANCE, HOST);
    CompletableFuture<ServerId> id = new CompletableFuture<>();
    TabletServer[] started = new TabletServer[1];
    await(
        "the master has made the root directory",
        () -> {
          try {
            started[0] =
                TabletServer.start(
                    new TabletServer.Environment(
                        conf,
                        SystemRuntime.INSTANCE,
                        fs,
                        session,
                        transport,
                        MEMORY,
                        Optional.empty(),
                        why -> id.thenAccept(name -> aborted(name, why))));
            return true;
          } catch (SteleException e) {
            if (e.code() != SteleException.Code.NOT_FOUND) {
              throw e;
            }
            return false;
          }
        });
    TabletServer server = started[0];
    synchronized (this) {
      servers.put(server.id(), new ServerProcess(server, session, transport, fs));
    }
    id.complete(server.id());
    return server;
  }

  private void aborted(ServerId server, String why) {
    LOG.warn("Tablet server {} had to end: {}", server, why);
    synchronized (this) {
      aborts.put(server, why);
    }
    // As its process would: not on the thread that tells, which belongs to the server.
    SystemRuntime.INSTANCE.start("kill-" + server, () -> killServer(server));
  }

  /** The tablet servers that run, oldest first. */
  public synchronized List<ServerId> servers() {
    return List.copyOf(servers.keySet());
  }

  /** The servers that ended by themselves, and why. */
  public synchronized Map<ServerId, String> aborts() {
    return Map.copyOf(aborts);
  }

  /** Kills a tablet server as kill -9 would; its lock is gone at once. */
  public void killServer(ServerId server) {
    ServerProcess process;
    synchronized (this) {
      process = servers.remove(server);
    }
    if (process != null) {
      site.kill(process.fs(), random);
      process.server().kill();
      process.transport().close();
      process.locks().close();
    }
  }

  /** Asks a tablet server to give all its tablets away and end. */
  public void drainServer(ServerId server) throws IOException {
    ServerProcess process;
    synchronized (this) {
      process = servers.remove(server);
    }
    if (process != null) {
      process.server().drainAndEnd();
      process.transport().close();
      process.locks().close();
    }
  }

  /** Kills the active master, or the oldest candidate where none is active. */
  public void killMaster() {
    MasterProcess process;
    synchronized (this) {
      process =
          masters.stream()
              .filter(candidate -> candidate.master().isActive())
              .findFirst()
              .orElse(masters.get(0));
      masters.remove(process);
    }
    kill(process);
  }

  private void kill(MasterProcess process) {
    site.kill(process.fs(), random);
    process.master().close();
    process.transport().close();
    process.locks().close();
  }

  /** The active master, once there is one. */
  public Master master() throws IOException {
    Master[] active = new Master[1];
    await(
        "a master is active",
        () -> {
          synchronized (this) {
            active[0] =
                masters.stream()
                    .map(MasterProcess::master)
                    .filter(Master::isActive)
                    .findFirst()
                    .orElse(null);
          }
          return active[0] != null;
        });
    return active[0];
  }

  /** A client of the cluster; closed with it. */
  public Stele client() {
    return client;
  }

  /** Reads the tablet records, as the servers see them. */
  public TabletRecordReader records() {
    return records;
  }

  /** A session with the lock service of the cluster's own. */
  public LockService locks() {
    return locks;
  }

  /** Waits until live servers serve all tablets of {@code table}. */
  public void awaitServed(TableId table) throws IOException {
    await(
        "table " + table + " is served",
        () -> {
          List<TabletRecord> tablets = records.readAll(table);
          Set<ServerId> live = ServerInfo.all(locks).keySet();
          return !tablets.isEmpty()
              && tablets.stream()
                  .allMatch(
                      tablet ->
                          tablet.assignment().state() == Assignment.State.LOADED
                              && tablet.assignment().server().filter(live::contains).isPresent());
        });
  }

  /** Makes a table, even if that takes longer than the client's timeout, a minute at most. */
  public void createTable(TableSchema schema) throws IOException {
    await(
        "table " + schema.name() + " is there",
        () -> {
          boolean there = client.admin().tableExists(schema.name());
          try {
            if (!there) {
              client.admin().createTable(schema);
            }
            return true;
          } catch (SteleException e) {
            boolean begun = // Before, by a call whose outcome was unknown.
                e.code() == SteleException.Code.OUTCOME_UNKNOWN
                    || e.code() == SteleException.Code.ALREADY_EXISTS;
            if (begun) {
              return false;
            }
            throw e;
          }
        });
  }

  /**
   * Waits until {@code condition} holds, a minute at most.
   *
   * @param condition whether it holds; an exception of RETRY_LATER counts as not yet
   */
  public static void await(String what, IoCallable<Boolean> condition) throws IOException {
    Deadline deadline = Deadline.after(SystemRuntime.INSTANCE, PATIENCE);
    Exception last = null;
    while (true) {
      try {
        if (condition.call()) {
          return;
        }
      } catch (SteleException e) {
        if (e.code() != SteleException.Code.RETRY_LATER) {
          throw e;
        }
        last = e;
      }
      if (deadline.isOver()) {
        throw new IOException("waited in vain until " + what, last);
      }
      try {
        SystemRuntime.INSTANCE.sleep(POLL_EVERY);
      } catch (InterruptedException e) {
        throw Futures.interrupted(e, "waiting until " + what);
      }
    }
  }

  /** Kills all that is left. */
  @Override
  public void close() {
    client.close();
    List<MasterProcess> allMasters;
    synchronized (this) {
      allMasters = List.copyOf(masters);
      masters.clear();
    }
    allMasters.forEach(this::kill);
    servers().forEach(this::killServer);
    access.close();
    transport.close();
    locks.close();
  }
}
