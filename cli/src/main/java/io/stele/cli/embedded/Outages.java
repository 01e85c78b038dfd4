package io.stele.cli.embedded;

import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.hadoop.hdfs.server.blockmanagement.BlockManager;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.datanode.StorageLocation;

/**
 * Outages of the daemons in this JVM, as other processes ask for them. For one thread, which does
 * nothing else.
 */
final class Outages implements Runnable {
  private static final ProcessRuntime RUNTIME = SystemRuntime.INSTANCE;
  private static final Duration REPLICATED_MAX = Duration.ofSeconds(60);
  private static final Duration STARTED_MAX = Duration.ofSeconds(60);
  private static final Duration LOOK_EVERY = Duration.ofMillis(200);

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
          answer(wanted.get());
        } else {
          OutageRequests.pause();
        }
      }
    } catch (IOException e) {
      // Who asks is told nothing any more, and says so.
      System.err.println("There are no more outages: " + e);
    }
  }

  private void answer(OutageRequests.Wanted wanted) throws IOException {
    String which;
    try {
      which = fail(wanted);
    } catch (IOException | RuntimeException e) {
      e.printStackTrace(); // Into the log of the daemons.
      requests.failed(e.toString());
      return;
    }
    requests.over(which);
  }

  /** Returns which of several was away; empty if there is one. */
  private String fail(OutageRequests.Wanted wanted) throws IOException {
    switch (wanted.outage()) {
      case ZOOKEEPER -> {
        zookeeper.kill();
        sleep(wanted.time());
        zookeeper.start();
        return "";
      }
      case SILENT_ZOOKEEPER -> {
        zookeeper.stop();
        sleep(wanted.time());
        zookeeper.resume();
        return "";
      }
      case NAMENODE -> {
        hdfs.shutdownNameNode(0);
        sleep(wanted.time());
        hdfs.restartNameNode(0);
        return "";
      }
      case DATANODE -> {
        return stopDataNode(wanted, node -> {});
      }
      case DATANODE_DISK -> {
        awaitReplicated();
        return stopDataNode(wanted, Outages::empty);
      }
      case DISK_SPACE -> {
        FullDisks full = FullDisks.fill(hdfs);
        sleep(wanted.time());
        full.close();
        return "";
      }
      case QUOTA -> {
        setSpaceQuota(1);
        sleep(wanted.time());
        setSpaceQuota(HdfsConstants.QUOTA_RESET);
        return "";
      }
    }
    throw new IllegalArgumentException("unknown outage " + wanted.outage());
  }

  /** What is done to the configuration of a DataNode while it is away. */
  @FunctionalInterface
  private interface Meanwhile {
    void apply(Configuration node) throws IOException;
  }

  private String stopDataNode(OutageRequests.Wanted wanted, Meanwhile meanwhile)
      throws IOException {
    int which = wanted.which() % hdfs.getDataNodes().size();
    DataNode node = hdfs.getDataNodes().get(which);
    String name = node.getDatanodeId().getXferAddr();
    MiniDFSCluster.DataNodeProperties stopped = hdfs.stopDataNode(which);
    try {
      sleep(wanted.time());
      meanwhile.apply(node.getConf());
    } finally {
      hdfs.restartDataNode(stopped, true); // With the same port.
      awaitStarted();
    }
    return name;
  }

  /** Waits until every DataNode has its disks and has told the NameNode what is on them. */
  private void awaitStarted() throws IOException {
    Deadline deadline = Deadline.after(RUNTIME, STARTED_MAX);
    while (!hdfs.getDataNodes().stream().allMatch(DataNode::isDatanodeFullyStarted)) {
      if (deadline.isOver()) {
        throw new IOException("a DataNode has not started within " + STARTED_MAX);
      }
      sleep(LOOK_EVERY);
    }
  }

  private static void empty(Configuration node) throws IOException {
    for (StorageLocation disk : DataNode.getStorageLocations(node)) {
      FileUtil.fullyDeleteContents(new File(disk.getUri()));
    }
  }

  /** Waits until each block is on as many DataNodes as it should be. */
  private void awaitReplicated() throws IOException {
    if (hdfs.getDataNodes().size() == 1) {
      throw new IOException("the only DataNode has the only replica of each block");
    }
    Deadline deadline = Deadline.after(RUNTIME, REPLICATED_MAX);
    BlockManager blocks = hdfs.getNamesystem().getBlockManager();
    while (true) {
      long missing =
          blocks.getLowRedundancyBlocksCount() + blocks.getPendingReconstructionBlocksCount();
      if (missing == 0) {
        return;
      }
      if (deadline.isOver()) {
        throw new IOException(missing + " blocks are on fewer DataNodes than they should be");
      }
      sleep(LOOK_EVERY);
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
