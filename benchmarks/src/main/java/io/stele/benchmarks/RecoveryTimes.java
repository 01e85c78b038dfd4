package io.stele.benchmarks;

import io.stele.client.BatchWriter;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.client.TabletInfo;
import io.stele.config.Keys;
import io.stele.lock.CuratorLockService;
import io.stele.lock.LockService;
import io.stele.lock.ZooKeeperProcess;
import io.stele.master.MasterMain;
import io.stele.metadata.MasterInfo;
import io.stele.metadata.ServerInfo;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.RowQuery;
import io.stele.model.ServerId;
import io.stele.model.TableSchema;
import io.stele.runtime.SystemRuntime;
import io.stele.tabletserver.TabletServerMain;
import io.stele.wire.MasterProtocol;
import io.stele.wire.NetworkTransport;
import io.stele.wire.control.ControlProtos.ServerExitedRequestProto;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/**
 * How long the tablets of a tablet server are away that is killed with kill -9: ZooKeeper, a master
 * and some tablet servers as processes, HDFS with three DataNodes in this one, which tell the
 * NameNode that they live every so many seconds ({@code dfs.heartbeat.interval}): it tells them
 * then what to do. The end is reported to the master at once, as the ApplicationMaster does when
 * the NodeManager has seen it, or not at all. Prints when the first and the last row could be read
 * again. All servers but two are killed, one after the other: at the first kills the code of
 * recovery is new to every process, and most of the processors' time goes into compiling it.
 *
 * <pre>
 * java -cp ... io.stele.benchmarks.RecoveryTimes [tablets] [MB of log] [report | silent] [servers] [heartbeat]
 * </pre>
 */
public final class RecoveryTimes {
  private static final int LEFT = 2;
  private static final int VALUE_BYTES = 1000;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /**
   * What to measure.
   *
   * @param tablets of each server
   * @param megabytes of the log of the one that is killed
   * @param reports whether the master is told
   * @param heartbeatSeconds of DataNodes
   */
  private record Plan(
      int tablets, long megabytes, boolean reports, int servers, int heartbeatSeconds) {}

  private final Plan plan;
  private final Path directory;
  private final Configuration conf = new Configuration();

  private RecoveryTimes(Plan plan, Path directory) {
    this.plan = plan;
    this.directory = directory;
  }

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    Plan plan =
        new Plan(
            number(args, 0, 200),
            number(args, 1, 512),
            args.length <= 2 || args[2].equals("report"),
            number(args, 3, 4),
            number(args, 4, 3));
    new RecoveryTimes(plan, Files.createTempDirectory("recovery")).run();
    System.exit(0);
  }

  private static int number(String[] args, int index, int otherwise) {
    return index < args.length ? Integer.parseInt(args[index]) : otherwise;
  }

  private void run() throws Exception {
    Configuration hdfs = new Configuration();
    hdfs.set("hdfs.minidfs.basedir", Scratch.directory("recovery-hdfs").toString());
    hdfs.setInt(DFSConfigKeys.DFS_HEARTBEAT_INTERVAL_KEY, plan.heartbeatSeconds());
    try (MiniDFSCluster files = new MiniDFSCluster.Builder(hdfs).numDataNodes(3).build();
        ZooKeeperProcess zookeeper =
            ZooKeeperProcess.start(directory.resolve("zk"), Duration.ofSeconds(2))) {
      conf.set("fs.defaultFS", files.getFileSystem().getUri().toString());
      conf.set(Keys.ROOT_DIR.name(), files.getFileSystem().getUri() + "/stele");
      conf.set(Keys.ZOOKEEPER_QUORUM.name(), zookeeper.quorum());
      conf.set(Keys.MEMTABLE_BYTES.name(), "1g"); // Nothing is written out before.
      conf.set(Keys.MEMTABLE_TOTAL_BYTES.name(), "1200m");
      conf.set(Keys.LOG_SEGMENTS_MAX.name(), "100");
      conf.set(Keys.CLIENT_TIMEOUT.name(), "120s");
      try (ServerProcesses servers = new ServerProcesses(directory, conf)) {
        servers.start("master", MasterMain.class, "-Xmx512m");
        for (int i = 1; i <= plan.servers(); i++) {
          servers.start("server-" + i, TabletServerMain.class, "-Xmx3g");
        }
        try (LockService locks =
                CuratorLockService.connect(
                    SystemRuntime.INSTANCE, zookeeper.quorum(), "stele", Duration.ofSeconds(10));
            Stele client = Stele.connect(conf)) {
          measure(client, locks, servers);
        }
      }
    }
  }

  private void measure(Stele client, LockService locks, ServerProcesses servers) throws Exception {
    while (ServerInfo.all(locks).size() < plan.servers()) {
      TimeUnit.MILLISECONDS.sleep(50);
    }
    client.admin().setBalanced(false); // The tablets written to stay together.
    List<Bytes> splits = new ArrayList<>();
    for (int i = 1; i < plan.tablets() * plan.servers(); i++) {
      splits.add(Bytes.of(String.format("%06d", i)));
    }
    long begin = System.nanoTime();
    client.admin().createTable(TableSchema.of("t", "f"), splits);
    System.out.printf("%d tablets created in %d ms%n", splits.size() + 1, millisSince(begin));
    Table table = client.table("t");

    for (int kill = 1; kill <= plan.servers() - LEFT; kill++) {
      kill(table, locks, servers);
    }
    System.out.println("logs in " + directory);
  }

  private void kill(Table table, LockService locks, ServerProcesses servers) throws Exception {
    Map.Entry<ServerId, ServerInfo> victim = ServerInfo.all(locks).entrySet().iterator().next();
    List<TabletInfo> its =
        table.tablets().stream()
            .filter(tablet -> tablet.server().equals(Optional.of(victim.getKey())))
            .limit(plan.tablets())
            .toList();
    write(table, its, plan.megabytes());
    System.out.printf(
        "%d MB written to %d tablets of %s%n", plan.megabytes(), its.size(), victim.getKey());
    for (TabletInfo tablet : its) {
      table.readRow(row(tablet, 0));
    }

    String container = victim.getValue().container().orElseThrow();
    long killed = System.nanoTime();
    servers.kill(container);
    if (plan.reports()) {
      report(locks, victim.getKey());
    }
    List<CompletableFuture<Long>> read = new ArrayList<>();
    for (TabletInfo tablet : its) {
      read.add(
          table
              .readRowAsync(row(tablet, 0), RowQuery.ALL)
              .thenApply(
                  found -> {
                    if (found.isEmpty()) {
                      throw new IllegalStateException("a row of " + tablet + " is lost");
                    }
                    return millisSince(killed);
                  }));
    }
    List<Long> times = new ArrayList<>();
    for (CompletableFuture<Long> one : read) {
      times.add(one.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
    }
    times.sort(Long::compare);
    System.out.printf(
        "readable again: first %d ms, half %d ms, all %d ms%n",
        times.get(0), times.get(times.size() / 2), times.get(times.size() - 1));
  }

  private static long millisSince(long nanos) {
    return (System.nanoTime() - nanos) / 1_000_000;
  }

  private static Bytes row(TabletInfo tablet, long number) {
    return Bytes.of(
        (tablet.rows().start().isEmpty() ? "0" : tablet.rows().start().toUtf8())
            + "-"
            + String.format("%09d", number));
  }

  private static void write(Table table, List<TabletInfo> tablets, long megabytes)
      throws IOException {
    SplittableRandom random = new SplittableRandom(1);
    byte[] value = new byte[VALUE_BYTES];
    long rows = (megabytes << 20) / (VALUE_BYTES + 100);
    try (BatchWriter writer = table.batchWriter()) {
      for (long i = 0; i < rows; i++) {
        random.nextBytes(value);
        TabletInfo tablet = tablets.get((int) (i % tablets.size()));
        writer.add(
            Mutation.of(row(tablet, i / tablets.size()))
                .put("f", Bytes.of("q"), Bytes.wrap(value.clone())));
      }
    }
  }

  private void report(LockService locks, ServerId dead) throws Exception {
    try (NetworkTransport transport =
        new NetworkTransport(conf, SystemRuntime.INSTANCE, "localhost")) {
      transport
          .controlPlane()
          .call(
              MasterInfo.address(locks).orElseThrow(),
              MasterProtocol.class,
              Duration.ofSeconds(5),
              protocol ->
                  protocol.serverExited(
                      null,
                      ServerExitedRequestProto.newBuilder()
                          .setServerId(dead.toString())
                          .setSeen(true)
                          .build()));
    }
  }
}
