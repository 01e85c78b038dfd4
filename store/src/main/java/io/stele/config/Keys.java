package io.stele.config;

import static java.time.Duration.ofDays;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;

import io.stele.model.SteleException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;

/**
 * Every configuration key of Stele. A setting that no operator would change is a constant
 * elsewhere.
 */
public final class Keys {
  private static final long KIB = 1L << 10;
  private static final long MIB = 1L << 20;
  private static final long GIB = 1L << 30;
  private static final int LETTERS_OFF_MAX = 2;

  public static final Key<String> CLUSTER_NAME =
      Key.text(
          "stele.cluster.name",
          "stele",
          "The cluster's name. Its nodes in ZooKeeper are below /stele/NAME.");

  public static final Key<String> ROOT_DIR =
      Key.text(
          "stele.root.dir",
          "/stele",
          "The directory of all data, on fs.defaultFS unless the path names another file system.");

  public static final Key<String> ZOOKEEPER_QUORUM =
      Key.text(
          "stele.zookeeper.quorum",
          "localhost:2181",
          "ZooKeeper servers, host:port, separated by commas.");

  public static final Key<Duration> SESSION_TIMEOUT =
      Key.time(
          "stele.zookeeper.session.timeout",
          "10s",
          ofSeconds(1),
          ofMinutes(5),
          "A server that ZooKeeper has not heard from for this long loses its lock.");

  public static final Key<Long> SORT_BYTES_MIN =
      Key.size(
          "stele.master.sort.bytes.min",
          "1m",
          0,
          Long.MAX_VALUE,
          "The log of a dead tablet server is sorted by tablet before its tablets are loaded, if it"
              + " has at least this many bytes.");

  /** The longest lease that a server may have. */
  public static final Duration LEASE_MAX = ofMinutes(5);

  public static final Key<Duration> LEASE =
      Key.time(
          "stele.tabletserver.lease",
          "6s",
          ofSeconds(1),
          LEASE_MAX,
          "A tablet server answers only while its last successful write to ZooKeeper is younger"
              + " than this, and younger than 0.6 of the session timeout; less after it was"
              + " suspended. At most the session timeout.");

  public static final Key<Integer> TABLETSERVER_PORT =
      Key.number(
          "stele.tabletserver.port", 0, 0, 65535, "Port of the data plane; 0: any free one.");

  public static final Key<Integer> TABLETSERVER_CONTROL_PORT =
      Key.number(
          "stele.tabletserver.control.port",
          0,
          0,
          65535,
          "Port of the control plane; 0: any free one.");

  public static final Key<Integer> TABLETSERVER_HANDLERS =
      Key.number(
          "stele.tabletserver.handlers",
          16,
          1,
          1024,
          "Threads for writes. Reads of one row have another pool of this size, scans one of half"
              + " the size. METADATA has its own threads, in the same numbers.");

  public static final Key<Long> MEMTABLE_BYTES =
      Key.size(
          "stele.tabletserver.memtable.bytes",
          "64m",
          4 * KIB,
          4 * GIB,
          "A tablet makes a minor compaction when its memtable grows above this.");

  public static final Key<Long> MEMTABLE_TOTAL_BYTES =
      Key.sizeOrDerived(
          "stele.tabletserver.memtable.total.bytes",
          MIB,
          256 * GIB,
          "Limit for all memtables of a server together. Above three fifths of it the largest are"
              + " compacted, above four fifths writes are delayed, and at the limit writes are"
              + " answered 'retry later'. 0: a quarter of the heap, or half of what other uses"
              + " leave, if that is less.");

  public static final Key<Long> CACHE_BYTES =
      Key.size(
          "stele.tabletserver.cache.bytes",
          "128m",
          MIB,
          256 * GIB,
          "Memory for SSTable contents, on and off the heap: blocks, single rows, files of"
              + " in-memory locality groups.");

  public static final Key<Integer> CACHE_OFF_HEAP_PERCENT =
      Key.number(
          "stele.tabletserver.cache.offheap.percent",
          50,
          0,
          90,
          "The part of the cache that is off the heap. It keeps blocks compressed, as they are in"
              + " their files.");

  public static final Key<Long> LOG_SEGMENT_BYTES =
      Key.size(
          "stele.tabletserver.log.segment.bytes",
          "64m",
          4 * KIB,
          GIB,
          "A segment of the commit log is closed when it reaches this size.");

  public static final Key<Integer> LOG_REPLICAS_MIN =
      Key.number(
          "stele.tabletserver.log.replicas.min",
          2,
          1,
          64,
          "A write is acknowledged only once this many DataNodes have it, or all of them if"
              + " dfs.replication is less. With fewer DataNodes than this nothing is written, and"
              + " tablet servers do not start.");

  public static final Key<Integer> LOG_SEGMENTS_MAX =
      Key.number(
          "stele.tabletserver.log.segments.max",
          8,
          2,
          1024,
          "When the log has more segments than this, the tablets that need the oldest segment make"
              + " minor compactions.");

  public static final Key<Duration> LOG_AGE_MAX =
      Key.time(
          "stele.tabletserver.log.age.max",
          "1h",
          ofMillis(100),
          ofDays(7),
          "Records older than this are written to SSTables, so that an idle tablet does not keep"
              + " log segments forever.");

  public static final Key<Integer> COMPACTION_THREADS =
      Key.number(
          "stele.tabletserver.compaction.threads",
          2,
          1,
          64,
          "Merging and major compactions that run at once. METADATA has the same number in"
              + " addition.");

  public static final Key<Long> COMPACTION_RATE =
      Key.size(
          "stele.tabletserver.compaction.rate",
          "100m",
          0,
          1024 * GIB,
          "Bytes per second that merging and major compactions of a server may read, so that they"
              + " barely slow reads and writes; 0: no limit. A compaction of a tablet with too many"
              + " SSTables does not wait.");

  public static final Key<Duration> GARBAGE_INTERVAL =
      Key.time(
          "stele.tabletserver.garbage.interval",
          "24h",
          ofSeconds(1),
          ofDays(365),
          "Deleted and expired cells stay in SSTables for about this long at most; then a major"
              + " compaction removes them. Versions that only a stricter policy makes garbage may"
              + " stay seven times as long.");

  public static final Key<Long> VALUE_BYTES_MAX =
      Key.sizeOrDerived(
          "stele.value.bytes.max",
          KIB,
          100 * MIB, // A page must have room for one such value after a part of a row.
          "Largest value of one cell; 0: as much as the memory of a tablet server allows, up to"
              + " 100m.");

  public static final Key<Duration> OPERATIONS_WINDOW =
      Key.time(
          "stele.operations.window",
          "1h",
          ofMinutes(1),
          ofDays(7),
          "A client that sends no writes for this long is forgotten: its retries are then refused"
              + " instead of applied. While operations and clients take more than"
              + " stele.operations.bytes, a sixth of this is enough, but at least ten minutes.");

  public static final Key<Long> OPERATIONS_BYTES =
      Key.sizeOrDerived(
          "stele.operations.bytes",
          64 * KIB,
          16 * GIB,
          "Memory in which a server's tablets remember clients and their operations, to recognize"
              + " retries. Above it, tablets that use more than an even share forget clients that"
              + " have been silent for a while, and the oldest operations of others, so the memory"
              + " is at most twice this. 0: a 32nd of the heap. A retry of a forgotten operation is"
              + " refused.");

  public static final Key<Duration> CLOCK_SKEW_MAX =
      Key.time(
          "stele.clock.skew.max",
          "30s",
          ofSeconds(1),
          ofHours(1),
          "A tablet server whose clock differs more than this from ZooKeeper's does not start; a"
              + " running one expires no cells until the clocks agree again.");

  public static final Key<Integer> MASTER_PORT =
      Key.number(
          "stele.master.port", 0, 0, 65535, "Port of the master's control plane; 0: any free one.");

  public static final Key<Duration> QUARANTINE_RETRY =
      Key.time(
          "stele.master.quarantine.retry",
          "1m",
          ofMillis(100),
          ofHours(24),
          "A tablet in quarantine is tried again after this time. The time doubles with each"
              + " further failure, up to 60 times this.");

  public static final Key<Duration> SWEEP_INTERVAL =
      Key.time(
          "stele.master.sweep.interval",
          "5m",
          ofMillis(100),
          ofHours(24),
          "How often the master looks for unneeded SSTables and logs, and deletes them.");

  public static final Key<Duration> SWEEP_GRACE =
      Key.time(
          "stele.master.sweep.grace",
          "10m",
          ofMillis(0),
          ofDays(7),
          "An SSTable is deleted no sooner than this after the master has first seen that no tablet"
              + " needs it. A single read request must not take longer; a scan or a job may.");

  public static final Key<Duration> MERGE_AFTER =
      Key.time(
          "stele.master.merge.after",
          "6h",
          ofMillis(0),
          ofDays(365),
          "Two neighbouring tablets are merged when they have been small, with few requests, for"
              + " this long, unless balancing is off. 0s: only on request.");

  public static final Key<Long> HOT_SPLIT_BYTES_MIN =
      Key.size(
          "stele.master.hot.split.bytes.min",
          "64m",
          4 * KIB,
          Long.MAX_VALUE,
          "A tablet that gets too many requests for one server is split if its SSTables have at"
              + " least this many bytes.");

  public static final Key<Long> METADATA_SPLIT_BYTES =
      Key.size(
          "stele.metadata.split.bytes",
          "64m",
          4 * KIB,
          GIB,
          "A tablet of METADATA is split when its SSTables are larger than this.");

  public static final Key<Duration> CLIENT_TIMEOUT =
      Key.time(
          "stele.client.timeout",
          "60s",
          ofMillis(10),
          ofHours(1),
          "An operation is retried until this much time has passed, then fails.");

  public static final Key<Long> CLIENT_BUFFER_BYTES =
      Key.size(
          "stele.client.buffer.bytes",
          "8m",
          KIB,
          GIB,
          "Bytes that a BatchWriter buffers before its callers must wait.");

  public static final Key<String> YARN_QUEUE =
      Key.text("stele.yarn.queue", "default", "The YARN queue that Stele runs in.");

  public static final Key<Long> YARN_AM_MEMORY =
      Key.size(
          "stele.yarn.am.memory",
          "384m",
          384 * MIB,
          16 * GIB,
          "Memory of the ApplicationMaster's container.");

  public static final Key<String> YARN_AM_JVM_OPTIONS =
      Key.text(
          "stele.yarn.am.jvm.options",
          "",
          "Added to the ApplicationMaster's java command, after our own options.");

  public static final Key<Integer> YARN_MASTER_COUNT =
      Key.number(
          "stele.yarn.master.count",
          1,
          1,
          9,
          "Masters to run: one is active; another takes over if it fails.");

  public static final Key<Long> YARN_MASTER_MEMORY =
      Key.size(
          "stele.yarn.master.memory",
          "512m",
          384 * MIB,
          256 * GIB,
          "Memory of a master's container.");

  public static final Key<Integer> YARN_MASTER_VCORES =
      Key.number("stele.yarn.master.vcores", 1, 1, 256, "Virtual cores of a master.");

  public static final Key<String> YARN_MASTER_JVM_OPTIONS =
      Key.text(
          "stele.yarn.master.jvm.options",
          "",
          "Added to a master's java command, after our own options.");

  public static final Key<Integer> YARN_TABLETSERVER_COUNT =
      Key.number("stele.yarn.tabletserver.count", 2, 0, 100_000, "Tablet servers to run.");

  public static final Key<Long> YARN_TABLETSERVER_MEMORY =
      Key.size(
          "stele.yarn.tabletserver.memory",
          "1g",
          128 * MIB,
          1024 * GIB,
          "Memory of a tablet server's container: the heap, and what Java and the network need in"
              + " addition. With the default cache it must be at least 532m; with"
              + " stele.tabletserver.cache.bytes=8m, 384m.");

  public static final Key<Integer> YARN_TABLETSERVER_VCORES =
      Key.number("stele.yarn.tabletserver.vcores", 1, 1, 256, "Virtual cores of a tablet server.");

  public static final Key<String> YARN_TABLETSERVER_JVM_OPTIONS =
      Key.text(
          "stele.yarn.tabletserver.jvm.options",
          "",
          "Added to a tablet server's java command, after our own options.");

  public static final Key<Duration> YARN_NODE_WAIT =
      Key.time(
          "stele.yarn.node.wait",
          "5s",
          ofMillis(100),
          ofHours(1),
          "A process waits this long for a container on the node it prefers (the one it had"
              + " before, or one without another of its kind), then asks for another node.");

  public static final Key<Duration> YARN_DRAIN_TIMEOUT =
      Key.time(
          "stele.yarn.drain.timeout",
          "60s",
          ofSeconds(1),
          ofHours(1),
          "A tablet server that was asked to give its tablets away and end is killed after this;"
              + " tablets that it still has are recovered from its log. stele yarn stop has its own"
              + " --timeout instead.");

  public static final Key<Integer> YARN_FAILURES_MAX =
      Key.number(
          "stele.yarn.failures.max",
          5,
          1,
          1000,
          "The application fails when a process has failed this often and none of its kind has"
              + " ever served and kept running. A cluster that has run once is always restarted.");

  private static final Map<String, Key<?>> BY_NAME = byName();

  private Keys() {}

  /** Every key, by name. */
  public static Map<String, Key<?>> all() {
    return BY_NAME;
  }

  /**
   * Refuses a configuration with an unknown {@code stele.*} key, or with a value that its key does
   * not allow.
   *
   * @throws SteleException {@link SteleException.Code#REFUSED}, with the key, the value and what to
   *     write instead
   */
  public static void check(Configuration conf) {
    for (Map.Entry<String, String> entry : conf) {
      String name = entry.getKey();
      if (name.startsWith("stele.")) {
        Key<?> key = BY_NAME.get(name);
        if (key == null) {
          throw SteleException.refused(
              "unknown configuration key "
                  + name
                  + " (value \""
                  + entry.getValue()
                  + "\", "
                  + Key.source(conf, name)
                  + "); did you mean "
                  + nearest(name)
                  + "? Correct or remove it");
        }
        key.in(conf);
      }
    }
    if (LEASE.in(conf).compareTo(SESSION_TIMEOUT.in(conf)) > 0) {
      throw SteleException.refused(
          "configuration key "
              + LEASE.name()
              + " ("
              + LEASE.in(conf).toMillis()
              + "ms) is above "
              + SESSION_TIMEOUT.name()
              + " ("
              + SESSION_TIMEOUT.in(conf).toMillis()
              + "ms); set stele.tabletserver.lease no higher than the session timeout");
    }
  }

  /** The known key that is spelled most like {@code name}. */
  public static String nearest(String name) {
    return nearest(name, BY_NAME.keySet());
  }

  /** The one of {@code names} that is spelled most like {@code name}. */
  public static String nearest(String name, Collection<String> names) {
    return names.stream()
        .min(Comparator.comparingInt(known -> editDistance(name, known)))
        .orElseThrow();
  }

  /** The one of {@code names} that is at most two letters off, if there is one. */
  public static Optional<String> misspelled(String name, Collection<String> names) {
    return names.stream()
        .filter(known -> editDistance(name, known) <= LETTERS_OFF_MAX)
        .min(Comparator.comparingInt(known -> editDistance(name, known)));
  }

  private static int editDistance(String a, String b) {
    int[] last = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      last[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = last[0];
      last[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int substituted = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = last[j];
        last[j] = Math.min(substituted, Math.min(last[j], last[j - 1]) + 1);
      }
    }
    return last[b.length()];
  }

  private static Map<String, Key<?>> byName() {
    Map<String, Key<?>> keys = new TreeMap<>();
    for (Field field : Keys.class.getFields()) {
      if (Modifier.isStatic(field.getModifiers()) && field.getType() == Key.class) {
        try {
          Key<?> key = (Key<?>) field.get(null);
          keys.put(key.name(), key);
        } catch (IllegalAccessException e) {
          throw new AssertionError(e); // The field is public.
        }
      }
    }
    return Map.copyOf(keys);
  }
}
