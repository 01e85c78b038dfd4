package io.stele.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.stele.bulk.AttemptOutput;
import io.stele.bulk.JobOutput;
import io.stele.client.Jobs;
import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.lock.LockPaths;
import io.stele.lock.VersionedData;
import io.stele.log.LogRepair;
import io.stele.log.WholeFence;
import io.stele.metadata.JobNodes;
import io.stele.metadata.LaterNodes;
import io.stele.metadata.Layout;
import io.stele.metadata.Schemas;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.record.JobChange;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableDisk;
import io.stele.sim.FaultInjector;
import io.stele.sim.MemoryLockStore;
import io.stele.sim.MiniStele;
import io.stele.sim.Operation;
import io.stele.sim.Site;
import io.stele.wire.NetworkTransport;
import io.stele.wire.Transport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
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
  void aCopyOfTheLockServiceThatCouldNotBeRestoredIsShown() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, site, 1, 1)) {
      fill(cluster);
      for (FileStatus file : fs.listStatus(new Path("/stele/lock-service"))) {
        if (file.getPath().getName().startsWith("root-")) {
          fs.delete(file.getPath(), false);
        }
      }
      assertThat(check(cluster, false).problems())
          .singleElement()
          .satisfies(
              problem -> {
                assertThat(problem.subject()).isEqualTo("copy of ZooKeeper's nodes");
                assertThat(problem.detail()).isEqualTo("it is not complete");
              });
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
  void anSstableInThePlaceOfAnotherIsFoundWhenFilesAreVerified() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, site, 1, 1)) {
      String path = fill(cluster);
      cluster.client().admin().createTable(TableSchema.of("more", "f"));
      Table table = cluster.client().table("more");
      for (int i = 0; i < 300; i++) {
        table.mutate(Mutation.of("a" + i).put("f", "q", "value " + i));
      }
      cluster.client().admin().compactTable("more");
      byte[] bytes = read(records(cluster, "t2").get(0).files().get(0).path());
      write(path, bytes, bytes.length);
      assertThat(check(cluster, true).problems())
          .anySatisfy(
              problem -> {
                assertThat(problem.subject()).isEqualTo("SSTable " + path);
                assertThat(problem.wrong()).isEqualTo("it is damaged");
                assertThat(problem.detail()).contains("misplaced");
              });
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
  void aTableWhoseNodeIsOfALaterVersionIsNotCalledDamaged() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, site, 1, 1)) {
      fill(cluster);
      cluster.killMaster();
      String node = LockPaths.table(tableId());
      VersionedData own = cluster.locks().read(node).orElseThrow();
      cluster.locks().write(node, LaterNodes.tableInLaterState(own.data()), own.version());
      assertThat(check(cluster, false).problems())
          .singleElement()
          .satisfies(
              problem -> {
                assertThat(problem.subject()).isEqualTo("table " + tableId());
                assertThat(problem.wrong()).contains("a newer version of Stele, and not damaged");
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
  void aLostLogWithoutWhichMetadataCannotBeReadIsNamed() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, site, 3, 1)) {
      fill(cluster);
      ServerId dead =
          cluster.records().readRoot().orElseThrow().assignment().server().orElseThrow();
      cluster.killMaster();
      cluster.killServer(dead);
      fs.delete(new Path("/stele/logs/" + dead), true);
      CheckReport report = check(cluster, false);
      assertThat(report.problems())
          .anySatisfy(
              problem -> assertThat(problem.wrong()).isEqualTo("its records cannot be read"));
      assertThat(ClusterRepair.of(report))
          .singleElement()
          .satisfies(
              repair -> {
                assertThat(repair.kind()).isEqualTo(Repair.Kind.GIVE_UP_LOG);
                assertThat(repair.target()).isEqualTo(dead.toString());
                assertThat(repair.text()).endsWith("of at least 1 tablet, of METADATA too");
              });
    }
  }

  @Test
  void whatAServerSaysIsWrongWithItsTabletsIsShown() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, site, 1, 1)) {
      fill(cluster);
      ServerId server = cluster.servers().get(0);
      Set<TabletId> served = new TreeSet<>();
      for (TableId table : List.of(TableId.ROOT, TableId.METADATA, tableId())) {
        cluster.records().readAll(table).forEach(record -> served.add(record.id()));
      }
      TabletId stopped = cluster.records().readAll(tableId()).get(0).id();
      TabletId stuck = cluster.records().readAll(tableId()).get(1).id();
      CheckPass pass = new CheckPass(fs, Layout.open(fs, new Path("/stele")));
      pass.readTables(new Schemas(SystemRuntime.INSTANCE, cluster.locks()).list());
      pass.readServers(
          Map.of(
              server,
              Optional.of(
                  new ServedTablets.Of(
                      served,
                      Set.of(),
                      Map.of(
                          stopped, new ServedTablets.Trouble("could not be served", true),
                          stuck, new ServedTablets.Trouble("could not split", false))))));
      pass.readRecords(cluster.records());
      assertThat(pass.problems())
          .allSatisfy(
              problem -> assertThat(problem.wrong()).isEqualTo("its server reports trouble"))
          .extracting(Problem::subject, Problem::detail, Problem::repair)
          .containsExactlyInAnyOrder(
              tuple(
                  "tablet " + stopped,
                  server + ": could not be served",
                  Optional.of(new Repair(Repair.Kind.EVICT_SERVER, server.toString()))),
              tuple("tablet " + stuck, server + ": could not split", Optional.empty()));
    }
  }

  @Test
  void filesThatCannotBeReadDoNotHideOthersThatAreDamaged() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, site, 1, 1)) {
      fill(cluster);
      cluster.client().admin().createTable(TableSchema.of("more", "f"), List.of(Bytes.of("m")));
      cluster.client().table("more").mutate(Mutation.of("a").put("f", "q", "value"));
      cluster.client().admin().compactTable("more");
      String unreadable = pathOf(cluster, "t1", 0);
      String newer = pathOf(cluster, "t1", 1);
      String damaged = pathOf(cluster, "t2", 0);
      byte[] bytes = read(damaged);
      bytes[bytes.length / 3] ^= 1;
      write(damaged, bytes, bytes.length);
      disk.inject(
          FaultInjector.always(
              Operation.OPEN,
              path -> path.toString().endsWith(unreadable),
              new FaultInjector.Effect.Fail()));
      disk.inject(
          FaultInjector.always(
              Operation.OPEN,
              path -> path.toString().endsWith(newer),
              new FaultInjector.Effect.Delay(
                  () -> {
                    throw SteleException.refused("written by a newer version");
                  })));
      assertThat(check(cluster, true).problems())
          .extracting(Problem::subject, Problem::wrong)
          .contains(
              tuple("SSTable " + unreadable, "it cannot be read"),
              tuple("SSTable " + newer, "it cannot be checked"),
              tuple("SSTable " + damaged, "it is damaged"));
    }
  }

  @Test
  void theFilesOfACommittedJobMustBeThereAndThoseOfAnotherNeedNot() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, site, 1, 1)) {
      fill(cluster);
      Jobs jobs = cluster.client().jobs();
      String job = jobs.begin(Duration.ofMinutes(10));
      JobOutput output = new JobOutput(jobs, job);
      try (AttemptOutput attempt = output.attempt("task-0-a", new JobOutput.Terms(1, 1 << 20))) {
        attempt.addTable("web", tableId(), TableSchema.of("web", "f"));
        attempt.add("web", Mutation.of("b").put("f", "q", "of the job"));
        attempt.finish();
      }
      output.publish("task-0-a", "task-0");
      Map<TableId, JobChange> changes = output.changes(Map.of());
      jobs.register(job, changes);
      cluster.killServer(cluster.servers().get(0)); // It has the files open.
      cluster.startServer();
      cluster.awaitServed(tableId());
      String path = changes.get(tableId()).files().get(0).path();
      fs.delete(new Path("/stele/" + path), false);
      assertThat(check(cluster, true).problems()).isEmpty();

      new JobNodes(SystemRuntime.INSTANCE, cluster.locks()).commit(job);
      assertThat(check(cluster, false).problems())
          .extracting(Problem::subject, Problem::wrong)
          .containsExactly(tuple("SSTable " + path, "it is not there"));
    }
  }

  private static String pathOf(MiniStele cluster, String table, int tablet) {
    return records(cluster, table).get(tablet).files().get(0).path();
  }

  @Test
  void tabletsGoOnWithoutALogThatIsGoneWhenItIsGivenUp() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, site, 3, 1)) {
      fill(cluster);
      ServerId dead = withoutSystemTablets(cluster, "t1");
      Bytes row = rowOf(cluster, dead);
      cluster.client().table("web").mutate(Mutation.of(row).put("f", "q", "in the log alone"));
      long its = records(cluster, "t1").stream().filter(one -> one.assignment().isTo(dead)).count();
      cluster.killMaster();
      cluster.killServer(dead);
      fs.delete(new Path("/stele/logs/" + dead), true);
      cluster.startMaster();

      assertThat(repairs(cluster))
          .filteredOn(Repair::losesData)
          .singleElement()
          .satisfies(
              repair -> {
                assertThat(repair.kind()).isEqualTo(Repair.Kind.GIVE_UP_LOG);
                assertThat(repair.target()).isEqualTo(dead.toString());
                assertThat(repair.text())
                    .endsWith(
                        ": it gives up what only that log has of "
                            + its
                            + (its == 1 ? " tablet" : " tablets"));
              });
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
      WholeFence.fence(
          WholeFence.of(SystemRuntime.INSTANCE, fs), new Path("/stele/logs/" + dead), log);
      assertThat(segmentProblems(cluster)).isEmpty();

      Path segment = fs.globStatus(new Path(log, "copy.*/user-1.log"))[0].getPath();
      String name = "recovery/" + dead + "/" + segment.getParent().getName() + "/user-1.log";
      byte[] bytes = read(name);
      write(name, bytes, bytes.length - 1);
      assertThat(segmentProblems(cluster))
          .singleElement()
          .satisfies(
              problem -> {
                assertThat(problem.subject())
                    .startsWith("log segment ")
                    .endsWith(Path.getPathWithoutSchemeAndAuthority(segment).toString());
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
      assertThat(repairs(cluster))
          .singleElement()
          .satisfies(
              repair -> {
                assertThat(repair.kind()).isEqualTo(Repair.Kind.FORGET_TABLE);
                assertThat(repair.target()).isEqualTo(tableId().value());
                assertThat(repair.text())
                    .matches(
                        "delete the records of table t1: it gives up 2 tablets with 2 SSTables of"
                            + " [1-9][0-9,]* bytes; its files are deleted, not moved to the trash");
              });
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
