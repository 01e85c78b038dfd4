package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.files.HdfsClientDefaults;
import io.stele.lock.LockService;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/**
 * An HDFS of which the DataNodes are processes, so that one can be suspended, and the NameNode is
 * in this process. Servers read from it as they do outside of tests. For one thread.
 */
final class SeveralDataNodes implements AutoCloseable {
  private static final int REPLICATION = 3;

  private final MiniDFSCluster hdfs;
  private final List<DataNodeProcess> nodes = new ArrayList<>();

  /**
   * Starts them.
   *
   * @param directory for all of their files
   * @param nameNode settings of the NameNode beside the defaults, which the DataNodes have too
   */
  static SeveralDataNodes start(java.nio.file.Path directory, int count, Configuration nameNode)
      throws Exception {
    SeveralDataNodes started = new SeveralDataNodes(directory, nameNode);
    try {
      for (int i = 0; i < count; i++) {
        started.nodes.add(new DataNodeProcess(directory.resolve("dn" + i), started.conf()));
      }
      MiniStele.await("the DataNodes", () -> started.live() == count);
      return started;
    } catch (Exception e) {
      started.close();
      throw e;
    }
  }

  private SeveralDataNodes(java.nio.file.Path directory, Configuration nameNode)
      throws IOException {
    Configuration conf = new Configuration(nameNode);
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, directory.resolve("hdfs").toString());
    hdfs = new MiniDFSCluster.Builder(conf).numDataNodes(0).build();
  }

  private int live() {
    return hdfs.getNameNode().getNamesystem().getNumLiveDataNodes();
  }

  /** The settings of the NameNode. */
  Configuration conf() {
    return hdfs.getConfiguration(0);
  }

  /** The DataNode that was started first. */
  DataNodeProcess first() {
    return nodes.get(0);
  }

  /**
   * The DataNode with most of the files in a directory with that name, of which there is one that
   * has files. Of each file the last block counts, also while it is being written.
   */
  DataNodeProcess withMostOf(String directory) throws Exception {
    Map<String, Integer> count = new HashMap<>();
    RemoteIterator<LocatedFileStatus> files = hdfs.getFileSystem().listFiles(new Path("/"), true);
    while (files.hasNext()) {
      LocatedFileStatus file = files.next();
      BlockLocation[] blocks = file.getBlockLocations();
      if (file.getPath().getParent().getName().equals(directory) && blocks.length > 0) {
        for (String node : blocks[blocks.length - 1].getNames()) {
          count.merge(node, 1, Integer::sum);
        }
      }
    }
    DataNodeProcess most = nodes.get(0);
    for (DataNodeProcess node : nodes) {
      if (count.getOrDefault(node.address(), 0) > count.getOrDefault(most.address(), 0)) {
        most = node;
      }
    }
    assertThat(count).as("files in %s", directory).containsKey(most.address());
    return most;
  }

  /** Where servers and clients find this HDFS, and a lock service in memory. */
  Site site() {
    Configuration conf = new Configuration();
    conf.setInt("dfs.replication", REPLICATION);
    HdfsClientDefaults.hedgeReads(conf);
    MemoryLockStore locks = new MemoryLockStore();
    return new Site() {
      @Override
      public FileSystem mount() throws IOException {
        return FileSystem.newInstance(hdfs.getURI(), conf);
      }

      @Override
      public LockService connect() {
        return locks.connect();
      }

      @Override
      public void kill(FileSystem view, RandomGenerator random) {
        // Its files stay open, as those of a process whose host is gone.
      }
    };
  }

  @Override
  public void close() {
    nodes.forEach(DataNodeProcess::close);
    hdfs.shutdown(true);
  }
}
