package io.stele.benchmarks;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/**
 * A file system to measure on, with an empty directory in it: the local one, or an HDFS of one
 * DataNode in this process. Closing it deletes what was written.
 */
final class BenchmarkFiles implements Closeable {
  private final java.nio.file.Path scratch;
  private final Optional<MiniDFSCluster> cluster;
  private final FileSystem fs;
  private final Path root;

  private BenchmarkFiles(
      java.nio.file.Path scratch, Optional<MiniDFSCluster> cluster, FileSystem fs, Path root) {
    this.scratch = scratch;
    this.cluster = cluster;
    this.fs = fs;
    this.root = root;
  }

  /** {@code local}, or {@code hdfs}. */
  static BenchmarkFiles open(String kind) throws IOException {
    java.nio.file.Path scratch = Files.createTempDirectory("stele-benchmark");
    Configuration conf = new Configuration();
    switch (kind) {
      case "local" -> {
        FileSystem local = FileSystem.getLocal(conf).getRawFileSystem();
        return new BenchmarkFiles(
            scratch, Optional.empty(), local, new Path(scratch.toUri().getPath(), "stele"));
      }
      case "hdfs" -> {
        conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, scratch.toString());
        conf.setInt("dfs.replication", 1);
        MiniDFSCluster cluster = new MiniDFSCluster.Builder(conf).numDataNodes(1).build();
        cluster.waitActive();
        return new BenchmarkFiles(
            scratch, Optional.of(cluster), cluster.getFileSystem(), new Path("/stele"));
      }
      default -> throw new IllegalArgumentException("local or hdfs, not " + kind);
    }
  }

  FileSystem fs() {
    return fs;
  }

  Path root() {
    return root;
  }

  @Override
  public void close() throws IOException {
    cluster.ifPresent(dfs -> dfs.shutdown(true));
    FileUtil.fullyDelete(scratch.toFile());
  }
}
