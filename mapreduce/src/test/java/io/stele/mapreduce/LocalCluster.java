package io.stele.mapreduce;

import io.stele.client.Stele;
import io.stele.config.Keys;
import io.stele.lock.CuratorLockService;
import io.stele.lock.LockService;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableDisk;
import io.stele.sim.CrashableFileSystem;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import java.io.IOException;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.apache.curator.test.TestingServer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;

/**
 * A cluster in this JVM, its files in memory, its lock service ZooKeeper, so that the tasks of
 * MapReduce's local runner find it as they would any other.
 */
public final class LocalCluster implements AutoCloseable {
  private final TestingServer zookeeper;
  private final Configuration conf;
  private final MiniStele stele;

  /** Starts a cluster of one master and {@code tabletServers}. */
  public LocalCluster(int tabletServers) throws Exception {
    zookeeper = new TestingServer();
    conf = MiniStele.quick(new Configuration());
    HdfsCluster.seeEndsOfJobsAtOnce(conf);
    conf.set(Keys.SESSION_TIMEOUT.name(), "20s"); // No server dies here, however slow all is.
    conf.set(Keys.LEASE.name(), "10s");
    conf.set(Keys.ZOOKEEPER_QUORUM.name(), zookeeper.getConnectString());
    stele = MiniStele.start(conf, site(), tabletServers, 1);
  }

  private Site site() {
    CrashableDisk disk = new CrashableDisk();
    Duration session = Keys.SESSION_TIMEOUT.in(conf);
    return new Site() {
      @Override
      public FileSystem mount() {
        return disk.mount();
      }

      @Override
      public LockService connect() throws IOException {
        return CuratorLockService.connect(
            SystemRuntime.INSTANCE,
            zookeeper.getConnectString(),
            Keys.CLUSTER_NAME.in(conf),
            session);
      }

      @Override
      public void kill(FileSystem view, RandomGenerator random) {
        disk.kill((CrashableFileSystem) view, random);
      }
    };
  }

  /** What a program's stele-site.xml would say. */
  public Configuration conf() {
    return new Configuration(conf);
  }

  /** The cluster. */
  public MiniStele stele() {
    return stele;
  }

  /** A client of it; closed with it. */
  public Stele client() {
    return stele.client();
  }

  @Override
  public void close() throws IOException {
    stele.close();
    zookeeper.close();
  }
}
