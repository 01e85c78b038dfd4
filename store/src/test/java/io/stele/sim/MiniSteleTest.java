package io.stele.sim;

import static io.stele.SteleErrors.assertFails;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.ClusterStatus;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.client.TableChange;
import io.stele.client.TabletEvent;
import io.stele.config.Keys;
import io.stele.lock.LockPaths;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.record.Pin;
import io.stele.runtime.SystemRuntime;
import io.stele.wire.NetworkTransport;
import io.stele.wire.Transport;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whole clusters in memory: masters, tablet servers and a client in this JVM. */
@Timeout(120)
class MiniSteleTest {
  private static final Configuration CONF = MiniStele.quick(new Configuration(false));

  @Test
  void aTableIsCreatedWrittenReadAndDropped() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, Site.inMemory(), 2, 1)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("web", "f"), List.of(Bytes.of("m")));
      Table table = stele.table("web");
      table.mutate(Mutation.of("a").put("f", "q", "1"));
      table.mutate(Mutation.of("z").put("f", "q", "2"));
      assertThat(table.readRow("a").orElseThrow().value("f", "q")).contains(Bytes.of("1"));
      assertThat(table.readRow("z").orElseThrow().value("f", "q")).contains(Bytes.of("2"));
      assertThat(rows(table, List.of("z", "none", "a", "z"))).containsExactly("a", "z");
      assertThat(rows(table, List.of())).isEmpty();
      assertThatThrownBy(() -> stele.admin().createTable(TableSchema.of("web", "g")))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("already");
      stele.admin().dropTable("web");
      assertThat(stele.admin().listTables()).isEmpty();
      stele.admin().createTable(TableSchema.of("web", "f"));
      assertThat(stele.table("web").readRow("a")).isEmpty();
      assertThat(cluster.aborts()).isEmpty();
    }
  }

  private static List<String> rows(Table table, List<String> wanted) throws IOException {
    RowQuery query = RowQuery.rows(wanted.stream().map(Bytes::of).toList());
    List<String> found = new ArrayList<>();
    try (Rows rows = table.readRows(query)) {
      rows.forEach(row -> found.add(row.key().toUtf8()));
    }
    return found;
  }

  @Test
  void aChangeIsFollowedByItsIdAfterWhoBeganItIsGone() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, Site.inMemory(), 0, 1)) {
      Stele stele = cluster.client();
      awaitMaster(stele);
      List<Bytes> splits = List.of(Bytes.of("m"));
      String id = stele.admin().beginCreateTable(TableSchema.of("web", "f"), splits).id();

      TableChange found = stele.admin().tableChange(id); // By nothing but the id.
      assertThat(found.progress().done()).isFalse();
      assertThat(stele.admin().clusterStatus().changes())
          .extracting(ClusterStatus.Change::id)
          .containsExactly(id);
      cluster.startServer();
      found.await();
      assertThat(found.progress()).isEqualTo(new TableChange.Progress(true, "", 0, 0));
      stele.table("web").mutate(Mutation.of("a").put("f", "q", "1"));

      TableChange cleared = stele.admin().beginDeleteRows("web", RowRange.of("a", "b"));
      stele.admin().tableChange(cleared.id()).await();
      assertThat(stele.table("web").readRow("a")).isEmpty();
      TableChange dropped = stele.admin().beginDropTable("web");
      stele.admin().tableChange(dropped.id()).await();
      assertThat(stele.admin().listTables()).isEmpty();
      assertThat(found.progress().done()).as("it is still remembered").isTrue();
      assertFails(
          SteleException.Code.NOT_FOUND, () -> stele.admin().tableChange("web/drop-1").progress());
    }
  }

  @Test
  void aTabletIsSplitAtARowOnRequestOnceAndItsHalvesMove() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, Site.inMemory(), 2, 1)) {
      Stele stele = cluster.client();
      stele.admin().setBalanced(false);
      stele.admin().createTable(TableSchema.of("web", "f"));
      Table table = stele.table("web");
      table.mutate(Mutation.of("a").put("f", "q", "1"));
      table.mutate(Mutation.of("z").put("f", "q", "2"));
      stele.admin().splitTablet("web", Bytes.of("m"));
      stele.admin().splitTablet("web", Bytes.of("m"));
      assertThat(table.tablets()).hasSize(2);
      assertFails(
          SteleException.Code.REFUSED,
          () -> stele.admin().splitTablet("web", Bytes.of("m".repeat(65_500))));
      ServerId before = table.tablets().get(1).server().orElseThrow();
      ServerId after = stele.admin().moveTablet("web", Bytes.of("z"), Optional.empty());
      assertThat(after).isNotEqualTo(before);
      assertThat(table.tablets().get(1).server()).contains(after);
      assertThat(stele.admin().moveTablet("web", Bytes.of("z"), Optional.of(before)))
          .isEqualTo(before);
      assertThat(table.readRow("z").orElseThrow().value("f", "q")).contains(Bytes.of("2"));
      assertThat(stele.admin().events("web"))
          .isSortedAccordingTo(Comparator.comparing(TabletEvent::time))
          .anyMatch(event -> event.what().equals("created"))
          .anyMatch(
              event -> event.what().equals("assigned") && event.server().equals(Optional.of(after)))
          .anyMatch(event -> event.what().equals("unloaded"))
          .anyMatch(event -> event.what().startsWith("split from"));
      assertThat(stele.admin().events()).containsAll(stele.admin().events("web"));
      stele.admin().setBalanced(true);
      stele.admin().balanceNow();
      MiniStele.await(
          "each server has one",
          () ->
              table.tablets().stream().flatMap(one -> one.server().stream()).distinct().count()
                  == 2);
      assertThat(cluster.aborts()).isEmpty();
    }
  }

  @Test
  void aTabletIsMergedWithTheOneBeforeItOnRequestOnceAndNotWhileAJobPinsIt() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, Site.inMemory(), 2, 1)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("web", "f"), List.of(Bytes.of("h"), Bytes.of("p")));
      Table table = stele.table("web");
      for (String row : List.of("a", "k", "x")) {
        table.mutate(Mutation.of(row).put("f", "q", row));
      }
      stele.admin().mergeTablet("web", Bytes.of("h"));
      stele.admin().mergeTablet("web", Bytes.of("h"));
      assertThat(table.tablets()).hasSize(2);
      table.mutate(Mutation.of("b").put("f", "q", "b"));
      assertThat(rows(table).stream().map(row -> row.key().toUtf8()))
          .containsExactly("a", "b", "k", "x");
      assertThat(stele.admin().events("web"))
          .anyMatch(event -> event.what().startsWith("merged from"));

      String job = stele.jobs().begin(Duration.ofMinutes(10));
      stele.jobs().pin(job, "web", RowRange.of("x", ""));
      assertFails(
              SteleException.Code.REFUSED, () -> stele.admin().mergeTablet("web", Bytes.of("p")))
          .hasMessageContaining("pinned");
      stele.jobs().end(job);
      MiniStele.await(
          "the pin of the job is gone",
          () ->
              pins(cluster, table.tablets().get(0).id().table())
                  .equals(List.of(List.of(), List.of())));
      stele.admin().mergeTablet("web", Bytes.of("p"));
      assertThat(table.tablets()).hasSize(1);
      assertThat(rows(table)).hasSize(4);
      assertThat(cluster.aborts()).isEmpty();
    }
  }

  @Test
  void aJobPinsATableThroughSplitsAndDeathsOfServersAndLeavesNothingBehind() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, Site.inMemory(), 2, 1)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("web", "f"), List.of(Bytes.of("h"), Bytes.of("p")));
      Table table = stele.table("web");
      for (String row : List.of("a", "d", "k", "x")) {
        table.mutate(Mutation.of(row).put("f", "q", "1"));
      }
      TableId id = table.tablets().get(0).id().table();
      String job = stele.jobs().begin(Duration.ofMinutes(10));
      stele.jobs().pin(job, "web", RowRange.of("a", "p"));
      assertThat(pins(cluster, id)).containsExactly(List.of(job), List.of(job), List.of());
      stele.jobs().pin(job, "web", RowRange.ALL);
      List<Row> pinned = rows(table.atPin(job));
      table.mutate(Mutation.of("a").put("f", "q", "2"));
      table.mutate(Mutation.of("b").put("f", "q", "2"));
      table.mutate(Mutation.of("k").deleteRow());
      String other = stele.jobs().begin(Duration.ofSeconds(5));
      stele.jobs().pin(other, "web", RowRange.of("q", ""));
      stele.admin().splitTablet("web", Bytes.of("c"));
      cluster.killServer(cluster.servers().get(0));
      stele.jobs().renew(job);
      MiniStele.await(
          "the job that nobody renews is over",
          () ->
              pins(cluster, id)
                  .equals(List.of(List.of(job), List.of(job), List.of(job), List.of(job))));
      assertFails(
          SteleException.Code.NOT_FOUND, () -> stele.jobs().pin(other, "web", RowRange.ALL));
      assertThat(pinned.stream().map(row -> row.key().toUtf8()))
          .containsExactly("a", "d", "k", "x");
      assertThat(rows(table.atPin(job))).isEqualTo(pinned);
      assertThat(table.atPin(job).readRow("a")).contains(pinned.get(0));
      assertThat(rows(table).stream().map(row -> row.key().toUtf8()))
          .containsExactly("a", "b", "d", "x");
      stele.jobs().end(job);
      stele.jobs().end(job);
      MiniStele.await(
          "nothing is pinned", () -> pins(cluster, id).stream().allMatch(List::isEmpty));
      assertThat(cluster.locks().children(LockPaths.JOBS)).isEmpty();
      assertFails(SteleException.Code.REFUSED, () -> rows(table.atPin(job)));
      assertThat(cluster.aborts()).isEmpty();
    }
  }

  private static List<Row> rows(Table table) throws IOException {
    try (Rows rows = table.readRows(RowQuery.ALL)) {
      return rows.stream().toList();
    }
  }

  /** The names of the pins of each tablet, in order. */
  private static List<List<String>> pins(MiniStele cluster, TableId table) throws IOException {
    return cluster.records().readAll(table).stream()
        .map(record -> record.pins().stream().map(Pin::name).toList())
        .toList();
  }

  @Test
  void aClientReadsMetadataAndCannotWriteIt() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, Site.inMemory(), 1, 1);
        Transport transport = new NetworkTransport(CONF, SystemRuntime.INSTANCE, "localhost");
        TabletAccess access =
            new TabletAccess(
                SystemRuntime.INSTANCE,
                cluster.locks(),
                transport.dataPlane(),
                Duration.ofSeconds(8))) {
      TabletRecords records =
          new TabletRecords(
              SystemRuntime.INSTANCE, cluster.locks(), access, Duration.ofSeconds(10));
      cluster.client().admin().createTable(TableSchema.of("web", "f"));
      List<TabletRecord> before = records.reader().readAll(TableId.METADATA);
      assertThat(before).isNotEmpty();
      for (TableId table : List.of(TableId.METADATA, new TableId("t17"))) {
        assertThatThrownBy(() -> records.createTable(table, List.of(Bytes.of("m"))))
            .hasMessageContaining("masters and tablet servers alone")
            .isInstanceOfSatisfying(
                SteleException.class,
                e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED));
      }
      assertThat(records.reader().readAll(TableId.METADATA)).isEqualTo(before);
      cluster.client().table("web").mutate(Mutation.of("a").put("f", "q", "1"));
    }
  }

  @Test
  void aTableAskedForWhileTheClusterStartsComesThoughNobodyAsksAgain() throws IOException {
    Configuration impatient = new Configuration(CONF);
    impatient.set(Keys.CLIENT_TIMEOUT.name(), "2s");
    TableSchema schema = TableSchema.of("web", "f");
    List<Bytes> splitRows = List.of(Bytes.of("m"));
    try (MiniStele cluster = MiniStele.start(impatient, Site.inMemory(), 0, 1)) {
      Stele stele = cluster.client();
      awaitMaster(stele);
      // The second finds another's change under way; on a slow machine its last answer may be lost.
      for (Set<SteleException.Code> codes :
          List.of(
              Set.of(SteleException.Code.OUTCOME_UNKNOWN),
              Set.of(SteleException.Code.RETRY_LATER, SteleException.Code.OUTCOME_UNKNOWN))) {
        long start = System.nanoTime();
        assertThatThrownBy(() -> stele.admin().createTable(schema, splitRows))
            .hasMessageContaining("table web")
            .isInstanceOfSatisfying(SteleException.class, e -> assertThat(e.code()).isIn(codes));
        assertThat(Duration.ofNanos(System.nanoTime() - start))
            .isGreaterThanOrEqualTo(Duration.ofSeconds(1));
        assertFails(SteleException.Code.RETRY_LATER, () -> stele.table("web"));
      }
      assertThat(stele.admin().clusterStatus().changes())
          .singleElement()
          .satisfies(change -> assertThat(change.table()).isEqualTo("web"));
      cluster.startServer();
      MiniStele.await("web is there", () -> !stele.admin().listTables().isEmpty());
      stele.table("web").mutate(Mutation.of("a").put("f", "q", "1"));
      assertThat(stele.admin().clusterStatus().changes()).isEmpty();
      assertFails(
              SteleException.Code.ALREADY_EXISTS,
              () -> stele.admin().createTable(schema, splitRows))
          .hasMessageContaining("there is a table web already");
      assertThat(stele.admin().tableExists("web")).isTrue();
      assertThat(stele.admin().tableExists("none")).isFalse();
    }
  }

  @Test
  void aTabletThatFailsIsNamedEndsNoServerAndIsLoadedWhenReleased() throws IOException {
    Configuration small = new Configuration(CONF);
    small.set(Keys.MEMTABLE_BYTES.name(), "1m");
    CrashableDisk disk = new CrashableDisk();
    try (MiniStele cluster =
        MiniStele.start(small, Site.inMemory(disk, new MemoryLockStore()), 2, 1)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("bad", "f"));
      stele.admin().createTable(TableSchema.of("good", "f"));
      String value = "x".repeat(1 << 20);
      stele.table("bad").mutate(Mutation.of("0").put("f", "q", value));
      stele.admin().compactTable("bad"); // It has a file.
      failing(disk, Operation.CREATE);
      for (int i = 0; i < 3; i++) {
        stele.table("good").mutate(Mutation.of("" + i).put("f", "q", value));
      }
      stele.table("bad").mutate(Mutation.of("1").put("f", "q", value + value));
      MiniStele.await(
          "what fails is named",
          () ->
              stele.admin().clusterStatus().troubled().stream()
                  .anyMatch(tablet -> tablet.served() && tablet.reason().contains("a fault")));
      assertThat(stele.table("bad").readRow("1")).isPresent();
      assertThat(cluster.aborts()).isEmpty();

      disk.heal();
      failing(disk, Operation.OPEN);
      cluster.killServer(cluster.servers().get(0));
      cluster.killServer(cluster.servers().get(0));
      cluster.startServer();
      cluster.startServer();
      for (int i = 0; i < 3; i++) {
        assertThat(stele.table("good").readRow("" + i)).isPresent();
      }
      MiniStele.await(
          "the tablet is quarantined",
          () ->
              stele.admin().clusterStatus().troubled().stream()
                  .anyMatch(ClusterStatus.Troubled::quarantined));
      disk.heal();
      String tablet = stele.admin().clusterStatus().troubled().get(0).tablet();
      stele.admin().releaseTablet(tablet);
      assertThat(stele.table("bad").readRow("0")).isPresent();
      assertThat(stele.table("bad").readRow("1")).isPresent();
      assertThat(cluster.aborts()).isEmpty();
    }
  }

  private static void failing(CrashableDisk disk, Operation operation) {
    disk.inject(
        FaultInjector.always(
            operation,
            path -> path.toString().contains("/t1/") && path.getName().endsWith(".sst"),
            new FaultInjector.Effect.Delay(
                () -> {
                  throw new IllegalStateException("a fault of the code");
                })));
  }

  private static void awaitMaster(Stele stele) throws IOException {
    while (true) {
      try {
        stele.admin().clusterStatus();
        return;
      } catch (SteleException e) {
        assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER);
      }
    }
  }

  @Test
  void whatWasAcknowledgedSurvivesTheDeathOfEveryServerInTurn() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, Site.inMemory(), 2, 2)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("t", "f"), List.of(Bytes.of("5")));
      Table table = stele.table("t");
      for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 10; i++) {
          table.mutate(Mutation.of(i + "-" + round).put("f", "q", "v" + round));
        }
        ServerId victim = cluster.servers().get(0);
        cluster.killServer(victim);
        cluster.startServer();
        for (int before = 0; before <= round; before++) {
          for (int i = 0; i < 10; i++) {
            assertThat(table.readRow(i + "-" + before).orElseThrow().value("f", "q"))
                .contains(Bytes.of("v" + before));
          }
        }
      }
      assertThat(cluster.aborts()).isEmpty();
    }
  }

  @Test
  void aServerWithLittleRoomForMemtablesTakesEveryWriteInTheEnd() throws IOException {
    Configuration small = new Configuration(CONF);
    small.set(Keys.MEMTABLE_TOTAL_BYTES.name(), "1m");
    try (MiniStele cluster = MiniStele.start(small, Site.inMemory(), 1, 4)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("t", "f"), List.of(Bytes.of("5")));
      Table table = stele.table("t");
      Bytes value = Bytes.of("x".repeat(100_000));
      for (int i = 0; i < 40; i++) {
        table.mutate(Mutation.of(i % 10 + "-" + i).put("f", Bytes.of("q"), value));
      }
      try (Rows rows = table.readRows(RowQuery.ALL)) {
        int count = 0;
        for (Row row : rows) {
          assertThat(row.value("f", "q")).contains(value);
          count++;
        }
        assertThat(count).isEqualTo(40);
      }
      assertThat(cluster.aborts()).isEmpty();
    }
  }

  @Test
  void aMasterThatDiesIsReplacedAndNothingIsLost() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, Site.inMemory(), 1, 3)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("t", "f"));
      Table table = stele.table("t");
      table.mutate(Mutation.of("a").put("f", "q", "1"));
      cluster.killMaster();
      table.mutate(Mutation.of("b").put("f", "q", "2"));
      cluster.startMaster();
      cluster.master();
      stele.admin().createTable(TableSchema.of("u", "f"));
      cluster.killServer(cluster.servers().get(0));
      cluster.startServer();
      assertThat(table.readRow("a")).isPresent();
      assertThat(table.readRow("b")).isPresent();
      assertThat(stele.table("u").readRow("a")).isEmpty();
    }
  }

  @Test
  void aDrainedServerGivesItsTabletsToTheOthers() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, Site.inMemory(), 2, 4)) {
      Stele stele = cluster.client();
      List<Bytes> splitRows = List.of(Bytes.of("2"), Bytes.of("4"), Bytes.of("6"));
      stele.admin().createTable(TableSchema.of("t", "f"), splitRows);
      Table table = stele.table("t");
      for (int i = 0; i < 8; i++) {
        table.mutate(Mutation.of("" + i).put("f", "q", "v" + i));
      }
      ServerId staying = cluster.servers().get(1);
      cluster.drainServer(cluster.servers().get(0));
      for (int i = 0; i < 8; i++) {
        assertThat(table.readRow("" + i).orElseThrow().value("f", "q")).contains(Bytes.of("v" + i));
      }
      assertThat(table.tablets())
          .allSatisfy(tablet -> assertThat(tablet.server()).contains(staying));
    }
  }

  @Test
  void logsOfDeadServersAreDeletedOnceTheirMutationsAreInSSTables() throws IOException {
    CrashableDisk disk = new CrashableDisk();
    Site site = Site.inMemory(disk, new MemoryLockStore());
    try (MiniStele cluster = MiniStele.start(CONF, site, 1, 5)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("t", "f"));
      Table table = stele.table("t");
      table.mutate(Mutation.of("a").put("f", "q", "1"));
      cluster.killServer(cluster.servers().get(0));
      cluster.startServer();
      assertThat(table.readRow("a")).isPresent();
      FileSystem fs = disk.mount();
      Path recovery = new Path("/stele/recovery");
      assertThat(fs.listStatus(recovery)).hasSize(1);
      MiniStele.await(
          "the dead server's log is deleted",
          () -> {
            cluster.master().sweep();
            return fs.listStatus(recovery).length == 0;
          });
      cluster.killServer(cluster.servers().get(0));
      cluster.startServer();
      assertThat(table.readRow("a")).isPresent();
    }
  }

  @Test
  void aQuietTabletDoesNotKeepTheLogForEver() throws IOException {
    CrashableDisk disk = new CrashableDisk();
    Site site = Site.inMemory(disk, new MemoryLockStore());
    Configuration conf = new Configuration(CONF);
    conf.set(Keys.LOG_AGE_MAX.name(), "200ms");
    try (MiniStele cluster = MiniStele.start(conf, site, 1, 7)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("t", "f"));
      stele.table("t").mutate(Mutation.of("a").put("f", "q", "1"));
      FileSystem fs = disk.mount();
      Path first = new Path("/stele/logs/" + cluster.servers().get(0) + "/user-1.log");
      MiniStele.await("the segment with the only record is deleted", () -> !fs.exists(first));
      assertThat(stele.table("t").readRow("a")).isPresent();
    }
  }

  @Test
  void aClusterThatWasKilledWholeComesBackWithAllThatWasAcknowledged() throws IOException {
    CrashableDisk disk = new CrashableDisk();
    Site site = Site.inMemory(disk, new MemoryLockStore());
    try (MiniStele cluster = MiniStele.start(CONF, site, 2, 6)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("t", "f"), List.of(Bytes.of("5")));
      for (int i = 0; i < 10; i++) {
        stele.table("t").mutate(Mutation.of("" + i).put("f", "q", "v" + i));
      }
    }
    disk.crash(new Random(7));
    try (MiniStele cluster = MiniStele.start(CONF, site, 2, 8)) {
      Table table = cluster.client().table("t");
      for (int i = 0; i < 10; i++) {
        assertThat(table.readRow("" + i).orElseThrow().value("f", "q")).contains(Bytes.of("v" + i));
      }
    }
  }

  @Test
  void aTableThatGrowsIsSplitSweptAndReadWholeMeanwhile() throws IOException {
    Configuration conf = new Configuration(CONF);
    conf.set("stele.tabletserver.memtable.bytes", "64k");
    CrashableDisk disk = new CrashableDisk();
    Site site = Site.inMemory(disk, new MemoryLockStore());
    try (MiniStele cluster = MiniStele.start(conf, site, 2, 9)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("t", "f").withSplitBytes(64 << 10));
      Table table = stele.table("t");
      Random random = new Random(10);
      byte[] value = new byte[2000];
      for (int i = 0; i < 300; i++) {
        random.nextBytes(value);
        table.mutate(Mutation.of(String.format("%05d", i)).put("f", "q", value));
      }
      MiniStele.await("the table has several tablets", () -> table.tablets().size() > 2);
      cluster.master().sweep();
      int rows = 0;
      try (Rows all = table.readRows(RowQuery.ALL)) {
        for (Row row : all) {
          assertThat(row.key()).isEqualTo(Bytes.of(String.format("%05d", rows++)));
        }
      }
      assertThat(rows).isEqualTo(300);
      cluster.killServer(cluster.servers().get(0));
      cluster.startServer();
      assertThat(table.readRow("00299")).isPresent();
      assertThat(table.readRow("00000")).isPresent();
      assertThat(cluster.aborts()).isEmpty();
    }
  }
}
