package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.cli.embedded.EmbeddedHadoop;
import io.stele.cli.embedded.JarOf;
import io.stele.cli.embedded.TaggedProcess;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.client.TabletInfo;
import io.stele.config.Keys;
import io.stele.inputformat.TableInputFormat;
import io.stele.mapreduce.SteleJob;
import io.stele.metadata.JobNodes;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.ReadModifyWrite;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.ServerId;
import io.stele.model.TableSchema;
import io.stele.outputformat.BulkOutputFormat;
import io.stele.outputformat.TableOutputFormat;
import io.stele.yarn.ApplicationStatus;
import io.stele.yarn.ComponentStatus;
import io.stele.yarn.StartOptions;
import io.stele.yarn.YarnSubmitter;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
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
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final Path GATES = new Path("/gates");
  private static final String SPLITS_AT = "row5";

  private EmbeddedHadoop hadoop;
  private Configuration conf;
  private YarnSubmitter yarn;
  private Stele stele;

  @BeforeAll
  void start() throws Exception {
    java.nio.file.Path home = java.nio.file.Path.of(System.getProperty("stele.home"));
    hadoop =
        EmbeddedHadoop.start(
            EmbeddedHadoop.Options.in(
                java.nio.file.Path.of("target", "embedded", "stele-on-yarn")));
    conf = hadoop.configuration();
    conf.set(Keys.SESSION_TIMEOUT.name(), "6s");
    conf.set(Keys.LEASE.name(), "5s");
    conf.set(Keys.CLIENT_TIMEOUT.name(), "120s");
    conf.set(Keys.YARN_TABLETSERVER_MEMORY.name(), "640m");
    yarn = YarnSubmitter.connect(conf);
    yarn.start(StartOptions.ofLibDirectory(home.resolve("lib")), line -> {});
    stele = Stele.connect(conf);
  }

  @AfterAll
  void stop() throws Exception {
    try {
      if (stele != null) {
        stele.close();
      }
      if (yarn != null) {
        yarn.close();
      }
    } finally {
      if (hadoop != null) {
        hadoop.close();
      }
    }
  }

  @Test
  void aTabletServerKilledUnderWritesLosesNoAcknowledgedOne() throws Exception {
    Table table = create("writes");
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
    await("some writes", () -> written.get() > 200);
    killServerOf(table, "row3");
    int atTheKill = written.get();
    await("writes after the kill", () -> written.get() > atTheKill + 400);
    enough.set(true);
    CompletableFuture.allOf(acknowledged.toArray(CompletableFuture[]::new)).join();
    threads.shutdown();

    Map<String, Row> stored = read(table);
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
    awaitAllComponents();
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
                return run("torture", "--seconds", "20", "--clients", "2", "--seed", "7");
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            });
    // Its row is there once clients are at work.
    await("a counter", () -> stele.table("torture-7-counters").readRow("countera").isPresent());
    killServerOf(stele.table("torture-7-counters"), "countera");
    Ran ran = torture.get();
    assertThat(ran.exit()).as(ran.out() + ran.err()).isZero();
    assertThat(ran.out()).contains("Nothing wrong was found.");
    assertThat(tables()).isEqualTo(before);
    awaitAllComponents();
    Ran check = run("check", "--data");
    assertThat(check.exit()).as(check.out() + check.err()).isZero();
    assertThat(check.out()).contains("nothing is wrong");
  }

  @Test
  void processesThatFailUnderTortureGiveNoWrongAnswer() throws Exception {
    Ran ran =
        run(
            "torture",
            "--seconds",
            "45",
            "--clients",
            "2",
            "--seed",
            "11",
            "--fault-every",
            "6",
            "--faults",
            hadoop.directory().toString());
    assertThat(ran.exit()).as(ran.out() + ran.err()).isZero();
    assertThat(ran.out()).contains("Nothing wrong was found.").contains("LONGEST GAP");
    awaitAllComponents();
    Ran repair = run("repair", "--yes");
    assertThat(repair.exit()).as(repair.out() + repair.err()).isZero();
    assertThat(repair.out()).contains("nothing is wrong");
  }

  @Test
  void anAlteredFamilyKeepsWhatIsNotSaid() throws Exception {
    assertThat(run("table", "create", "altered", "f:versions=3", "g").exit()).isZero();
    assertThat(run("table", "alter", "altered", "f:group=default").exit()).isZero();
    assertThat(run("table", "describe", "altered").out()).contains("family f:versions=3\n");
    assertThat(run("table", "alter", "altered", "g:age=1d").exit()).isZero();
    assertThat(run("table", "describe", "altered").out()).contains("family g:versions=1,age=1d\n");
  }

  private List<String> tables() throws IOException {
    return stele.admin().listTables().stream().map(TableSchema::name).toList();
  }

  @Test
  void aTabletServerKilledUnderAJobDoesNotChangeItsOutput() throws Exception {
    Table table = create("reads");
    int rows = 2000;
    try (var writer = table.batchWriter()) {
      for (int i = 0; i < rows; i++) {
        writer.add(
            Mutation.of("row%d-%05d".formatted(i % 10, i)).put("f", "q", "v".repeat(100) + i));
      }
    }
    FileSystem fs = FileSystem.get(conf);
    fs.mkdirs(GATES);
    Job undisturbed = dump("reads", "/undisturbed", "");
    undisturbed.submit();
    assertThat(undisturbed.waitForCompletion(false)).isTrue();

    Job disturbed = dump("reads", "/disturbed", "gate");
    disturbed.submit();
    await("every mapper in the middle of its split", () -> fs.listStatus(GATES).length >= 2);
    killServerOf(table, "row3");
    fs.create(new Path(GATES, "open")).close();
    assertThat(disturbed.waitForCompletion(false)).isTrue();

    assertThat(lines(fs, "/disturbed"))
        .isEqualTo(lines(fs, "/undisturbed"))
        .hasSize(rows)
        .doesNotHaveDuplicates();
    assertThat(disturbed.getCounters().findCounter("test", "foreign jars").getValue())
        .as("jars on a task's class path that are neither Hadoop's nor ours")
        .isZero();
    assertThat(disturbed.getCounters().findCounter("test", "our jars").getValue()).isPositive();
    awaitAllComponents();
  }

  /** Rows that compress badly, so that there is something to cut. */
  private Map<String, Bytes> fill(Table table, int rows) throws IOException {
    Map<String, Bytes> all = new TreeMap<>();
    Random random = new Random(7);
    try (var writer = table.batchWriter()) {
      for (int i = 0; i < rows; i++) {
        byte[] value = new byte[200];
        random.nextBytes(value);
        String row = "row%d-%05d".formatted(i % 10, i);
        all.put(row, Bytes.of(value));
        writer.add(Mutation.of(row).put("f", Bytes.of("q"), Bytes.of(value)));
      }
    }
    return all;
  }

  private Job killedJob(String name, Path gates) throws IOException {
    FileSystem.get(conf).mkdirs(gates);
    Job job = SteleJob.create(conf, name);
    job.getConfiguration().setLong(TableInputFormat.SPLIT_BYTES_KEY, 150_000);
    TableInputFormat.addTable(job, "killed", RowQuery.ALL);
    return job;
  }

  @Test
  void incrementsCountOnceWhateverAttemptsAndApplicationMastersDie() throws Exception {
    int rows = 2000;
    fill(create("killed"), rows);
    Table counts = create("increments");
    FileSystem fs = FileSystem.get(conf);
    Path gates = new Path("/gates-of-increments");
    Job job = killedJob("increments", gates);
    job.setMapperClass(KilledJobs.Increments.class);
    job.setNumReduceTasks(0);
    TableOutputFormat.addTable(job, "increments", "f");
    KilledJobs.prepare(job, gates);
    job.submit();
    await("two attempts of one task", () -> KilledJobs.isPassed(fs, gates, "MAP-0-2"));
    await("the end of another task", () -> KilledJobs.isPassed(fs, gates, "done-1"));
    List<TaggedProcess> master = KilledJobs.masters(hadoop, job);
    assertThat(master).hasSize(1);
    master.forEach(TaggedProcess::kill);
    await("another ApplicationMaster", () -> KilledJobs.isPassed(fs, gates, "MAP-0-1000"));
    KilledJobs.pass(fs, gates, "another master");
    assertThat(job.waitForCompletion(false)).isTrue();

    assertThat(KilledJobs.isPassed(fs, gates, "MAP-0-1002")).as("an attempt beside one").isTrue();
    Map<String, Long> counted = new TreeMap<>();
    read(counts)
        .forEach(
            (group, row) ->
                counted.put(
                    group, row.cells().stream().mapToLong(cell -> cell.value().toLong()).sum()));
    assertThat(counted).hasSize(10).allSatisfy((group, n) -> assertThat(n).isEqualTo(rows / 10));

    copiesOnce(rows);
  }

  /**
   * A job that reads files and writes files in place of what is there, and whose ApplicationMaster
   * dies when it has committed.
   */
  private void copiesOnce(int rows) throws Exception {
    stele.admin().createTable(TableSchema.of("copied", "f"));
    FileSystem fs = FileSystem.get(conf);
    Path gates = new Path("/gates-of-copies");
    Job job = killedJob("copies", gates);
    job.getConfiguration().set(TableInputFormat.MODE_KEY, "direct");
    job.getConfiguration().setLong(SteleJob.REDUCER_BYTES_KEY, 1);
    job.setMapperClass(KilledJobs.Copies.class);
    job.setReducerClass(KilledJobs.Puts.class);
    stele.table("copied").mutate(Mutation.of("zzz").put("f", "q", "replaced"));
    SteleJob.bulkInto(job, "copied", 2, "f");
    BulkOutputFormat.replaceTable(job, "copied");
    assertThat(job.getNumReduceTasks()).isEqualTo(2);
    job.setOutputFormatClass(KilledJobs.CommitsTwice.class);
    KilledJobs.prepare(job, gates);
    assertThat(job.waitForCompletion(false)).isTrue();

    for (String place : List.of("MAP-0-2", "REDUCE-0-2", "committed", "committed again")) {
      assertThat(KilledJobs.isPassed(fs, gates, place)).as(place).isTrue();
    }
    Map<String, Row> copied = read(stele.table("copied"));
    assertThat(copied).isEqualTo(read(stele.table("killed"))).hasSize(rows);
    assertThat(stele.table("copied").tablets()).hasSize(2);
  }

  @Test
  void aBulkJobIsOverWithItsApplication() throws Exception {
    create("killed-too");
    fill(create("input"), 300);
    FileSystem fs = FileSystem.get(conf);
    Path gates = new Path("/gates-of-the-end");
    fs.mkdirs(gates);
    Job job = SteleJob.create(conf, "has no end");
    TableInputFormat.addTable(job, "input", RowQuery.ALL);
    job.setMapperClass(KilledJobs.Copies.class);
    job.setReducerClass(KilledJobs.Puts.class);
    SteleJob.bulkInto(job, "killed-too", 1, "f");
    KilledJobs.prepare(job, gates);
    job.getConfiguration().setInt("mapreduce.am.max-attempts", 1);
    job.getConfiguration().setBoolean(KilledJobs.Puts.WAITS_KEY, true);
    job.submit();
    String name = job.getConfiguration().get("mapreduce.stele.output.bulk.job");
    await("a reducer at work", () -> KilledJobs.isPassed(fs, gates, "REDUCE-0-0"));
    assertThat(stele.jobs().state(name)).isEqualTo(JobNodes.State.BEGUN);
    KilledJobs.masters(hadoop, job).forEach(TaggedProcess::kill);
    await("the job's end", () -> stele.jobs().state(name) == JobNodes.State.GONE);
    assertThat(read(stele.table("killed-too"))).isEmpty();
  }

  @Test
  void theExamplesOfTheReadmeRunAsTheyStand() throws Exception {
    ReadmeExample client = ReadmeExample.ofStatements("ClientExample", "Stele.connect");
    ReadmeExample job = ReadmeExample.ofMembers("AnchorsOfHosts", "TableInputFormat.addTable");
    assertThat(client.run(conf)).contains("com.example/index.html").contains("look here");
    job.run(conf, "/anchors");
    try (FileSystem fs = FileSystem.newInstance(conf)) {
      assertThat(lines(fs, "/anchors")).containsExactly("com.example\t1");
    }
  }

  @Test
  void aKilledMasterIsReplacedAndHindersNobody() throws Exception {
    Table table = create("master");
    table.mutate(Mutation.of("row").put("f", "q", "before"));
    kill("master-1");
    table.mutate(Mutation.of("row").put("f", "q", "meanwhile")); // No master is needed for that.
    assertThat(table.readRow("row").orElseThrow().value("f", "q")).contains(Bytes.of("meanwhile"));
    await(
        "another master",
        () -> {
          try {
            stele.admin().createTable(TableSchema.of("after-master", "f"));
            return true;
          } catch (io.stele.model.SteleException | IOException e) {
            return stele.admin().listTables().stream()
                .anyMatch(schema -> schema.name().equals("after-master"));
          }
        });
    stele.table("after-master").mutate(Mutation.of("row").put("f", "q", "after"));
    awaitAllComponents();
  }

  @Test
  void aKilledApplicationMasterIsReplacedAndItsContainersLiveOn() throws Exception {
    Table table = create("am");
    awaitAllComponents();
    Set<Long> before = components();
    hadoop.processes().stream()
        .filter(process -> process.isJava() && process.command().contains("ApplicationMasterMain"))
        .forEach(TaggedProcess::kill);
    table.mutate(Mutation.of("row").put("f", "q", "without an ApplicationMaster"));
    awaitAllComponents();
    assertThat(components()).isEqualTo(before);
    assertThat(table.readRow("row")).isPresent();
  }

  @Test
  void theCommandLineDoesWhatItSaysAndRefusesWhatIsWrong() throws Exception {
    assertThat(run("table", "create", "notes", "text:versions=2"))
        .isEqualTo(new Ran(0, "Created table notes.\n", ""));
    assertThat(run("put", "notes", "row1", "text:title", "hello").exit()).isZero();
    assertThat(run("get", "notes", "row1").out()).contains("text:title").contains("hello");
    assertThat(run("scan", "notes").out()).contains("row1");
    assertThat(run("table", "describe", "notes").out())
        .contains("family text:versions=2")
        .contains("SSTABLES");

    assertThat(
            run(
                    "table",
                    "alter",
                    "notes",
                    "body:group=large",
                    "--group",
                    "large:block=1m,cache=low")
                .out())
        .isEqualTo("Altered table notes.\n");
    assertThat(run("put", "notes", "row1", "body:", "at length").exit()).isZero();
    assertThat(run("table", "compact", "notes").exit()).isZero();
    assertThat(run("table", "describe", "notes").out())
        .contains(
            "family body:versions=1,group=large",
            "group large:codec=snappy,block=1024k,bloom=row,cache=low")
        .contains("group default:");
    assertThat(run("get", "notes", "row1").out()).contains("hello").contains("at length");
    assertThat(run("table", "alter", "notes", "--group", "large:blok=1m"))
        .satisfies(refused(4, "blok=1m", "block="));
    assertThat(run("table", "alter", "notes", "--drop-family", "body").exit()).isZero();
    assertThat(run("get", "notes", "row1").out()).doesNotContain("at length");

    assertThat(run("get", "nothere", "row1")).satisfies(refused(3, "nothere"));
    assertThat(run("put", "notes", "row1", "nofamily:x", "v")).satisfies(refused(3, "nofamily"));
    assertThat(run("put", "notes", "r".repeat((64 << 10) + 1), "text:x", "v"))
        .satisfies(refused(4, "65537", "65536"));
    assertThat(run("table", "create", "bad", "a\u0001b"))
        .satisfies(refused(4, "\\x01", "printable"));
    assertThat(run("table", "create", "notes", "text")).satisfies(refused(4, "notes"));
    assertThat(run("table", "list", "-D", "stele.rot.dir=/x"))
        .satisfies(refused(4, "stele.rot.dir", "stele.root.dir"));
    assertThat(run("table", "list", "-D", "stele.client.timeout=soon"))
        .satisfies(refused(4, "stele.client.timeout", "soon", "10s"));
    assertThat(run("tabel", "list")).satisfies(refused(2, "tabel"));
    assertThat(run("scan", "notes").out().lines().filter(line -> line.contains("hello")))
        .hasSize(1);
    assertThat(run("table", "list").out()).contains("notes").doesNotContain("bad");

    assertThat(run("file", "verify", "/stele/logs").exit()).isZero();
    java.nio.file.Path damaged = java.nio.file.Path.of("target", "damaged.log").toAbsolutePath();
    Path log = FileSystem.get(conf).globStatus(new Path("/stele/logs/*/system-1.log"))[0].getPath();
    byte[] bytes;
    try (FSDataInputStream in = FileSystem.get(conf).open(log)) {
      bytes = in.readAllBytes();
    }
    bytes[bytes.length / 2] ^= 1;
    java.nio.file.Files.write(damaged, bytes);
    assertThat(run("file", "verify", "file://" + damaged))
        .satisfies(ran -> assertThat(ran.exit()).isEqualTo(7))
        .satisfies(ran -> assertThat(ran.out()).contains("offset"));
    assertThat(run("table", "drop", "notes")).satisfies(refused(2, "--yes"));
    assertThat(run("table", "drop", "notes", "--yes").exit()).isZero();
  }

  private static Consumer<Ran> refused(int exit, String... words) {
    return ran -> {
      assertThat(ran.exit()).as(ran.err()).isEqualTo(exit);
      assertThat(ran.err()).contains(words).doesNotContain("\tat ");
      assertThat(ran.err().lines().count()).as(ran.err()).isLessThanOrEqualTo(4);
    };
  }

  private Ran run(String... command) throws IOException {
    java.nio.file.Path directory =
        java.nio.file.Files.createDirectories(java.nio.file.Path.of("target", "command-line-conf"));
    try (OutputStream site =
        java.nio.file.Files.newOutputStream(directory.resolve("core-site.xml"))) {
      conf.writeXml(site);
    }
    List<String> arguments = new ArrayList<>(List.of(command));
    if (!command[0].equals("tabel")) {
      arguments.addAll(List.of("--conf", directory.toString()));
    }
    return Ran.of(arguments);
  }

  private Table create(String name) throws IOException {
    stele.admin().createTable(TableSchema.of(name, "f"), List.of(Bytes.of(SPLITS_AT)));
    return stele.table(name);
  }

  private Set<Long> components() {
    return hadoop.processes().stream()
        .filter(process -> process.isJava() && process.component().isPresent())
        .map(TaggedProcess::pid)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private void killServerOf(Table table, String row) throws Exception {
    ServerId server =
        table.tablets().stream()
            .filter(tablet -> tablet.rows().contains(Bytes.of(row)))
            .map(TabletInfo::server)
            .flatMap(Optional::stream)
            .findFirst()
            .orElseThrow();
    // A server's process is known by the port it listens on, which its name has.
    String component =
        hadoop.processes().stream()
            .filter(process -> process.isJava() && listensOn(process.pid(), server.port()))
            .flatMap(process -> process.component().stream())
            .findFirst()
            .orElseThrow();
    kill(component);
  }

  private void kill(String component) {
    List<TaggedProcess> victims =
        hadoop.processes().stream()
            .filter(
                process -> process.isJava() && process.component().equals(Optional.of(component)))
            .toList();
    assertThat(victims).as("processes of %s", component).isNotEmpty();
    victims.forEach(TaggedProcess::kill);
  }

  private static boolean listensOn(long pid, int port) {
    try (Stream<java.nio.file.Path> descriptors =
        java.nio.file.Files.list(java.nio.file.Path.of("/proc/" + pid + "/fd"))) {
      String hexPort = ":%04X ".formatted(port);
      Set<String> inodes = new TreeSet<>();
      for (String file : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
        for (String line : java.nio.file.Files.readAllLines(java.nio.file.Path.of(file))) {
          String[] fields = line.trim().split("\\s+");
          if (fields.length > 9 && (fields[1] + " ").endsWith(hexPort) && fields[3].equals("0A")) {
            inodes.add("socket:[" + fields[9] + "]");
          }
        }
      }
      return descriptors.anyMatch(descriptor -> inodes.contains(linkOf(descriptor)));
    } catch (IOException e) {
      return false; // It has ended.
    }
  }

  private static String linkOf(java.nio.file.Path descriptor) {
    try {
      return java.nio.file.Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      return ""; // It was closed meanwhile.
    }
  }

  private void awaitAllComponents() throws Exception {
    await(
        "all components",
        () -> {
          Optional<ApplicationStatus> status = yarn.status();
          return status.isPresent()
              && status.get().complete()
              && status.get().components().stream().map(ComponentStatus::id).distinct().count() == 3
              && stele.admin().clusterStatus().servers().size() == 2
              && stele.admin().clusterStatus().unassigned() == 0;
        });
  }

  private static Map<String, Row> read(Table table) throws IOException {
    Map<String, Row> all = new TreeMap<>();
    try (Rows rows = table.readRows(RowQuery.ALL)) {
      for (Row row : rows) {
        assertThat(all.put(row.key().toUtf8(), row)).as("row %s came twice", row.key()).isNull();
      }
    }
    return all;
  }

  private Job dump(String table, String output, String gate) throws IOException {
    Job job = SteleJob.create(conf, "dump " + table, SteleOnYarnIT.class);
    // Both tablets are small and on one host: one mapper would read them.
    job.getConfiguration().setLong("mapreduce.stele.input.split.bytes", 10_000);
    job.setJar(JarOf.classes(DumpMapper.class).toString());
    job.getConfiguration().set("test.gate", gate);
    TableInputFormat.addTable(job, table, RowQuery.ALL);
    job.setMapperClass(DumpMapper.class);
    job.setNumReduceTasks(0);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(Text.class);
    FileOutputFormat.setOutputPath(job, new Path(output));
    return job;
  }

  private static List<String> lines(FileSystem fs, String directory) throws IOException {
    List<String> lines = new ArrayList<>();
    for (FileStatus file : fs.globStatus(new Path(directory, "part-*"))) {
      try (FSDataInputStream in = fs.open(file.getPath())) {
        lines.addAll(new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList());
      }
    }
    lines.sort(null);
    return lines;
  }

  private static void await(String what, Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    Exception last = null;
    while (true) {
      try {
        if (condition.call()) {
          return;
        }
      } catch (IOException | io.stele.model.SteleException e) {
        last = e; // Not yet, then.
      }
      if (System.nanoTime() > deadline) {
        throw new AssertionError("waited in vain for " + what, last);
      }
      Thread.sleep(100);
    }
  }

  /**
   * Writes every row to the output; waits at a gate in the middle of its split, if there is one.
   */
  public static final class DumpMapper extends Mapper<Bytes, Row, Text, Text> {
    private static final int ROWS_BEFORE_THE_GATE = 300;
    private int rows;

    @Override
    protected void setup(Context context) {
      String hadoopJars =
          context.getConfiguration().get("mapreduce.application.classpath").replace("*", "");
      for (String entry : System.getProperty("java.class.path").split(":")) {
        String name = entry.substring(entry.lastIndexOf('/') + 1);
        if (name.startsWith("stele-") || name.startsWith("aircompressor-")) {
          context.getCounter("test", "our jars").increment(1);
        } else if (name.endsWith(".jar")
            && !entry.startsWith(hadoopJars)
            && !name.equals("job.jar")) {
          context.getCounter("test", "foreign jars").increment(1);
        }
      }
    }

    @Override
    protected void map(Bytes key, Row row, Context context)
        throws IOException, InterruptedException {
      if (++rows == ROWS_BEFORE_THE_GATE
          && !context.getConfiguration().get("test.gate", "").isEmpty()) {
        FileSystem fs = FileSystem.get(context.getConfiguration());
        fs.create(new Path("/gates/" + context.getTaskAttemptID()), true).close();
        while (!fs.exists(new Path("/gates/open"))) {
          context.progress();
          Thread.sleep(100);
        }
      }
      context.write(
          new Text(key.toUtf8()), new Text(row.value("f", "q").map(Bytes::toUtf8).orElse("")));
    }
  }
}
