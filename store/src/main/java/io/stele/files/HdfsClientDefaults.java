package io.stele.files;

import org.apache.hadoop.conf.Configuration;

/**
 * Settings of the HDFS client for which Stele's processes have other defaults than HDFS.
 *
 * <p>A setting that has HDFS's default counts as not set, wherever it comes from: files of
 * configuration are often written whole. So call these once all resources have been added.
 */
public final class HdfsClientDefaults {
  private static final String WAITS = "dfs.client.block.write.locateFollowingBlock.";
  private static final String FIRST_WAIT = WAITS + "initial.delay.ms";
  private static final int FIRST_WAIT_DEFAULT = 400;
  private static final int FIRST_WAIT_MILLIS = 5; // Each wait is twice the one before.
  private static final String WAIT_COUNT = WAITS + "retries";
  private static final int WAIT_COUNT_DEFAULT = 5;
  private static final int WAIT_COUNT_MAX = 12; // They take 20 s in all, HDFS's own 12 s.
  private static final String CONNECTS = "ipc.client.connect.max.retries.on.timeouts";
  private static final int CONNECTS_DEFAULT = 45; // Of 20 s each.
  private static final int CONNECTS_MAX = 1;
  private static final String HDFS_CLASS = "fs.hdfs.impl";
  private static final String PACKETS = "dfs.client.write.max-packets-in-flight";
  private static final int PACKETS_DEFAULT = 80;
  private static final int PACKETS_BESIDE = 2; // One that waits beyond the limit, one being filled.
  private static final int PACKETS_UNDER_WAY_MIN = 2;
  private static final int PACKETS_HELD_MIN = PACKETS_UNDER_WAY_MIN + PACKETS_BESIDE;
  private static final String PACKET_BYTES = "dfs.client-write-packet-size";
  private static final int PACKET_BYTES_DEFAULT = 64 << 10;
  private static final int PACKET_BYTES_MAX = 480 << 10;
  private static final String CHUNK_BYTES = "dfs.bytes-per-checksum";
  private static final int CHUNK_BYTES_DEFAULT = 512;
  private static final int CHUNK_BYTES_MAX = 4 << 10;
  private static final String BLOCK_BYTES = "dfs.blocksize";
  private static final long BLOCK_BYTES_DEFAULT = 128L << 20;

  private HdfsClientDefaults() {}

  /**
   * Shortens how long the client waits before it asks the NameNode again whether a block has come.
   *
   * <p>A file can be closed, and a block be followed by the next one, once a DataNode has told the
   * NameNode that the block is whole. The DataNode tells the NameNode and the writer at the same
   * moment, so some writers ask a millisecond too early. By default the client then sleeps for 400
   * ms: longer than a small minor compaction takes, and longer than a tablet that moves should be
   * away.
   *
   * <p>And shortens how long it tries to connect to a process whose host is gone. By default that
   * takes 15 minutes. A NameNode that is away is called again by Stele itself.
   */
  public static void shortenWaits(Configuration conf) {
    if (isDefault(conf, FIRST_WAIT, FIRST_WAIT_DEFAULT)
        && isDefault(conf, WAIT_COUNT, WAIT_COUNT_DEFAULT)) {
      conf.setInt(FIRST_WAIT, FIRST_WAIT_MILLIS);
      conf.setInt(WAIT_COUNT, WAIT_COUNT_MAX);
    }
    replaceDefault(conf, CONNECTS, CONNECTS_DEFAULT, CONNECTS_MAX);
  }

  /**
   * Has files written in larger steps: packets of up to 480 KiB, by default 64, and a checksum for
   * each 4 KiB, by default 512 bytes. Each packet passes through four threads of the writer and of
   * each DataNode, and each checksum is a call of its own at every one of them. A packet has what
   * one batch of a client brings, and is a little less than half of G1's smallest region: a larger
   * array would take regions of its own.
   *
   * <p>A block must be a multiple of what has one checksum, or HDFS creates no file: so that stays
   * where blocks have another size.
   *
   * @param heldBytes how many bytes of packets the client may hold of a file being written: four or
   *     more, which are the smaller the less that is, and no smaller than by default
   */
  public static void writeInLargeSteps(Configuration conf, long heldBytes) {
    long fair = Math.min(PACKET_BYTES_MAX, heldBytes / PACKETS_HELD_MIN);
    int packet = Math.toIntExact(Math.max(PACKET_BYTES_DEFAULT, fair));
    replaceDefault(conf, PACKET_BYTES, PACKET_BYTES_DEFAULT, packet);
    if (conf.getLongBytes(BLOCK_BYTES, BLOCK_BYTES_DEFAULT) % CHUNK_BYTES_MAX == 0) {
      replaceDefault(conf, CHUNK_BYTES, CHUNK_BYTES_DEFAULT, CHUNK_BYTES_MAX);
    }
    long held = heldBytes / conf.getInt(PACKET_BYTES, packet);
    int packets = Math.toIntExact(Math.max(PACKETS_UNDER_WAY_MIN, held - PACKETS_BESIDE));
    replaceDefault(conf, PACKETS, PACKETS_DEFAULT, packets);
  }

  /**
   * Has reads go on where a DataNode hangs ({@link HedgedHdfs}), unless another class is configured
   * for HDFS.
   */
  public static void hedgeReads(Configuration conf) {
    conf.setIfUnset(HDFS_CLASS, HedgedHdfs.class.getName());
  }

  /** How many bytes of a file have one checksum. */
  static int chunkBytes(Configuration conf) {
    return conf.getInt(CHUNK_BYTES, CHUNK_BYTES_DEFAULT);
  }

  /** Sets {@code name} to what is {@code better}, if it is not set, or to HDFS's default. */
  static void replaceDefault(Configuration conf, String name, int value, int better) {
    if (isDefault(conf, name, value)) {
      conf.setInt(name, better);
    }
  }

  private static boolean isDefault(Configuration conf, String name, int value) {
    return conf.getInt(name, value) == value;
  }
}
