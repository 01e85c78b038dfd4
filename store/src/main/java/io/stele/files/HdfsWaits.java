package io.stele.files;

import org.apache.hadoop.conf.Configuration;

/**
 * How long the HDFS client waits before it asks the NameNode again whether a block has come.
 *
 * <p>A file can be closed, and a block be followed by the next one, once a DataNode has told the
 * NameNode that the block is whole. The DataNode tells the NameNode and the writer at the same
 * moment, so some writers ask a millisecond too early. By default it then sleeps for 400 ms: longer
 * than a small minor compaction takes, and longer than a tablet that moves should be away.
 */
public final class HdfsWaits {
  private static final String PREFIX = "dfs.client.block.write.locateFollowingBlock.";
  private static final String FIRST = PREFIX + "initial.delay.ms";
  private static final String FIRST_DEFAULT = "400";
  private static final String FIRST_MILLIS = "5"; // Each wait is twice the one before.
  private static final String RETRIES = PREFIX + "retries";
  private static final String RETRIES_DEFAULT = "5";
  private static final String RETRIES_MAX = "12"; // They take 20 s in all, HDFS's own 12 s.

  private HdfsWaits() {}

  /**
   * Lets writers ask soon, unless somebody has set how long they are to wait. HDFS's own default
   * counts as not set wherever it comes from: files of configuration are often written whole.
   */
  public static void shorten(Configuration conf) {
    if (conf.get(FIRST, FIRST_DEFAULT).equals(FIRST_DEFAULT)
        && conf.get(RETRIES, RETRIES_DEFAULT).equals(RETRIES_DEFAULT)) {
      conf.set(FIRST, FIRST_MILLIS);
      conf.set(RETRIES, RETRIES_MAX);
    }
  }
}
