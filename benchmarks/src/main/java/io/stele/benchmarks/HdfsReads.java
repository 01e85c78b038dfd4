package io.stele.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Locale;
import java.util.SplittableRandom;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/**
 * What it costs to read a file of HDFS from front to back: in its stream, or at positions, with
 * HDFS's checksums or without. One thread, one DataNode in this process, whose CPU time counts too.
 *
 * <pre>
 * java -cp ... io.stele.benchmarks.HdfsReads [MB] [rounds]
 * </pre>
 */
public final class HdfsReads {
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private static final Path FILE = new Path("/file");

  private HdfsReads() {}

  /** A way to read. */
  private enum Way {
    STREAM_256K(256 << 10, true, true),
    STREAM_256K_UNCHECKED(256 << 10, true, false),
    STREAM_4M(4 << 20, true, true),
    POSITIONS_1M(1 << 20, false, true),
    POSITIONS_1M_UNCHECKED(1 << 20, false, false);

    private final int window;
    private final boolean inStream;
    private final boolean checked;

    Way(int window, boolean inStream, boolean checked) {
      this.window = window;
      this.inStream = inStream;
      this.checked = checked;
    }

    void read(DistributedFileSystem fs, long length) throws IOException {
      byte[] buffer = new byte[window];
      fs.setVerifyChecksum(checked);
      try (FSDataInputStream in = fs.open(FILE)) {
        for (long at = 0; at < length; at += window) {
          int count = (int) Math.min(window, length - at);
          if (inStream) {
            in.readFully(buffer, 0, count);
          } else {
            in.readFully(at, buffer, 0, count);
          }
        }
      }
    }
  }

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    int megabytes = args.length > 0 ? Integer.parseInt(args[0]) : 300;
    int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 5;
    Configuration conf = new Configuration();
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, Scratch.directory("hdfs-reads").getPath());
    MiniDFSCluster hdfs = new MiniDFSCluster.Builder(conf).numDataNodes(1).build();
    hdfs.waitActive();
    DistributedFileSystem fs = hdfs.getFileSystem();
    byte[] piece = new byte[1_000_000];
    new SplittableRandom(1).nextBytes(piece);
    try (FSDataOutputStream out = fs.create(FILE)) {
      for (int i = 0; i < megabytes; i++) {
        out.write(piece);
      }
    }
    for (int round = 0; round <= rounds; round++) {
      for (Way way : Way.values()) {
        long cpu = SYSTEM.getProcessCpuTime();
        way.read(fs, megabytes * (long) piece.length);
        double millis = (SYSTEM.getProcessCpuTime() - cpu) / 1e6;
        System.out.printf(
            Locale.ROOT, "round %d %-22s %.2f ms CPU a MB%n", round, way, millis / megabytes);
      }
    }
    System.exit(0);
  }
}
