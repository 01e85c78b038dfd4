package io.stele.benchmarks;

import io.stele.lock.LockService;
import io.stele.sim.MemoryLockStore;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import java.io.IOException;
import java.util.random.RandomGenerator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/** Where clusters in this process are that have their files in HDFS, and their locks in memory. */
final class HdfsCluster implements Site {
  private final Path root;
  private final Configuration conf;
  private final MemoryLockStore locks = new MemoryLockStore();

  private HdfsCluster(Path root, Configuration conf) {
    this.root = root;
    this.conf = conf;
  }

  /** Starts HDFS, one master and tablet servers, which run until the process ends. */
  static MiniStele start(String name, int servers) throws Exception {
    Configuration hadoop = new Configuration();
    hadoop.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, Scratch.directory(name).toString());
    MiniDFSCluster hdfs = new MiniDFSCluster.Builder(hadoop).numDataNodes(1).build();
    hdfs.waitActive();
    Configuration conf = MiniStele.quick(new Configuration(hdfs.getConfiguration(0)));
    return MiniStele.start(conf, new HdfsCluster(new Path(hdfs.getURI()), conf), servers, 1);
  }

  @Override
  public FileSystem mount() throws IOException {
    return FileSystem.newInstance(root.toUri(), conf);
  }

  @Override
  public LockService connect() {
    return locks.connect();
  }

  @Override
  public void kill(FileSystem view, RandomGenerator random) {
    // Nothing is killed here.
  }
}
