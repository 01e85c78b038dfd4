package io.stele.config;

import java.time.Duration;
import org.apache.hadoop.conf.Configuration;

/**
 * The configuration of a tablet server.
 *
 * @param cluster where the data and the lock service are
 * @param port of the data plane; 0: any free one
 * @param controlPort of the control plane; 0: any free one
 * @param handlers threads for requests that may block on files
 * @param memtableBytes a tablet whose memtable grows above this makes a minor compaction
 * @param cacheHeapBytes limit of the cache on the heap
 * @param cacheOffHeapBytes limit of the cache off the heap
 * @param logSegmentBytes a commit-log segment is closed at this size
 * @param logReplicasMin a write is acknowledged when this many replicas of the log have it
 * @param logSegmentsMax with more segments, tablets that hold the oldest make minor compactions
 * @param logAgeMax tablets with older records that are only in the log make minor compactions, too
 * @param compactionThreads merging and major compactions at once; METADATA has the same number
 *     again
 * @param compactionBytesPerSecond the bytes that those of user tablets may read together; 0: no
 *     limit
 * @param garbageInterval deleted and expired cells are gone from SSTables after about this time
 * @param operationsWindow a client silent this long is forgotten
 * @param clockSkewMax how far the clock may be from the lock service's
 * @param metadataSplitBytes a tablet of METADATA whose SSTables are larger is split
 * @param memory what each use of memory may have
 */
public record TabletServerConfig(
    ClusterConfig cluster,
    int port,
    int controlPort,
    int handlers,
    long memtableBytes,
    long cacheHeapBytes,
    long cacheOffHeapBytes,
    long logSegmentBytes,
    int logReplicasMin,
    int logSegmentsMax,
    Duration logAgeMax,
    int compactionThreads,
    long compactionBytesPerSecond,
    Duration garbageInterval,
    Duration operationsWindow,
    Duration clockSkewMax,
    long metadataSplitBytes,
    MemoryPlan memory) {
  /**
   * Reads all {@code stele.*} keys of {@code conf}, and checks them, also against the memory {@code
   * given}.
   *
   * @throws io.stele.model.SteleException REFUSED where something is wrong, or does not fit
   */
  public static TabletServerConfig of(Configuration conf, ProcessMemory given) {
    return new TabletServerConfig(
        ClusterConfig.of(conf),
        Keys.TABLETSERVER_PORT.in(conf),
        Keys.TABLETSERVER_CONTROL_PORT.in(conf),
        Keys.TABLETSERVER_HANDLERS.in(conf),
        Keys.MEMTABLE_BYTES.in(conf),
        Keys.CACHE_BYTES.in(conf) - cacheOffHeapBytes(conf),
        cacheOffHeapBytes(conf),
        Keys.LOG_SEGMENT_BYTES.in(conf),
        Keys.LOG_REPLICAS_MIN.in(conf),
        Keys.LOG_SEGMENTS_MAX.in(conf),
        Keys.LOG_AGE_MAX.in(conf),
        Keys.COMPACTION_THREADS.in(conf),
        Keys.COMPACTION_RATE.in(conf),
        Keys.GARBAGE_INTERVAL.in(conf),
        Keys.OPERATIONS_WINDOW.in(conf),
        Keys.CLOCK_SKEW_MAX.in(conf),
        Keys.METADATA_SPLIT_BYTES.in(conf),
        MemoryPlan.of(conf, given));
  }

  /** The part of the cache in {@code conf} that is off the heap, in bytes. */
  public static long cacheOffHeapBytes(Configuration conf) {
    return Keys.CACHE_BYTES.in(conf) / 100 * Keys.CACHE_OFF_HEAP_PERCENT.in(conf);
  }
}
