package io.stele.benchmarks;

import io.stele.client.Stele;
import io.stele.config.Keys;
import io.stele.lock.CuratorLockService;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.lock.ZooKeeperProcess;
import io.stele.master.MasterMain;
import io.stele.metadata.MasterInfo;
import io.stele.model.Bytes;
import io.stele.model.TableSchema;
import io.stele.runtime.SystemRuntime;
import io.stele.tabletserver.TabletServerMain;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/**
 * How long a cluster is without a master that answers when the active one of two is killed with
 * kill -9: ZooKeeper, two masters and a tablet server as processes, HDFS in this one. Either nobody
 * says that it has ended, and ZooKeeper has to end its session; or its lock is taken at once, as
 * the ApplicationMaster does when the NodeManager has seen the end.
 *
 * <p>Prints for each kill how long after it the lock was gone, another master was elected and said
 * where it serves, and a client had an answer that it had asked for before the kill was over. What
 * passes until the lock is gone is ZooKeeper's, the rest is ours.
 *
 * <pre>
 * java -cp ... io.stele.benchmarks.MasterFailover [tablets] [kills] [report | silent]
 * </pre>
 */
public final class MasterFailover {
  private static final Duration LOOK_EVERY = Duration.ofMillis(2);
  private static final Duration STANDS_BY = Duration.ofSeconds(8);

  private final Configuration conf = new Configuration();
  private final Path directory;
  private int masters;

  private MasterFailover(Path directory) {
    this.directory = directory;
  }

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    int tablets = args.length > 0 ? Integer.parseInt(args[0]) : 200;
    int kills = args.length > 1 ? Integer.parseInt(args[1]) : 4;
    boolean reports = args.length <= 2 || args[2].equals("report");
    new MasterFailover(Files.createTempDirectory("failover")).run(tablets, kills, reports);
    System.exit(0);
  }

  private void run(int tablets, int kills, boolean reports) throws Exception {
    Configuration hdfs = new Configuration();
    hdfs.set("hdfs.minidfs.basedir", Scratch.directory("failover-hdfs").toString());
    try (MiniDFSCluster files = new MiniDFSCluster.Builder(hdfs).numDataNodes(1).build();
        ZooKeeperProcess zookeeper =
            ZooKeeperProcess.start(directory.resolve("zk"), Duration.ofSeconds(2))) {
      conf.set("fs.defaultFS", files.getFileSystem().getUri().toString());
      conf.set("dfs.replication", "1");
      conf.set(Keys.ROOT_DIR.name(), files.getFileSystem().getUri() + "/stele");
      conf.set(Keys.ZOOKEEPER_QUORUM.name(), zookeeper.quorum());
      conf.set(Keys.CLIENT_TIMEOUT.name(), "120s");
      try (ServerProcesses servers = new ServerProcesses(directory, conf)) {
        startMaster(servers);
        servers.start("server", TabletServerMain.class, "-Xmx768m");
        try (LockService locks =
                CuratorLockService.connect(
                    SystemRuntime.INSTANCE, zookeeper.quorum(), "stele", Duration.ofSeconds(60));
            Stele client = Stele.connect(conf)) {
          List<Bytes> splits = new ArrayList<>();
          for (int i = 1; i < tablets; i++) {
            splits.add(Bytes.of(String.format("%06d", i)));
          }
          client.admin().createTable(TableSchema.of("t", "f"), splits);
          System.out.printf(
              "%d tablets; sessions end after %d s of silence%n",
              tablets, Keys.SESSION_TIMEOUT.in(conf).toSeconds());
          for (int kill = 1; kill <= kills; kill++) {
            startMaster(servers);
            TimeUnit.MILLISECONDS.sleep(STANDS_BY.toMillis());
            kill(kill, client, locks, servers, reports);
          }
        }
      }
    }
    System.out.println("logs in " + directory);
  }

  private void startMaster(ServerProcesses servers) throws IOException {
    servers.start("master-" + ++masters, MasterMain.class, "-Xmx256m");
  }

  private static void kill(
      int number, Stele client, LockService locks, ServerProcesses servers, boolean reports)
      throws Exception {
    client.admin().clusterStatus(); // Some master is active.
    VersionedData lock = locks.read(LockPaths.MASTER).orElseThrow();
    String active = MasterInfo.decode(lock.data()).process();
    long killed = System.nanoTime();
    servers.kill(active.substring(0, active.lastIndexOf('_')));
    if (reports) {
      locks.delete(LockPaths.MASTER, lock.version());
    }
    Stages stages = new Stages(killed, active);
    Thread watcher = new Thread(() -> stages.watch(locks), "watcher");
    watcher.start();
    int seen = client.admin().clusterStatus().tablets();
    long answered = Stages.millisSince(killed);
    watcher.join();
    System.out.printf(
        "kill %d, %s: lock gone after %d ms, elected %d ms, serves %d ms, answer of %d tablets %d ms: %d ms ours%n",
        number,
        reports ? "its end is reported" : "nobody says so",
        stages.gone,
        stages.elected,
        stages.serves,
        seen,
        answered,
        answered - stages.gone);
  }

  /** When the lock changed, as another client of ZooKeeper sees it; milliseconds after the kill. */
  private static final class Stages {
    private final long killedNanos;
    private final String dead;
    private volatile long gone = -1;
    private volatile long elected = -1;
    private volatile long serves = -1;

    Stages(long killedNanos, String dead) {
      this.killedNanos = killedNanos;
      this.dead = dead;
    }

    void watch(LockService locks) {
      try {
        while (serves < 0) {
          look(locks.read(LockPaths.MASTER));
          TimeUnit.MILLISECONDS.sleep(LOOK_EVERY.toMillis());
        }
      } catch (IOException | InterruptedException e) {
        throw new IllegalStateException("cannot see who is the master", e);
      }
    }

    private void look(Optional<VersionedData> lock) throws IOException {
      long now = millisSince(killedNanos);
      Optional<MasterInfo> holder = Optional.empty();
      if (lock.isPresent()) {
        holder = Optional.of(MasterInfo.decode(lock.get().data()));
      }
      if (holder.filter(info -> info.process().equals(dead)).isPresent()) {
        return;
      }
      if (gone < 0) {
        gone = now;
      }
      if (elected < 0 && holder.isPresent()) {
        elected = now;
      }
      if (holder.flatMap(MasterInfo::address).isPresent()) {
        serves = now;
      }
    }

    static long millisSince(long nanos) {
      return (System.nanoTime() - nanos) / 1_000_000;
    }
  }
}
