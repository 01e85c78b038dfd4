package io.stele.benchmarks;

import io.stele.client.BatchWriter;
import io.stele.client.ClusterChange;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.client.TabletInfo;
import io.stele.config.Keys;
import io.stele.metadata.ServerInfo;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.RowQuery;
import io.stele.model.ServerId;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.DFSConfigKeys;

/**
 * How long the tablets of a tablet server are away that is killed with kill -9: ZooKeeper, a master
 * and some tablet servers as processes, HDFS with three DataNodes in this one, which tell the
 * NameNode that they live every so many seconds ({@code dfs.heartbeat.interval}): it tells them
 * then what to do. The end is reported to the master at once, as the ApplicationMaster does when
 * the NodeManager has seen it, or not at all. Prints how long after the end was seen the first and
 * the last row could be read again. All servers but two are killed, one after the other: at the
 * first kills the code of recovery is new to every process, and most of the processors' time goes
 * into compiling it.
 *
 * <p>With a number of kills, all servers stay, and the one that is killed is each time a new one,
 * to which all tablets were moved: those that stay get warmer, and have all of the tablets to load.
 *
 * <p>With rounds of work, all tablets of all servers are written so many times before the first
 * kill, as many bytes for each server as the log will have, compacted, and read: like servers that
 * worked before a neighbour died. The code of recovery is still new to them.
 *
 * <pre>
 * java -cp ... io.stele.benchmarks.RecoveryTimes [tablets] [MB of log] [report | silent] [servers] [heartbeat] [kills] [rounds of work] [options of Java]...
 * </pre>
 */
public final class RecoveryTimes {
  private static final int LEFT = 2;
  private static final String HEAP = "-Xmx3g";
  private static final int VALUE_BYTES = 1000;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /**
   * What to measure.
   *
   * @param tablets of each server at first; the fifth of seven that is killed has 7/3 of them. With
   *     kills of new servers: of the one that is killed
   * @param megabytes of the log of the one that is killed, of all its tablets alike
   * @param reports whether the master is told
   * @param heartbeatSeconds of DataNodes
   * @param options of Java for tablet servers, beside the size of the heap
   */
  private record Plan(
      int tablets,
      long megabytes,
      boolean reports,
      int servers,
      int heartbeatSeconds,
      List<String> options) {
    String[] serverOptions() {
      List<String> all = new ArrayList<>(List.of(HEAP));
      all.addAll(options);
      return all.toArray(String[]::new);
    }

    Configuration settings() {
      Configuration settings = new Configuration();
      settings.setInt(DFSConfigKeys.DFS_HEARTBEAT_INTERVAL_KEY, heartbeatSeconds);
      settings.set(Keys.MEMTABLE_BYTES.name(), "1g"); // Nothing is written out before.
      settings.set(Keys.MEMTABLE_TOTAL_BYTES.name(), "1200m");
      settings.set(Keys.LOG_SEGMENTS_MAX.name(), "100");
      settings.set(Keys.CLIENT_TIMEOUT.name(), "120s");
      return settings;
    }
  }

  private final Plan plan;
  private final ProcessCluster cluster;

  private RecoveryTimes(Plan plan, ProcessCluster cluster) {
    this.plan = plan;
    this.cluster = cluster;
  }

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    Arguments given = new Arguments(args);
    Plan plan =
        new Plan(
            given.number(0, 200),
            given.number(1, 512),
            given.isOrLeftOut(2, "report"),
            given.number(3, 4),
            given.number(4, 3),
            given.from(7));
    try (ProcessCluster cluster = new ProcessCluster("recovery", 3, plan.settings())) {
      cluster.startMaster();
      cluster.startServers(plan.servers(), plan.serverOptions());
      try (Stele client = Stele.connect(cluster.conf())) {
        new RecoveryTimes(plan, cluster).measure(client, given.number(5, 0), given.number(6, 0));
      }
    }
    System.exit(0);
  }

  /**
   * Prints the times of all kills.
   *
   * @param kills of new servers; 0: those that were there at first are killed
   * @param rounds of work before
   */
  private void measure(Stele client, int kills, int rounds) throws Exception {
    client.admin().setBalanced(false); // The tablets written to stay together.
    int tablets = plan.tablets() * (kills == 0 ? plan.servers() : 1);
    long begin = System.nanoTime();
    ProcessCluster.createTable(client, tablets);
    System.out.printf("%d tablets created in %d ms%n", tablets, millisSince(begin));
    Table table = client.table("t");
    for (int round = 0; round < rounds; round++) {
      work(client, table);
    }

    for (int kill = 1; kill <= kills; kill++) {
      Set<ServerId> before = cluster.servers().keySet();
      Set<ServerId> started = new HashSet<>(cluster.startServers(1, plan.serverOptions()));
      started.removeAll(before);
      ServerId next = started.iterator().next();
      moveAll(client, next);
      kill(table, next);
    }
    for (int kill = 1; kills == 0 && kill <= plan.servers() - LEFT; kill++) {
      kill(table, cluster.servers().keySet().iterator().next());
    }
  }

  private void work(Stele client, Table table) throws Exception {
    long begin = System.nanoTime();
    write(table, table.tablets(), plan.megabytes() * plan.servers());
    client.admin().compactTable("t");
    long rows;
    try (Rows all = table.readRows(RowQuery.ALL)) {
      rows = all.stream().count();
    }
    System.out.printf("worked on %d rows for %d ms%n", rows, millisSince(begin));
  }

  private static void moveAll(Stele client, ServerId to) throws Exception {
    Table table = client.table("t");
    List<ClusterChange> moves = new ArrayList<>();
    for (TabletInfo tablet : table.tablets()) {
      moves.add(client.admin().beginMoveTablet("t", tablet.rows().start(), Optional.of(to)));
    }
    for (ClusterChange move : moves) {
      move.await(PATIENCE);
    }
  }

  private void kill(Table table, ServerId server) throws Exception {
    List<TabletInfo> its =
        table.tablets().stream()
            .filter(tablet -> tablet.server().equals(Optional.of(server)))
            .toList();
    write(table, its, plan.megabytes());
    System.out.printf("%d MB written to %d tablets of %s%n", plan.megabytes(), its.size(), server);
    for (TabletInfo tablet : its) {
      table.readRow(row(tablet, 0));
    }

    String container =
        Optional.ofNullable(cluster.servers().get(server))
            .flatMap(ServerInfo::container)
            .orElseThrow();
    long killed = System.nanoTime();
    cluster.kill(container);
    long seen = System.nanoTime();
    System.out.printf("its end is seen after %d ms%n", millisSince(killed));
    if (plan.reports()) {
      cluster.report(server);
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
                    return millisSince(seen);
                  }));
    }
    ProcessCluster.printTimes("readable again", read, PATIENCE);
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
}
