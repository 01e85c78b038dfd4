package io.stele.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.lock.LockPaths;
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
      Set<ServerId> system = new TreeSet<>();
      cluster.records().readRoot().orElseThrow().assignment().server().ifPresent(system::add);
      cluster
          .records()
          .readAll(TableId.METADATA)
          .forEach(record -> record.assignment().server().ifPresent(system::add));
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
