package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.cli.embedded.JarOf;
import io.stele.cli.embedded.TaggedProcess;
import io.stele.client.Table;
import io.stele.inputformat.TableInputFormat;
import io.stele.mapreduce.SteleJob;
import io.stele.mapreduce.documents.DocumentExample;
import io.stele.metadata.JobNodes;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.TableSchema;
import io.stele.outputformat.BulkOutputFormat;
import io.stele.outputformat.TableOutputFormat;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobCounter;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** MapReduce jobs over Stele as a YARN application, while processes of both are killed. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(600)
class YarnJobsIT {
  private static final Path GATES = new Path("/gates");
  private static final String CLIENT_PROGRAMS = "examples/client/src/main/java/";

  private RunningStele cluster;

  @BeforeAll
  void start() throws Exception {
    cluster = new RunningStele("jobs-on-yarn");
  }

  @AfterAll
  void stop() throws Exception {
    if (cluster != null) {
      cluster.stop();
    }
  }

  @Test
  void aTabletServerKilledUnderAJobDoesNotChangeItsOutput() throws Exception {
    Table table = cluster.create("reads");
    int rows = 2000;
    try (var writer = table.batchWriter()) {
      for (int i = 0; i < rows; i++) {
        writer.add(
            Mutation.of("row%d-%05d".formatted(i % 10, i)).put("f", "q", "v".repeat(100) + i));
      }
    }
    FileSystem fs = FileSystem.get(cluster.conf());
    fs.mkdirs(GATES);
    Job undisturbed = dump("reads", "/undisturbed", "");
    undisturbed.submit();
    assertThat(undisturbed.waitForCompletion(false)).isTrue();

    Job disturbed = dump("reads", "/disturbed", "gate");
    disturbed.submit();
    RunningStele.await(
        "every mapper in the middle of its split", () -> fs.listStatus(GATES).length >= 2);
    cluster.killServerOf(table, "row3");
    fs.create(new Path(GATES, "open")).close();
    assertThat(disturbed.waitForCompletion(false)).isTrue();

    assertThat(RunningStele.lines(fs, "/disturbed"))
        .isEqualTo(RunningStele.lines(fs, "/undisturbed"))
        .hasSize(rows)
        .doesNotHaveDuplicates();
    assertThat(disturbed.getCounters().findCounter("test", "foreign jars").getValue())
        .as("jars on a task's class path that are neither Hadoop's nor ours")
        .isZero();
    assertThat(disturbed.getCounters().findCounter("test", "our jars").getValue()).isPositive();
    cluster.awaitAllComponents();
  }

  @Test
  void incrementsCountOnceWhateverAttemptsAndApplicationMastersDie() throws Exception {
    int rows = 2000;
    fill(cluster.create("killed"), rows);
    Table counts = cluster.create("increments");
    FileSystem fs = FileSystem.get(cluster.conf());
    Path gates = new Path("/gates-of-increments");
    Job job = killedJob("increments", gates);
    job.setMapperClass(KilledJobs.Increments.class);
    job.setNumReduceTasks(0);
    TableOutputFormat.addTable(job, "increments", "f");
    KilledJobs.prepare(job, gates);
    job.submit();
    RunningStele.await("two attempts of one task", () -> KilledJobs.isPassed(fs, gates, "MAP-0-2"));
    RunningStele.await("the end of another task", () -> KilledJobs.isPassed(fs, gates, "done-1"));
    List<TaggedProcess> master = KilledJobs.masters(cluster.hadoop(), job);
    assertThat(master).hasSize(1);
    master.forEach(TaggedProcess::kill);
    RunningStele.await(
        "another ApplicationMaster", () -> KilledJobs.isPassed(fs, gates, "MAP-0-1000"));
    KilledJobs.pass(fs, gates, "another master");
    assertThat(job.waitForCompletion(false)).isTrue();

    assertThat(KilledJobs.isPassed(fs, gates, "MAP-0-1002")).as("an attempt beside one").isTrue();
    Map<String, Long> counted = new TreeMap<>();
    RunningStele.read(counts)
        .forEach(
            (group, row) ->
                counted.put(
                    group, row.cells().stream().mapToLong(cell -> cell.value().toLong()).sum()));
    assertThat(counted).hasSize(10).allSatisfy((group, n) -> assertThat(n).isEqualTo(rows / 10));

    copiesOnce(rows);
    sortsInTasks(rows);
  }

  /**
   * A job that reads files and writes files in place of what is there, and whose ApplicationMaster
   * dies when it has committed.
   */
  private void copiesOnce(int rows) throws Exception {
    cluster.stele().admin().createTable(TableSchema.of("copied", "f"));
    FileSystem fs = FileSystem.get(cluster.conf());
    Path gates = new Path("/gates-of-copies");
    Job job = killedJob("copies", gates);
    job.getConfiguration().set(TableInputFormat.MODE_KEY, "direct");
    job.getConfiguration().setLong(SteleJob.REDUCER_BYTES_KEY, 1);
    job.setMapperClass(KilledJobs.Copies.class);
    job.setReducerClass(KilledJobs.Puts.class);
    cluster.stele().table("copied").mutate(Mutation.of("zzz").put("f", "q", "replaced"));
    SteleJob.bulkInto(job, "copied", 2, "f");
    BulkOutputFormat.replaceTable(job, "copied");
    assertThat(job.getNumReduceTasks()).isEqualTo(2);
    job.setOutputFormatClass(KilledJobs.CommitsTwice.class);
    KilledJobs.prepare(job, gates);
    assertThat(job.waitForCompletion(false)).isTrue();

    for (String place : List.of("MAP-0-2", "REDUCE-0-2", "committed", "committed again")) {
      assertThat(KilledJobs.isPassed(fs, gates, place)).as(place).isTrue();
    }
    Map<String, Row> copied = RunningStele.read(cluster.stele().table("copied"));
    assertThat(copied).isEqualTo(RunningStele.read(cluster.stele().table("killed"))).hasSize(rows);
    assertThat(cluster.stele().table("copied").tablets()).hasSize(2);
  }

  /** A job without reducers: its mappers write rows in any order, and sort them. */
  private void sortsInTasks(int rows) throws Exception {
    List<Bytes> splits = List.of(Bytes.of("3"), Bytes.of("6"));
    cluster.stele().admin().createTable(TableSchema.of("sorted", "f"), splits);
    Table sorted = cluster.stele().table("sorted");
    Job job = SteleJob.create(cluster.conf(), "sorts in tasks");
    job.setJar(JarOf.classes(ReversingMapper.class).toString());
    job.getConfiguration().setLong(TableInputFormat.SPLIT_BYTES_KEY, 150_000);
    TableInputFormat.addTable(job, "killed", RowQuery.ALL);
    job.setMapperClass(ReversingMapper.class);
    SteleJob.bulkWithoutReduce(job, "sorted", 3, "f");
    assertThat(job.waitForCompletion(false)).isTrue();

    Map<String, Row> expected = new TreeMap<>();
    RunningStele.read(cluster.stele().table("killed"))
        .forEach(
            (key, row) -> {
              Bytes reversed = ReversingMapper.reversed(key);
              expected.put(reversed.toUtf8(), new Row(reversed, row.cells()));
            });
    assertThat(RunningStele.read(sorted)).isEqualTo(expected).hasSize(rows);
    assertThat(job.getCounters().findCounter(JobCounter.TOTAL_LAUNCHED_MAPS).getValue())
        .as("tasks that sort")
        .isGreaterThan(1);
  }

  /** Copies rows to others, which come in any order. */
  public static final class ReversingMapper extends Mapper<Bytes, Row, Bytes, Mutation> {
    static Bytes reversed(String row) {
      return Bytes.of(new StringBuilder(row).reverse().toString());
    }

    @Override
    protected void map(Bytes key, Row row, Context context)
        throws IOException, InterruptedException {
      Mutation copy = Mutation.of(reversed(key.toUtf8()));
      for (Cell cell : row.cells()) {
        copy = copy.put(cell.family(), cell.qualifier(), cell.timestampMicros(), cell.value());
      }
      context.write(key, copy);
    }
  }

  @Test
  void aBulkJobIsOverWithItsApplication() throws Exception {
    cluster.create("killed-too");
    fill(cluster.create("input"), 300);
    FileSystem fs = FileSystem.get(cluster.conf());
    Path gates = new Path("/gates-of-the-end");
    fs.mkdirs(gates);
    Job job = SteleJob.create(cluster.conf(), "has no end");
    TableInputFormat.addTable(job, "input", RowQuery.ALL);
    job.setMapperClass(KilledJobs.Copies.class);
    job.setReducerClass(KilledJobs.Puts.class);
    SteleJob.bulkInto(job, "killed-too", 1, "f");
    KilledJobs.prepare(job, gates);
    job.getConfiguration().setInt("mapreduce.am.max-attempts", 1);
    job.getConfiguration().setBoolean(KilledJobs.Puts.WAITS_KEY, true);
    job.submit();
    String name = job.getConfiguration().get("mapreduce.stele.output.bulk.job");
    RunningStele.await("a reducer at work", () -> KilledJobs.isPassed(fs, gates, "REDUCE-0-0"));
    assertThat(cluster.stele().jobs().state(name)).isEqualTo(JobNodes.State.BEGUN);
    KilledJobs.masters(cluster.hadoop(), job).forEach(TaggedProcess::kill);
    RunningStele.await(
        "the job's end", () -> cluster.stele().jobs().state(name) == JobNodes.State.GONE);
    assertThat(RunningStele.read(cluster.stele().table("killed-too"))).isEmpty();
  }

  @Test
  void theExamplesOfTheReadmeRunAsTheyStand() throws Exception {
    ExampleProgram client =
        new ExampleProgram(DocumentExample.ofFile(CLIENT_PROGRAMS + "Pages.java"));
    ExampleProgram job =
        new ExampleProgram(DocumentExample.ofFile(CLIENT_PROGRAMS + "AnchorsOfHosts.java"));
    assertThat(client.run(cluster.conf())).contains("com.example/index.html").contains("look here");
    job.run(cluster.conf(), "/anchors");
    try (FileSystem fs = FileSystem.newInstance(cluster.conf())) {
      assertThat(RunningStele.lines(fs, "/anchors")).containsExactly("com.example\t1");
    }
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
    FileSystem.get(cluster.conf()).mkdirs(gates);
    Job job = SteleJob.create(cluster.conf(), name);
    job.getConfiguration().setLong(TableInputFormat.SPLIT_BYTES_KEY, 150_000);
    TableInputFormat.addTable(job, "killed", RowQuery.ALL);
    return job;
  }

  private Job dump(String table, String output, String gate) throws IOException {
    Job job = SteleJob.create(cluster.conf(), "dump " + table, YarnJobsIT.class);
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
