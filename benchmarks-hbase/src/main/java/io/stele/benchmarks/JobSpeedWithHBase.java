package io.stele.benchmarks;

/**
 * {@link JobSpeed}, and the same jobs over tables of HBase, in the same process, on the same HDFS
 * and ZooKeeper.
 *
 * <pre>
 * java -cp ... io.stele.benchmarks.JobSpeedWithHBase [MB] [rounds] [job,...] [shuffled]
 * </pre>
 */
public final class JobSpeedWithHBase {
  private JobSpeedWithHBase() {}

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    JobSpeed.compare(args, HBasePeer::start);
  }
}
