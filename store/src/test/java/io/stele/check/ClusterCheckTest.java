package io.stele.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.lock.LockPaths;
import io.stele.log.LogFence;
import io.stele.log.WholeFence;
import io.stele.log.LogRepair;
import io.stele.metadata.Layout;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableDisk;
import io.stele.sim.MemoryLockStore;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import io.stele.wire.NetworkTransport;
import io.stele.wire.Transport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whole clusters in memory that are broken by hand. */
@Timeout(120)
class ClusterCheckTest {
  private static final Configuration CONF = MiniStele.quick(new Configuration(false));

  static {
    CONF.set(Keys.CLIENT_TIMEOUT.name(), "3s");
    CONF.set(Keys.SWEEP_INTERVAL.name(), "500ms");
    CONF.set(Keys.SWEEP_GRACE.name(), "0s");
  }

  private final CrashableDisk disk = new CrashableDisk();
  private final FileSystem fs = disk.mount();
  private final Site site = Site.inMemory(disk, new MemoryLockStore());

  @Test
  void aSoundClusterHasNoProblems() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, site, 2, 1)) {
      fill(cluster);
      CheckReport report = check(cluster, true);
      assertThat(report.problems()).isEmpty();
      assertThat(report.servers()).isEqualTo(2);
      assertThat(report.tables()).isEqualTo(1);
      assertThat(report.tablets()).isEqualTo(4);
      assertThat(report.files()).isGreaterThanOrEqualTo(2);
      assertThat(report.fileBytes()).isPositive();
    }
  }

  @Test
  void anSstableThatIsGoneIsNamed() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, site, 1, 1)) {
      String path = fill(cluster);
      fs.delete(new Path("/stele/" + path), false);
      assertThat(check(cluster, true).problems())
          .singleElement()
          .satisfies(
              problem -> {
                assertThat(problem.subject()).isEqualTo("SSTable " + path);
                assertThat(problem.wrong()).isEqualTo("it is not there");
              });
    }
  }

  @Test
  void anSstableThatIsDamagedIsFoundWhenFilesAreVerified() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, site, 1, 1)) {
      String path = fill(cluster);
      byte[] bytes = read(path);
      bytes[bytes.length / 3] ^= 1;
      write(path, bytes, bytes.length);
      assertThat(check(cluster, false).problems()).isEmpty();
      assertThat(check(cluster, true).problems())
          .isNotEmpty()
          .allSatisfy(
              problem -> {
                assertThat(problem.subject()).isEqualTo("SSTable " + path);
                assertThat(problem.wrong()).isEqualTo("it is damaged");
                assertThat(problem.detail()).startsWith("offset ");
              });
      write(path, bytes, bytes.length - 1);
      assertThat(check(cluster, false).problems())
          .singleElement()
          .satisfies(
              problem ->
                  assertThat(problem.wrong())
                      .isEqualTo(
                          "it has %s bytes, but had %s when it was written",
                          bytes.length - 1, bytes.length));
    }
  }

  @Test
  void aTableWhoseNodeIsLostIsNamedWithItsTablets() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, site, 1, 1)) {
      fill(cluster);
      TableId table = tableId();
      cluster.killMaster();
      String node = LockPaths.table(table);
      cluster.locks().delete(node, cluster.locks().read(node).orElseThrow().version());
      assertThat(check(cluster, false).problems())
          .singleElement()
          .satisfies(
              problem -> {
                assertThat(problem.subject()).isEqualTo("table " + table);
                assertThat(problem.wrong()).startsWith("METADATA has tablets of it");
                assertThat(problem.detail()).isEqualTo("2 tablets");
              });
    }
  }

  @Test
  void tabletsThatNobodyServesAreNamed() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, site, 3, 1)) {
      fill(cluster);
      cluster.client().admin().createTable(TableSchema.of("more", "f"), rows(20));
      cluster.killMaster(); // So that nobody assigns them elsewhere.
      Set<ServerId> system = withSystemTablets(cluster);
      ServerId dead =
          cluster.servers().stream().filter(one -> !system.contains(one)).findAny().orElseThrow();
      List<TabletRecord> lost =
          Stream.of("t1", "t2")
              .flatMap(table -> records(cluster, table).stream())
              .filter(record -> record.assignment().isTo(dead))
              .toList();
      assertThat(lost).isNotEmpty();
      cluster.killServer(dead);
      assertThat(check(cluster, false).problems())
          .extracting(Problem::subject)
          .containsExactlyInAnyOrderElementsOf(
              lost.stream().map(record -> "tablet " + record.id()).toList());
    }
  }

  @Test
  void metadataThatCannotBeReadIsNamed() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, site, 1, 1)) {
      fill(cluster);
      cluster.killMaster();
      cluster.killServer(cluster.servers().get(0));
      assertThat(check(cluster, false).problems())
          .anySatisfy(
              problem -> assertThat(problem.wrong()).isEqualTo("its records cannot be read"))
          .anySatisfy(
              problem -> assertThat(problem.wrong()).isEqualTo("no tablet server holds its lock"));
    }
  }

  @Test
  void tabletsGoOnWithoutALogThatIsGoneWhenItIsGivenUp() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, site, 3, 1)) {
      fill(cluster);
      ServerId dead = withoutSystemTablets(cluster, "t1");
      Bytes row = rowOf(cluster, dead);
      cluster.client().table("web").mutate(Mutation.of(row).put("f", "q", "in the log alone"));
      cluster.killMaster();
      cluster.killServer(dead);
      fs.delete(new Path("/stele/logs/" + dead), true);
      cluster.startMaster();

      Repair giveUp = new Repair(Repair.Kind.GIVE_UP_LOG, dead.toString());
      assertThat(repairs(cluster))
          .contains(giveUp)
          .allMatch(one -> one.losesData() == one.equals(giveUp));
      repair(cluster);
      cluster.awaitServed(tableId());
      assertThat(check(cluster, true).problems()).isEmpty();
      assertThat(cluster.client().table("web").readRow(row)).isEmpty();
      assertThat(cluster.client().table("web").readRow(Bytes.of("a1"))).isPresent();
      assertThat(cluster.client().table("web").readRow(Bytes.of("z1"))).isPresent();
    }
  }

  @Test
  void listedSegmentsOfALogThatAreMissingOrShorterAreNamedUntilTheirLossIsAccepted()
      throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, site, 3, 1)) {
      fill(cluster);
      ServerId dead = withoutSystemTablets(cluster, "t1");
      Bytes row = rowOf(cluster, dead);
      cluster.client().table("web").mutate(Mutation.of(row).put("f", "q", "in the log alone"));
      cluster.killMaster();
      cluster.killServer(dead);
      Path log = new Path("/stele/recovery/" + dead);
      WholeFence.fence(new LogFence(SystemRuntime.INSTANCE, fs), new Path("/stele/logs/" + dead), log);
      assertThat(segmentProblems(cluster)).isEmpty();

      Path segment = new Path(log, "user-1.log");
      byte[] bytes = read("recovery/" + dead + "/user-1.log");
      write("recovery/" + dead + "/user-1.log", bytes, bytes.length - 1);
      assertThat(segmentProblems(cluster))
          .singleElement()
          .satisfies(
              problem -> {
                assertThat(problem.subject())
                    .startsWith("log segment ")
                    .endsWith(segment.toString());
                assertThat(problem.detail()).contains("had " + bytes.length + " bytes");
              });
      fs.delete(segment, false);
      assertThat(segmentProblems(cluster))
          .singleElement()
          .satisfies(problem -> assertThat(problem.detail()).contains("the file is missing"));
      LogRepair.accept(fs, log, segment.getName());
      assertThat(segmentProblems(cluster)).isEmpty();
    }
  }

  private List<Problem> segmentProblems(MiniStele cluster) throws IOException {
    return check(cluster, false).problems().stream()
        .filter(problem -> problem.subject().startsWith("log "))
        .toList();
  }

  @Test
  void aLogThatIsThereIsNotGivenUpAsAWhole() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, site, 1, 1)) {
      Repair giveUp = new Repair(Repair.Kind.GIVE_UP_LOG, cluster.servers().get(0).toString());
      assertThatThrownBy(() -> carryOut(cluster, giveUp)).hasMessageContaining("is there");
    }
  }

  @Test
  void aTableWhoseNodeIsLostIsForgottenWithItsFiles() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, site, 1, 1)) {
      fill(cluster);
      String node = LockPaths.table(tableId());
      cluster.locks().delete(node, cluster.locks().read(node).orElseThrow().version());
      Repair forget = new Repair(Repair.Kind.FORGET_TABLE, tableId().value());
      assertThat(repairs(cluster)).containsExactly(forget);
      repair(cluster);
      assertThat(cluster.records().readAll(tableId())).isEmpty();
      assertThat(check(cluster, false).problems()).isEmpty();
      MiniStele.await("the files are swept", () -> !fs.exists(new Path("/stele/tables/t1")));
    }
  }

  @Test
  void aTableThatIsThereIsNotForgotten() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, site, 1, 1)) {
      fill(cluster);
      Repair forget = new Repair(Repair.Kind.FORGET_TABLE, tableId().value());
      assertThatThrownBy(() -> carryOut(cluster, forget)).hasMessageContaining("is there");
      assertThat(cluster.records().readAll(tableId())).hasSize(2);
    }
  }

  @Test
  void anEvictedServersTabletsAreServedElsewhere() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, site, 2, 1)) {
      fill(cluster);
      ServerId evicted =
          cluster.records().readAll(tableId()).get(0).assignment().server().orElseThrow();
      carryOut(cluster, new Repair(Repair.Kind.EVICT_SERVER, evicted.toString()));
      cluster.awaitServed(tableId());
      assertThat(cluster.records().readAll(tableId()))
          .noneMatch(record -> record.assignment().isTo(evicted));
      assertThat(cluster.client().table("web").readRow(Bytes.of("a1"))).isPresent();
      assertThatThrownBy(
              () -> carryOut(cluster, new Repair(Repair.Kind.EVICT_SERVER, evicted.toString())))
          .hasMessageContaining("there is no tablet server");
    }
  }

  private List<Repair> repairs(MiniStele cluster) throws IOException {
    return ClusterRepair.of(check(cluster, false));
  }

  /** Does all that a check proposes, until it proposes nothing. */
  private void repair(MiniStele cluster) throws IOException {
    MiniStele.await(
        "nothing is left to repair",
        () -> {
          List<Repair> repairs = repairs(cluster);
          for (Repair one : repairs) {
            carryOut(cluster, one);
          }
          return repairs.isEmpty();
        });
  }

  private void carryOut(MiniStele cluster, Repair repair) throws IOException {
    Layout layout = Layout.open(fs, new Path("/stele"));
    new ClusterRepair(SystemRuntime.INSTANCE, cluster.client().admin(), fs, layout)
        .carryOut(repair);
  }

  /** The servers that have the root tablet or a tablet of METADATA. */
  private static Set<ServerId> withSystemTablets(MiniStele cluster) throws IOException {
    Set<ServerId> system = new TreeSet<>();
    cluster.records().readRoot().orElseThrow().assignment().server().ifPresent(system::add);
    cluster
        .records()
        .readAll(TableId.METADATA)
        .forEach(record -> record.assignment().server().ifPresent(system::add));
    return system;
  }

  /** A server that has a tablet of {@code table}, and none of METADATA. */
  private static ServerId withoutSystemTablets(MiniStele cluster, String table) throws IOException {
    Set<ServerId> system = withSystemTablets(cluster);
    return records(cluster, table).stream()
        .flatMap(record -> record.assignment().server().stream())
        .filter(server -> !system.contains(server))
        .findAny()
        .orElseThrow();
  }

  /** A row that {@code server} serves, and that has no cells. */
  private static Bytes rowOf(MiniStele cluster, ServerId server) {
    return records(cluster, "t1").stream()
        .filter(record -> record.assignment().isTo(server))
        .map(record -> record.extent().start().isEmpty() ? Bytes.of("a") : Bytes.of("m"))
        .findAny()
        .orElseThrow();
  }

  private static List<Bytes> rows(int count) {
    return IntStream.range(0, count).mapToObj(i -> Bytes.of("row" + (100 + i))).toList();
  }

  private static List<TabletRecord> records(MiniStele cluster, String table) {
    try {
      return cluster.records().readAll(new TableId(table));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A table of two tablets, each with an SSTable; returns the path of one. */
  private static String fill(MiniStele cluster) throws IOException {
    cluster.client().admin().createTable(TableSchema.of("web", "f"), List.of(Bytes.of("m")));
    Table table = cluster.client().table("web");
    for (int i = 0; i < 200; i++) {
      table.mutate(Mutation.of("a" + i).put("f", "q", "value " + i));
      table.mutate(Mutation.of("z" + i).put("f", "q", "value " + i));
    }
    cluster.client().admin().compactTable("web");
    return cluster.records().readAll(tableId()).get(0).files().get(0).path();
  }

  private static TableId tableId() {
    return new TableId("t1");
  }

  private CheckReport check(MiniStele cluster, boolean verify) throws IOException {
    try (Transport transport = new NetworkTransport(CONF, SystemRuntime.INSTANCE, "localhost");
        ClusterCheck check =
            new ClusterCheck(CONF, SystemRuntime.INSTANCE, fs, cluster.locks(), transport)) {
      return check.check(Duration.ofMillis(100), verify);
    }
  }

  private byte[] read(String path) throws IOException {
    try (var in = fs.open(new Path("/stele/" + path))) {
      return in.readAllBytes();
    }
  }

  private void write(String path, byte[] bytes, int length) throws IOException {
    try (FSDataOutputStream out = fs.create(new Path("/stele/" + path), true)) {
      out.write(bytes, 0, length);
      out.hsync();
    }
  }
}
