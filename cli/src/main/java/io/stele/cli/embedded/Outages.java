package io.stele.cli.embedded;

import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;

/**
 * Outages of the daemons in this JVM, as other processes ask for them. For one thread, which does
 * nothing else.
 */
final class Outages implements Runnable {
  private static final ProcessRuntime RUNTIME = SystemRuntime.INSTANCE;

  private final OutageRequests requests;
  private final MiniDFSCluster hdfs;
  private final EmbeddedZooKeeper zookeeper;

  Outages(Path directory, MiniDFSCluster hdfs, EmbeddedZooKeeper zookeeper) {
    this.requests = new OutageRequests(directory);
    this.hdfs = hdfs;
    this.zookeeper = zookeeper;
  }

  @Override
  public void run() {
    try {
      while (true) {
        Optional<OutageRequests.Wanted> wanted = requests.next();
        if (wanted.isPresent()) {
          requests.over(fail(wanted.get()));
        } else {
          OutageRequests.pause();
        }
      }
    } catch (IOException e) {
      // Who asks is told nothing any more, and says so.
      System.err.println("There are no more outages: " + e);
    }
  }

  /** Returns why it could not. */
  private Optional<String> fail(OutageRequests.Wanted wanted) {
    try {
      switch (wanted.outage()) {
        case ZOOKEEPER -> {
          zookeeper.stop();
          sleep(wanted.time());
          zookeeper.start();
        }
        case NAMENODE -> {
          hdfs.shutdownNameNode(0);
          sleep(wanted.time());
          hdfs.restartNameNode(0);
        }
        case DATANODE -> {
          MiniDFSCluster.DataNodeProperties stopped = hdfs.stopDataNode(0);
          sleep(wanted.time());
          hdfs.restartDataNode(stopped, true); // With the same port.
        }
        case DISK_SPACE -> {
          FullDisks full = FullDisks.fill(hdfs);
          sleep(wanted.time());
          full.close();
        }
        case QUOTA -> {
          setSpaceQuota(1);
          sleep(wanted.time());
          setSpaceQuota(HdfsConstants.QUOTA_RESET);
        }
      }
      return Optional.empty();
    } catch (IOException | RuntimeException e) {
      e.printStackTrace(); // Into the log of the daemons.
      return Optional.of(e.toString());
    }
  }

  private void setSpaceQuota(long bytes) throws IOException {
    hdfs.getFileSystem()
        .setQuota(new org.apache.hadoop.fs.Path("/"), HdfsConstants.QUOTA_DONT_SET, bytes);
  }

  private static void sleep(Duration time) throws IOException {
    try {
      RUNTIME.sleep(time);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "waiting for the end of an outage");
    }
  }
}
