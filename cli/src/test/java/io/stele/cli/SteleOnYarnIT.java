package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.cli.embedded.TaggedProcess;
import io.stele.client.Admin;
import io.stele.client.Table;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.ReadModifyWrite;
import io.stele.model.Row;
import io.stele.model.ServerId;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/**
 * Stele as it is run: a YARN application on a real Hadoop, whose processes are killed while it
 * works.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(600)
class SteleOnYarnIT {
  private static final int MANY = 400;

  private RunningStele cluster;

  @BeforeAll
  void start() throws Exception {
    cluster = new RunningStele("stele-on-yarn");
  }

  @AfterAll
  void stop() throws Exception {
    if (cluster != null) {
      cluster.stop();
    }
  }

  @Test
  void aTabletServerKilledUnderWritesLosesNoAcknowledgedOne() throws Exception {
    Table table = cluster.create("writes");
    int writers = 4;
    int counters = 8;
    ExecutorService threads = Executors.newFixedThreadPool(writers);
    AtomicBoolean enough = new AtomicBoolean();
    AtomicInteger written = new AtomicInteger();
    List<CompletableFuture<Map<String, String>>> acknowledged = new ArrayList<>();
    for (int w = 0; w < writers; w++) {
      int writer = w;
      acknowledged.add(
          CompletableFuture.supplyAsync(
              () -> {
                Map<String, String> mine = new TreeMap<>();
                try {
                  for (int i = 0; !enough.get(); i++) {
                    String row = "row%d-%d-%05d".formatted(i % 10, writer, i);
                    table.mutate(
                        Mutation.of(row).put("f", "a", "value " + i).put("f", "b", "value " + i));
                    mine.put(row, "value " + i);
                    table.readModifyWrite(
                        ReadModifyWrite.increment(
                            Bytes.of("row%d-counter".formatted(i % counters)),
                            "f",
                            Bytes.of("writer" + writer),
                            1));
                    mine.merge(
                        "counter" + i % counters + "-" + writer,
                        "1",
                        (a, b) -> "" + (Long.parseLong(a) + 1));
                    written.incrementAndGet();
                  }
                  return mine;
                } catch (IOException e) {
                  throw new IllegalStateException(e);
                }
              },
              threads));
    }
    RunningStele.await("some writes", () -> written.get() > 200);
    cluster.killServerOf(table, "row3");
    int atTheKill = written.get();
    RunningStele.await("writes after the kill", () -> written.get() > atTheKill + 400);
    enough.set(true);
    CompletableFuture.allOf(acknowledged.toArray(CompletableFuture[]::new)).join();
    threads.shutdown();

    Map<String, Row> stored = RunningStele.read(table);
    int rows = 0;
    for (int writer = 0; writer < writers; writer++) {
      for (Map.Entry<String, String> entry : acknowledged.get(writer).join().entrySet()) {
        if (entry.getKey().startsWith("counter")) {
          assertCounted(stored, writer, entry);
        } else {
          rows++;
          Row row = stored.get(entry.getKey());
          assertThat(row).as("acknowledged row %s", entry.getKey()).isNotNull();
          assertThat(row.value("f", "a")).contains(Bytes.of(entry.getValue()));
          assertThat(row.value("f", "b"))
              .as("both columns of one mutation")
              .contains(Bytes.of(entry.getValue()));
        }
      }
    }
    assertThat(rows).isGreaterThan(600);
    cluster.awaitAllComponents();
  }

  private static void assertCounted(
      Map<String, Row> stored, int writer, Map.Entry<String, String> entry) {
    String counter =
        "row"
            + entry.getKey().substring("counter".length(), entry.getKey().indexOf('-'))
            + "-counter";
    assertThat(stored.get(counter).value("f", "writer" + writer).map(Bytes::toLong))
        .as("%s of writer %s: every increment once, whatever was retried", counter, writer)
        .contains(Long.parseLong(entry.getValue()));
  }

  @Test
  void aTabletServerKilledUnderTortureGivesNoWrongAnswer() throws Exception {
    List<String> before = tables();
    CompletableFuture<Ran> torture =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return cluster.run("torture", "--seconds", "20", "--clients", "2", "--seed", "7");
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            });
    // Its row is there once clients are at work.
    RunningStele.await(
        "a counter",
        () -> cluster.stele().table("torture-7-counters").readRow("countera").isPresent());
    cluster.killServerOf(cluster.stele().table("torture-7-counters"), "countera");
    Ran ran = torture.get();
    assertThat(ran.exit()).as(ran.out() + ran.err()).isZero();
    assertThat(ran.out()).contains("Nothing wrong was found.");
    assertThat(tables()).isEqualTo(before);
    cluster.awaitAllComponents();
    Ran check = cluster.run("check", "--data");
    assertThat(check.exit()).as(check.out() + check.err()).isZero();
    assertThat(check.out()).contains("no problems found");
  }

  @Test
  void processesThatFailUnderTortureWhileMetadataIsSplitGiveNoWrongAnswer() throws Exception {
    splitMetadata();
    Ran ran =
        cluster.run(
            "torture",
            "--seconds",
            "70",
            "--clients",
            "2",
            "--seed",
            "11",
            "--map-reduce",
            "--fault-every",
            "6",
            "--faults",
            cluster.hadoop().directory().toString());
    assertThat(ran.exit()).as(ran.out() + ran.err()).isZero();
    assertThat(ran.out()).contains("Nothing wrong was found.").contains("LONGEST GAP");
    cluster.awaitAllComponents();
    Ran repair = cluster.run("repair", "--yes");
    assertThat(repair.exit()).as(repair.out() + repair.err()).isZero();
    assertThat(repair.out()).contains("no problems found");
  }

  /** Fills METADATA, and drains its server, so that it is written to files: then it is split. */
  private void splitMetadata() throws Exception {
    Admin admin = cluster.stele().admin();
    List<Bytes> splits = new ArrayList<>();
    for (int i = 1; i < MANY; i++) {
      splits.add(Bytes.of("a row that begins a tablet %06d".formatted(i)));
    }
    admin.createTable(TableSchema.of("many", "f"), splits);
    ServerId server =
        admin.events().stream()
            .filter(event -> event.tablet().startsWith("meta/"))
            .flatMap(event -> event.server().stream())
            .reduce((earlier, later) -> later)
            .orElseThrow();
    admin.drainServer(server, Duration.ofMinutes(1));
    admin.undrainServer(server);
    RunningStele.await(
        "METADATA to be split",
        () ->
            admin.events().stream()
                .anyMatch(
                    event -> event.tablet().startsWith("meta/") && event.what().contains("split")));
    admin.dropTable("many");
  }

  @Test
  void allServersRestartedInTurnUnderTortureFailNoCall() throws Exception {
    Ran ran =
        cluster.run(
            "torture",
            "--seconds",
            "30",
            "--clients",
            "2",
            "--seed",
            "13",
            "--fault-every",
            "2",
            "--fault",
            "rolling-restart",
            "--faults",
            cluster.hadoop().directory().toString());
    assertThat(ran.exit()).as(ran.out() + ran.err()).isZero();
    assertThat(ran.out()).contains("Nothing wrong was found.").contains("\nrestart in turn ");
    cluster.awaitAllComponents();
  }

  @Test
  void anAlteredFamilyKeepsWhatIsNotSaid() throws Exception {
    assertThat(cluster.run("table", "create", "altered", "f:versions=3", "g").exit()).isZero();
    assertThat(cluster.run("table", "alter", "altered", "f:group=default").exit()).isZero();
    assertThat(cluster.run("table", "describe", "altered").out()).contains("family f:versions=3\n");
    assertThat(cluster.run("table", "alter", "altered", "g:age=1d").exit()).isZero();
    assertThat(cluster.run("table", "describe", "altered").out())
        .contains("family g:versions=1,age=1d\n");
  }

  @Test
  void aKilledMasterIsReplacedAndHindersNobody() throws Exception {
    Table table = cluster.create("master");
    table.mutate(Mutation.of("row").put("f", "q", "before"));
    cluster.kill("master-1");
    table.mutate(Mutation.of("row").put("f", "q", "meanwhile")); // No master is needed for that.
    assertThat(table.readRow("row").orElseThrow().value("f", "q")).contains(Bytes.of("meanwhile"));
    RunningStele.await(
        "another master",
        () -> {
          try {
            cluster.stele().admin().createTable(TableSchema.of("after-master", "f"));
            return true;
          } catch (io.stele.model.SteleException | IOException e) {
            return cluster.stele().admin().listTables().stream()
                .anyMatch(schema -> schema.name().equals("after-master"));
          }
        });
    cluster.stele().table("after-master").mutate(Mutation.of("row").put("f", "q", "after"));
    cluster.awaitAllComponents();
  }

  @Test
  void aKilledApplicationMasterIsReplacedAndItsContainersLiveOn() throws Exception {
    Table table = cluster.create("am");
    cluster.awaitAllComponents();
    Set<Long> before = cluster.components();
    cluster.hadoop().processes().stream()
        .filter(process -> process.isJava() && process.command().contains("ApplicationMasterMain"))
        .forEach(TaggedProcess::kill);
    table.mutate(Mutation.of("row").put("f", "q", "without an ApplicationMaster"));
    cluster.awaitAllComponents();
    assertThat(cluster.components()).isEqualTo(before);
    assertThat(table.readRow("row")).isPresent();
  }

  @Test
  void theCommandLineDoesWhatItSaysAndRefusesWhatIsWrong() throws Exception {
    assertThat(cluster.run("table", "create", "notes", "text:versions=2"))
        .isEqualTo(new Ran(0, "Created table notes.\n", ""));
    assertThat(cluster.run("put", "notes", "row1", "text:title", "hello").exit()).isZero();
    assertThat(cluster.run("get", "notes", "row1").out()).contains("text:title").contains("hello");
    assertThat(cluster.run("scan", "notes").out()).contains("row1");
    assertThat(cluster.run("table", "describe", "notes").out())
        .contains("family text:versions=2")
        .contains("SSTABLES");

    assertThat(
            cluster
                .run(
                    "table",
                    "alter",
                    "notes",
                    "body:group=large",
                    "--group",
                    "large:block=1m,cache=low")
                .out())
        .isEqualTo("Altered table notes.\n");
    assertThat(cluster.run("put", "notes", "row1", "body:", "at length").exit()).isZero();
    assertThat(cluster.run("table", "compact", "notes").exit()).isZero();
    assertThat(cluster.run("table", "describe", "notes").out())
        .contains(
            "family body:versions=1,group=large",
            "group large:codec=snappy,block=1m,bloom=row,cache=low")
        .contains("group default:");
    assertThat(cluster.run("get", "notes", "row1").out()).contains("hello").contains("at length");
    assertThat(cluster.run("table", "alter", "notes", "--group", "large:blok=1m"))
        .satisfies(refused(2, "blok=1m", "block="));
    cluster.run("table", "alter", "notes", "--drop-family", "body", "--yes");
    assertThat(cluster.run("get", "notes", "row1").out()).doesNotContain("at length");

    assertThat(cluster.run("get", "nothere", "row1")).satisfies(refused(3, "nothere"));
    assertThat(cluster.run("put", "notes", "row1", "nofamily:x", "v"))
        .satisfies(refused(3, "nofamily"));
    assertThat(cluster.run("put", "notes", "r".repeat((64 << 10) + 1), "text:x", "v"))
        .satisfies(refused(4, "65537", "65536"));
    assertThat(cluster.run("table", "create", "bad", "a\u0001b"))
        .satisfies(refused(2, "\\x01", "printable"));
    assertThat(cluster.run("table", "create", "notes", "text")).satisfies(refused(8, "notes"));
    assertThat(cluster.run("table", "list", "-D", "stele.rot.dir=/x"))
        .satisfies(refused(4, "stele.rot.dir", "stele.root.dir"));
    assertThat(cluster.run("table", "list", "-D", "stele.client.timeout=soon"))
        .satisfies(refused(4, "stele.client.timeout", "soon", "10s"));
    assertThat(cluster.run("tabel", "list")).satisfies(refused(2, "tabel"));
    assertThat(cluster.run("scan", "notes").out().lines().filter(line -> line.contains("hello")))
        .hasSize(1);
    assertThat(cluster.run("table", "list").out()).contains("notes").doesNotContain("bad");

    assertThat(cluster.run("file", "verify", "/stele/logs").exit()).isZero();
    java.nio.file.Path damaged = java.nio.file.Path.of("target", "damaged.log").toAbsolutePath();
    Path log =
        FileSystem.get(cluster.conf())
            .globStatus(new Path("/stele/logs/*/system-1.log"))[0]
            .getPath();
    byte[] bytes;
    try (FSDataInputStream in = FileSystem.get(cluster.conf()).open(log)) {
      bytes = in.readAllBytes();
    }
    bytes[bytes.length / 2] ^= 1;
    java.nio.file.Files.write(damaged, bytes);
    assertThat(cluster.run("file", "verify", "file://" + damaged))
        .satisfies(ran -> assertThat(ran.exit()).isEqualTo(7))
        .satisfies(ran -> assertThat(ran.out()).contains("offset"));
    assertThat(cluster.run("table", "drop", "notes")).satisfies(refused(2, "--yes"));
    assertThat(cluster.run("table", "drop", "notes", "--yes").exit()).isZero();
  }

  private static Consumer<Ran> refused(int exit, String... words) {
    return ran -> {
      assertThat(ran.exit()).as(ran.err()).isEqualTo(exit);
      assertThat(ran.err()).contains(words).doesNotContain("\tat ");
      assertThat(ran.err().lines().count()).as(ran.err()).isLessThanOrEqualTo(4);
    };
  }

  private List<String> tables() throws IOException {
    return cluster.stele().admin().listTables().stream().map(TableSchema::name).toList();
  }
}
