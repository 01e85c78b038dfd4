package io.stele.master;

import io.stele.config.ClusterConfig;
import io.stele.files.HdfsClientDefaults;
import io.stele.lock.CuratorLockService;
import io.stele.model.SteleException;
import io.stele.runtime.Futures;
import io.stele.runtime.SystemRuntime;
import io.stele.wire.NetworkTransport;
import io.stele.wire.Transport;
import java.net.InetAddress;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A process that is the active master or waits to become it. Exits with 0 when asked to stop
 * (SIGTERM), with 1 when it cannot start or loses its lock.
 *
 * <p>Environment: {@code STELE_CONF} is a configuration file to read besides those on the class
 * path; {@code NM_HOST} the host under which others reach it.
 */
public final class MasterMain {
  private MasterMain() {}

  /** Starts it; takes no arguments. */
  public static void main(String[] args) {
    int status = 1;
    try {
      run();
    } catch (ExecutionException e) {
      System.err.println("The master stops: " + Futures.cause(e).getMessage());
    } catch (SteleException e) {
      System.err.println("The master cannot run: " + e.getMessage());
    } catch (Throwable t) {
      // Others (ZooKeeper's) may have set a handler that hides what ends the main thread.
      System.err.println("The master cannot run: " + t.getMessage());
      t.printStackTrace();
    }
    // Never 0 from here: a requested stop comes as a signal.
    System.exit(status);
  }

  @SuppressWarnings("try") // At exit the block below has not ended: what it holds is closed first.
  private static void run() throws Exception {
    Configuration conf = new Configuration();
    conf.addResource("stele-site.xml");
    String extra = System.getenv("STELE_CONF");
    if (extra != null) {
      conf.addResource(new Path("file://" + extra));
    }
    HdfsClientDefaults.hedgeReads(conf);
    HdfsClientDefaults.shortenWaits(conf);
    ClusterConfig cluster = ClusterConfig.of(conf);
    String nodeHost = System.getenv("NM_HOST");
    String host = nodeHost == null ? InetAddress.getLocalHost().getCanonicalHostName() : nodeHost;
    FileSystem fs = cluster.root().getFileSystem(conf);
    try (CuratorLockService locks =
            CuratorLockService.connectServer(SystemRuntime.INSTANCE, cluster);
        Transport transport = new NetworkTransport(conf, SystemRuntime.INSTANCE, host);
        Applications applications = Applications.find(conf, SystemRuntime.INSTANCE);
        Master master =
            Master.start(
                new Master.Environment(
                    conf,
                    SystemRuntime.INSTANCE,
                    fs,
                    locks,
                    transport,
                    Optional.ofNullable(System.getenv("CONTAINER_ID")),
                    applications))) {
      SystemRuntime.atExit(
          "master-shutdown",
          () -> {
            master.close();
            locks.close();
          });
      SystemRuntime.INSTANCE.await(master.ended());
    }
  }
}
