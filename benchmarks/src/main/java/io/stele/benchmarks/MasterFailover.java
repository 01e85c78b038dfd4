package io.stele.benchmarks;

import io.stele.client.Stele;
import io.stele.config.Keys;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.metadata.MasterInfo;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;

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

  private final ProcessCluster cluster;
  private final boolean reports;

  private MasterFailover(ProcessCluster cluster, boolean reports) {
    this.cluster = cluster;
    this.reports = reports;
  }

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    Arguments given = new Arguments(args);
    int tablets = given.number(0, 200);
    int kills = given.number(1, 4);
    Configuration settings = new Configuration();
    settings.set(Keys.CLIENT_TIMEOUT.name(), "120s");
    try (ProcessCluster cluster = new ProcessCluster("failover", 1, settings)) {
      cluster.startMaster();
      cluster.startServers(1, "-Xmx768m");
      try (Stele client = Stele.connect(cluster.conf())) {
        ProcessCluster.createTable(client, tablets);
        System.out.printf(
            "%d tablets; sessions end after %d s of silence%n",
            tablets, Keys.SESSION_TIMEOUT.in(settings).toSeconds());
        MasterFailover failover = new MasterFailover(cluster, given.isOrLeftOut(2, "report"));
        for (int kill = 1; kill <= kills; kill++) {
          failover.kill(kill, client);
        }
      }
    }
    System.exit(0);
  }

  private void kill(int number, Stele client) throws Exception {
    cluster.startMaster();
    TimeUnit.MILLISECONDS.sleep(STANDS_BY.toMillis());
    client.admin().clusterStatus(); // Some master is active.
    LockService locks = cluster.locks();
    VersionedData lock = locks.read(LockPaths.MASTER).orElseThrow();
    String active = MasterInfo.decode(lock.data()).process();
    long killed = System.nanoTime();
    cluster.kill(active.substring(0, active.lastIndexOf('_')));
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
