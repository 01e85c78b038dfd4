package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.Seeds;
import io.stele.bulk.JobOutput;
import io.stele.client.Admin;
import io.stele.client.ClusterStatus;
import io.stele.client.Jobs;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.client.TabletInfo;
import io.stele.config.Keys;
import io.stele.lock.LockService;
import io.stele.metadata.MasterInfo;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.Mutation;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.tabletserver.TabletServer;
import io.stele.wire.Address;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;

/**
 * A table {@code t} in virtual time: one master, three servers, and a client for each tablet, which
 * writes all the time. What computing takes does not count; every message, file and pause does.
 */
final class BusyTable {
  /** No write takes longer, whatever happens to its tablet. */
  static final Duration AWAY_MAX = Duration.ofMillis(500);

  private static final Duration PAUSE = Duration.ofMillis(20);
  private static final Duration START_MAX = Duration.ofSeconds(60);

  Duration pause = PAUSE; // Of each client, after each write.
  String mergeAfter = "0s";
  String clientTimeout = "8s";
  private final long seed;
  private final Simulation simulation;
  private final int tablets;
  private SimulatedCluster cluster;
  private SimulatedProcess process;
  private Stele client;
  private Duration longestGap = Duration.ZERO;
  private int writes;
  private boolean ended;

  BusyTable(long seed, int tablets) {
    this.seed = seed;
    this.simulation = new Simulation(seed, 30_000_000);
    this.tablets = tablets;
  }

  /** One of each seed; they run one after the other. */
  static Iterable<BusyTable> ofSeeds(int usual, int tablets) {
    return () -> Seeds.of(usual).mapToObj(seed -> new BusyTable(seed, tablets)).iterator();
  }

  /** The first row of a tablet, by its place when the table was created. */
  static Bytes row(int tablet) {
    return Bytes.of(String.format("%04d", tablet));
  }

  TabletServer server(int slot) {
    return cluster.slots(SimulatedCluster.Kind.SERVER).get(slot).server().orElseThrow();
  }

  List<SimulatedCluster.Slot> slots(SimulatedCluster.Kind kind) {
    return cluster.slots(kind);
  }

  SimulatedCluster cluster() {
    return cluster;
  }

  Stele client() {
    return client;
  }

  Admin admin() {
    return client.admin();
  }

  List<TabletInfo> tablets() throws IOException {
    return client.table("t").tablets();
  }

  /** The servers, as the master has them. */
  List<ClusterStatus.Server> servers() throws IOException {
    return admin().clusterStatus().servers();
  }

  void sleep(Duration time) throws InterruptedException {
    process.sleep(time);
  }

  /** How long the work takes. */
  Duration time(Simulation.Work work) throws Exception {
    long start = process.nanoTime();
    work.run();
    return Duration.ofNanos(process.nanoTime() - start);
  }

  /** How many writes were acknowledged. */
  int writes() {
    return writes;
  }

  @Override
  public String toString() {
    return "seed " + seed;
  }

  void assertNoWriteTookLong() {
    assertThat(longestGap).as("%s", this).isLessThan(AWAY_MAX);
  }

  /** Cuts a client from all servers. */
  void cutFromServers(SimulatedProcess cutOff) {
    Set<SimulatedProcess> servers =
        cluster.slots(SimulatedCluster.Kind.SERVER).stream()
            .map(SimulatedCluster.Slot::process)
            .collect(Collectors.toSet());
    cluster
        .network()
        .cut(
            (from, to) ->
                (from == cutOff && servers.contains(to))
                    || (to == cutOff && servers.contains(from)));
  }

  /** No answer of the server reaches the client. */
  void loseAnswers(SimulatedCluster.Slot server, SimulatedProcess toClient) {
    cluster.network().cut((from, to) -> from == server.process() && to == toClient);
  }

  int tablets(ServerId server) throws IOException {
    return servers().stream()
        .filter(one -> one.id().equals(server))
        .mapToInt(one -> one.tablets())
        .sum();
  }

  /** Commits a job that makes so many tablets. */
  void commitWithCuts(int count) throws IOException {
    Jobs jobs = client.jobs();
    String job = jobs.begin(Duration.ofMinutes(1));
    TableId table = jobs.environment().tableId("t");
    List<JobOutput.Cut> cuts = new ArrayList<>();
    for (int i = 1; i < count; i++) {
      cuts.add(new JobOutput.Cut("t", table, row(i)));
    }
    new JobOutput(jobs, job).commit(cuts, Map.of());
    assertThat(tablets()).hasSize(count);
  }

  /** Writes a row, and fills the disk; returns the server that has the row in memory. */
  ServerId withRowOnFullDisk() throws IOException {
    client.table("t").mutate(Mutation.of(row(0)).put("f", "q", "some value"));
    cluster.files().setFull(true);
    return serverOf(row(0)).orElseThrow();
  }

  /** Lets the server take tablets again, as soon as that is not refused. */
  void undrain(ServerId server) throws IOException, InterruptedException {
    while (true) {
      try {
        admin().undrainServer(server);
        return;
      } catch (SteleException e) {
        assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED);
        process.sleep(Duration.ofMillis(10));
      }
    }
  }

  Map<ServerId, Integer> tabletsByServer() throws IOException {
    Map<ServerId, Integer> counts = new TreeMap<>();
    for (TabletInfo tablet : tablets()) {
      counts.merge(tablet.server().orElseThrow(), 1, Integer::sum);
    }
    return counts;
  }

  Optional<ServerId> serverOf(Bytes row) throws IOException {
    return tablets().stream()
        .filter(tablet -> tablet.rows().contains(row))
        .findFirst()
        .flatMap(TabletInfo::server);
  }

  /** The first rows of the tablets. */
  List<String> starts() throws IOException {
    return tablets().stream().map(tablet -> tablet.rows().start().toUtf8()).toList();
  }

  /**
   * Kills the active master, and asks the next for its status.
   *
   * @return how long after the next began to serve the answer came
   */
  Duration killMaster() throws Exception {
    LockService locks = cluster.slots(SimulatedCluster.Kind.SERVER).get(0).session();
    Optional<Address> before = MasterInfo.address(locks);
    CompletableFuture<Long> serves = new CompletableFuture<>();
    cluster.slots(SimulatedCluster.Kind.MASTER).stream()
        .filter(master -> master.toString().equals(before.orElseThrow().host()))
        .findFirst()
        .orElseThrow()
        .process()
        .kill();
    process.start(
        "watch",
        () -> {
          try {
            Optional<Address> now = MasterInfo.address(locks);
            while (now.isEmpty() || now.equals(before)) {
              process.sleep(Duration.ofMillis(1));
              now = MasterInfo.address(locks);
            }
            serves.complete(process.nanoTime());
          } catch (IOException | InterruptedException e) {
            serves.completeExceptionally(e);
          }
        });
    while (true) {
      try {
        admin().clusterStatus();
        return Duration.ofNanos(process.nanoTime() - process.await(serves));
      } catch (SteleException e) {
        assertThat(e).hasMessageContaining("not done within"); // The lock is kept for longer.
      }
    }
  }

  /** Does the work once every tablet is written; fails if it fails, or a write. */
  void run(Simulation.Work work) throws Exception {
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    simulation.run(
        () -> {
          Configuration conf =
              HistoryPlan.of(0, Duration.ofSeconds(30), Histories.NAMES).configuration();
          conf.set(Keys.MEMTABLE_BYTES.name(), "1m");
          conf.set(Keys.LOG_SEGMENT_BYTES.name(), "4m");
          conf.set(Keys.LOG_SEGMENTS_MAX.name(), "64");
          conf.set(Keys.MERGE_AFTER.name(), mergeAfter);
          conf.set(Keys.CLIENT_TIMEOUT.name(), clientTimeout);
          cluster = new SimulatedCluster(simulation, conf);
          cluster.add(SimulatedCluster.Kind.MASTER);
          for (int i = 0; i < 3; i++) {
            cluster.add(SimulatedCluster.Kind.SERVER);
          }
          process = cluster.clientProcess();
          client = cluster.connect(process);
          simulation.outside().await(process.start("test", () -> test(work, failure)).ended());
        });
    assertThat(failure.getNow(null)).as("%s", this).isNull();
  }

  private void test(Simulation.Work work, CompletableFuture<Throwable> failure) {
    try {
      while (cluster.slots(SimulatedCluster.Kind.SERVER).stream()
          .anyMatch(slot -> slot.server().isEmpty())) {
        process.sleep(Duration.ofMillis(100));
      }
      createTable();
      for (int i = 0; i < tablets; i++) {
        Bytes row = row(i);
        process.start("writes " + row, () -> write(row, failure));
      }
      process.sleep(Duration.ofSeconds(2));
      longestGap = Duration.ZERO; // Locations are known from now on.
      work.run();
      ended = true;
      process.sleep(Duration.ofSeconds(1));
    } catch (Exception | AssertionError e) {
      failure.complete(e);
    }
  }

  private void createTable() throws Exception {
    List<Bytes> splits = new ArrayList<>();
    for (int i = 1; i < tablets; i++) {
      splits.add(row(i));
    }
    long end = process.nanoTime() + START_MAX.toNanos();
    while (true) {
      try {
        admin().createTable(TableSchema.of("t", List.of(ColumnFamily.of("f"))), splits);
        return;
      } catch (IOException | SteleException e) {
        if (process.nanoTime() - end >= 0 || e.getMessage().contains("already")) {
          return; // An attempt whose outcome was unknown made it.
        }
        process.sleep(Duration.ofMillis(200));
      }
    }
  }

  private void write(Bytes row, CompletableFuture<Throwable> failure) {
    try {
      Table table = client.table("t");
      while (!ended) {
        long start = process.nanoTime();
        table.mutate(Mutation.of(row).put("f", "q", "some value"));
        writes++;
        Duration took = Duration.ofNanos(process.nanoTime() - start);
        longestGap = took.compareTo(longestGap) > 0 ? took : longestGap;
        process.sleep(pause);
      }
    } catch (Exception e) {
      failure.complete(e);
    }
  }
}
