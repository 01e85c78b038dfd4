package io.stele.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.BatchWriter;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.TabletInfo;
import io.stele.config.Keys;
import io.stele.inputformat.TableInputFormat;
import io.stele.metadata.JobNodes;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.LocalityGroup;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.outputformat.BulkOutputFormat;
import io.stele.sim.MiniStele;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs that write files for tables, over HDFS and ZooKeeper in this JVM. */
class BulkOutputIT {
  private static final int ROWS = 1000;

  @TempDir private static Path scratch;
  private static HdfsCluster hdfs;
  private static Stele client;

  @BeforeAll
  static void start() throws Exception {
    hdfs = new HdfsCluster(scratch.toFile());
    client = hdfs.stele().client();
    create("numbers", List.of());
    try (BatchWriter writer = client.table("numbers").batchWriter()) {
      for (int i = 0; i < ROWS; i++) {
        writer.add(Mutation.of(row(i)).put("f", "n", Integer.toString(i)));
      }
    }
  }

  @AfterAll
  static void stop() throws Exception {
    hdfs.close();
  }

  private static Bytes row(int number) {
    return Bytes.of(String.format("row%04d", number));
  }

  private static void create(String table, List<Bytes> splits) throws IOException {
    TableSchema schema =
        TableSchema.of(
            table,
            List.of(ColumnFamily.of("f"), ColumnFamily.of("g").in("other")),
            LocalityGroup.of("other"));
    client.admin().createTable(schema, splits);
  }

  private static Map<Bytes, Row> rows(String table) throws IOException {
    Map<Bytes, Row> found = new TreeMap<>();
    try (Rows rows = client.table(table).readRows(RowQuery.ALL)) {
      rows.forEach(row -> found.put(row.key(), row));
    }
    return found;
  }

  /** Writes each row to the row whose digits are reversed, and fails at {@code fail.at}. */
  static final class ReverseMapper extends Mapper<Bytes, Row, Bytes, Mutation> {
    @Override
    protected void map(Bytes key, Row row, Context context)
        throws IOException, InterruptedException {
      String number = row.value("f", "n").orElseThrow().toUtf8();
      if (number.equals(context.getConfiguration().get("fail.at"))) {
        throw new IOException("as the test wants it");
      }
      Bytes target = Bytes.of(new StringBuilder(key.toUtf8()).reverse().toString());
      context.write(target, Mutation.of(target).put("f", "n", number).put("g", "m", "x" + number));
    }
  }

  private static Job reverse(String table) throws IOException {
    Job job = SteleJob.create(hdfs.conf(), "reverse into " + table, BulkOutputIT.class);
    job.getConfiguration().setLong(TableInputFormat.SPLIT_BYTES_KEY, 10 << 10);
    TableInputFormat.addTable(job, "numbers", RowQuery.ALL);
    job.setMapperClass(ReverseMapper.class);
    BulkOutputFormat.addTable(job, table, "f", "g");
    BulkOutputFormat.reduceByTablet(job, table, 3);
    return job;
  }

  @Test
  void whatAJobWritesIsThereWhenItHasEnded() throws Exception {
    create("reversed", List.of(Bytes.of("2"), Bytes.of("4"), Bytes.of("6"), Bytes.of("8")));
    client.table("reversed").mutate(Mutation.of("0000wor").put("f", "old", "y"));
    Job job = reverse("reversed");
    assertThat(job.getNumReduceTasks()).isEqualTo(3);
    assertThat(job.waitForCompletion(true)).isTrue();
    Map<Bytes, Row> rows = rows("reversed");
    assertThat(rows).hasSize(ROWS);
    for (int i = 0; i < ROWS; i++) {
      Row row = rows.get(Bytes.of(new StringBuilder(row(i).toUtf8()).reverse().toString()));
      assertThat(row.value("f", "n")).contains(Bytes.of(Integer.toString(i)));
      assertThat(row.value("g", "m")).contains(Bytes.of("x" + i));
    }
    assertThat(rows.get(Bytes.of("0000wor")).value("f", "old")).contains(Bytes.of("y"));
    assertThat(job.getCounters().findCounter(BulkOutputFormat.Counter.MUTATIONS).getValue())
        .isEqualTo(ROWS);
    assertThat(job.getCounters().findCounter(BulkOutputFormat.Counter.EDITS).getValue())
        .isEqualTo(2 * ROWS);
    assertThat(job.getCounters().findCounter(TaskCounter.SPILLED_RECORDS).getValue())
        .as("records written to local disk: by mappers, and not again by reducers")
        .isEqualTo(ROWS);
    assertThat(job.getConfiguration().getInt("dfs.bytes-per-checksum", 512)).isEqualTo(4096);

    // They are like any others: deleted, overwritten, split and compacted.
    client.table("reversed").mutate(Mutation.of("1000wor").deleteRow());
    client.admin().splitTablet("reversed", Bytes.of("5"));
    assertThat(rows("reversed")).hasSize(ROWS - 1);
  }

  /** Deletes the row of each number, writes into it, and at the end again. */
  static final class RewriteMapper extends Mapper<Bytes, Row, Bytes, Mutation> {
    private final List<Bytes> keys = new ArrayList<>();

    @Override
    protected void map(Bytes key, Row row, Context context)
        throws IOException, InterruptedException {
      context.write(key, Mutation.of(key).deleteRow());
      context.write(key, Mutation.of(key).put("f", "n", "first"));
      keys.add(key);
    }

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      for (Bytes key : keys) {
        context.write(key, Mutation.of(key).put("f", "n", "second"));
      }
    }
  }

  /** MapReduce sorts equal keys in any order, and merges those of several spills in any. */
  @Test
  void whatAMapperWritesToARowTakesEffectInTheOrderWrittenAfterAShuffleToo() throws Exception {
    create("rewritten", List.of(row(300), row(900)));
    Job job = SteleJob.create(hdfs.conf(), "rewrite", BulkOutputIT.class);
    job.getConfiguration().setInt("mapreduce.task.io.sort.mb", 1);
    job.getConfiguration().set("mapreduce.map.sort.spill.percent", "0.02");
    TableInputFormat.addTable(job, "numbers", RowQuery.ALL);
    job.setMapperClass(RewriteMapper.class);
    SteleJob.bulkInto(job, "rewritten", 3, "f");
    assertThat(job.waitForCompletion(true)).isTrue();
    assertThat(job.getCounters().findCounter(TaskCounter.SPILLED_RECORDS).getValue())
        .as("in several spills")
        .isGreaterThan(3 * ROWS);
    Map<Bytes, Row> rows = rows("rewritten");
    assertThat(rows).hasSize(ROWS);
    assertThat(rows.values())
        .allSatisfy(row -> assertThat(row.value("f", "n")).contains(Bytes.of("second")));
  }

  @Test
  void aJobThatFailsLeavesNothing() throws Exception {
    create("nothing", List.of(Bytes.of("5")));
    Job job = reverse("nothing");
    job.getConfiguration().set("fail.at", "777");
    assertThat(job.waitForCompletion(true)).isFalse();
    assertThat(rows("nothing")).isEmpty();
    String failed = job.getConfiguration().get("mapreduce.stele.output.bulk.job");
    assertThat(client.jobs().state(failed)).isEqualTo(JobNodes.State.GONE);
    org.apache.hadoop.fs.Path files =
        new org.apache.hadoop.fs.Path(Keys.ROOT_DIR.in(hdfs.conf()), "bulk/" + failed);
    MiniStele.await(
        "the sweep of a failed job's files",
        () -> {
          hdfs.stele().master().sweep();
          return !hdfs.fs().exists(files);
        });
    Job after = reverse("nothing");
    assertThat(after.waitForCompletion(true)).isTrue();
    assertThat(rows("nothing")).hasSize(ROWS);
  }

  private static Job sampled(String table) throws IOException {
    create(table, List.of());
    Job job = SteleJob.create(hdfs.conf(), "bulk into " + table, BulkOutputIT.class);
    job.getConfiguration().setLong(TableInputFormat.SPLIT_BYTES_KEY, 10 << 10);
    job.getConfiguration().setLong(SteleJob.REDUCER_BYTES_KEY, 1);
    TableInputFormat.addTable(job, "numbers", RowQuery.ALL);
    job.setMapperClass(ReverseMapper.class);
    SteleJob.bulkInto(job, table, 5, "f", "g");
    return job;
  }

  private static long tablets(String table) throws IOException {
    return client.table(table).tablets().size();
  }

  @Test
  void aTableOfOneTabletIsDividedByASampleOfTheInputWhenTheJobCommits() throws Exception {
    Job failing = sampled("sampled");
    assertThat(failing.getNumReduceTasks()).isEqualTo(5);
    failing.getConfiguration().set("fail.at", "777");
    assertThat(failing.waitForCompletion(true)).isFalse();
    assertThat(tablets("sampled")).as("of a job that failed nothing stays").isEqualTo(1);

    client.admin().dropTable("sampled");
    Job job = sampled("sampled");
    assertThat(job.waitForCompletion(true)).isTrue();
    assertThat(rows("sampled")).hasSize(ROWS);
    assertThat(tablets("sampled")).isEqualTo(5);
    List<Long> sizes = new ArrayList<>();
    for (TabletInfo tablet : client.table("sampled").tablets()) {
      try (Rows rows = client.table("sampled").readRows(RowQuery.ALL.range(tablet.rows()))) {
        sizes.add(rows.stream().count());
      }
    }
    assertThat(sizes).allSatisfy(size -> assertThat(size).isBetween(ROWS / 10L, ROWS * 4 / 10L));
  }

  @Test
  void rowsThatAreGivenDivideTheWorkAndTheTable() throws Exception {
    create("given", List.of());
    Job job = SteleJob.create(hdfs.conf(), "into given rows", BulkOutputIT.class);
    TableInputFormat.addTable(job, "numbers", RowQuery.ALL);
    job.setMapperClass(ReverseMapper.class);
    BulkOutputFormat.addTable(job, "given", "f", "g");
    assertThatThrownBy(
            () ->
                BulkOutputFormat.reduceByRows(job, "given", List.of(Bytes.of("5"), Bytes.of("3"))))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("ascend");
    BulkOutputFormat.reduceByRows(job, "given", List.of(Bytes.of("3"), Bytes.of("5")));
    assertThat(job.getNumReduceTasks()).isEqualTo(3);
    assertThat(job.waitForCompletion(true)).isTrue();
    assertThat(rows("given")).hasSize(ROWS);
    assertThat(client.table("given").tablets())
        .extracting(TabletInfo::rows)
        .containsExactly(RowRange.of("", "3"), RowRange.of("3", "5"), RowRange.of("5", ""));
  }

  @Test
  void aValueThatServersDoNotTakeIsRefusedAtTheDoorAsTheyRefuseIt() throws Exception {
    create("values", List.of());
    // What servers take is theirs to say: the job's configuration does not.
    Configuration unaware = new Configuration(hdfs.conf());
    unaware.unset(Keys.VALUE_BYTES_MAX.name());
    Job job = SteleJob.create(unaware, "large values", BulkOutputIT.class);
    BulkOutputFormat.addTable(job, "values", "f");
    begin(job);
    RecordWriter<NullWritable, Mutation> writer =
        new BulkOutputFormat<NullWritable>().getRecordWriter(attempt(job, 0, 0));
    Mutation large =
        Mutation.of(row(1))
            .put("f", Bytes.of("n"), Bytes.of(new byte[HdfsCluster.VALUE_BYTES + 1]));
    String words =
        "has " + (HdfsCluster.VALUE_BYTES + 1) + " bytes: the limit is " + HdfsCluster.VALUE_BYTES;
    assertThatThrownBy(() -> writer.write(NullWritable.get(), large))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining(words);
    try (Stele live = Stele.connect(unaware)) {
      assertThatThrownBy(() -> live.table("values").mutate(large))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining(words);
    }
    writer.write(
        NullWritable.get(),
        Mutation.of(row(1)).put("f", Bytes.of("n"), Bytes.of(new byte[HdfsCluster.VALUE_BYTES])));
    writer.close(attempt(job, 0, 0));
  }

  private static TaskAttemptContext attempt(Job job, int task, int attempt) {
    return new TaskAttemptContextImpl(
        job.getConfiguration(), new TaskAttemptID("bulk", 1, TaskType.REDUCE, task, attempt));
  }

  private static RecordWriter<NullWritable, Mutation> write(
      TaskAttemptContext context, int from, int to, String value) throws Exception {
    RecordWriter<NullWritable, Mutation> writer =
        new BulkOutputFormat<NullWritable>().getRecordWriter(context);
    for (int i = from; i < to; i++) {
      writer.write(NullWritable.get(), Mutation.of(row(i)).put("f", "n", value + i));
    }
    writer.close(context);
    return writer;
  }

  /** Submits a job that nobody runs, and sets it up as its ApplicationMaster would. */
  private static OutputCommitter begin(Job job) throws Exception {
    new BulkOutputFormat<NullWritable>().checkOutputSpecs(job);
    return setUp(job, attempt(job, 0, 0));
  }

  private static OutputCommitter setUp(Job job, TaskAttemptContext task) throws Exception {
    job.setJobID(task.getJobID());
    OutputCommitter committer = new BulkOutputFormat<NullWritable>().getOutputCommitter(task);
    committer.setupJob(job);
    return committer;
  }

  private static Job byHand(String table) throws Exception {
    create(table, List.of(row(30), row(60)));
    Job job = SteleJob.create(hdfs.conf(), "by hand", BulkOutputIT.class);
    BulkOutputFormat.addTable(job, table, "f");
    return job;
  }

  @Test
  void oneAttemptOfATaskCountsAndCommittingAgainChangesNothing() throws Exception {
    Job job = byHand("attempts");
    OutputCommitter committer = begin(job);
    // The first attempt of task 0 dies before it ends, the second commits, the third comes late.
    RecordWriter<NullWritable, Mutation> dies =
        new BulkOutputFormat<NullWritable>().getRecordWriter(attempt(job, 0, 0));
    dies.write(NullWritable.get(), Mutation.of(row(0)).put("f", "n", "dead"));
    assertThat(committer.needsTaskCommit(attempt(job, 0, 0))).isFalse();
    write(attempt(job, 0, 1), 0, 50, "second");
    assertThat(committer.needsTaskCommit(attempt(job, 0, 1))).isTrue();
    committer.commitTask(attempt(job, 0, 1));
    committer.commitTask(attempt(job, 0, 1)); // Its answer was lost.
    write(attempt(job, 0, 2), 0, 50, "third");
    committer.commitTask(attempt(job, 0, 2));
    RecordWriter<NullWritable, Mutation> first = write(attempt(job, 1, 0), 50, 100, "first");
    committer.commitTask(attempt(job, 1, 0));
    first.close(attempt(job, 1, 0)); // Once more, and whoever does so may abort it, too.
    committer.abortTask(attempt(job, 1, 0));
    write(attempt(job, 2, 0), 0, 100, "aborted");
    committer.abortTask(attempt(job, 2, 0));
    assertThat(rows("attempts")).isEmpty();

    committer.commitJob(job);
    Map<Bytes, Row> rows = rows("attempts");
    assertThat(rows).hasSize(100);
    for (int i = 0; i < 100; i++) {
      assertThat(rows.get(row(i)).value("f", "n"))
          .contains(Bytes.of((i < 50 ? "second" : "first") + i));
    }

    client.table("attempts").mutate(Mutation.of(row(7)).put("f", "n", "later"));
    // Another ApplicationMaster does not know that it is done.
    OutputCommitter next =
        new BulkOutputFormat<NullWritable>().getOutputCommitter(attempt(job, 0, 0));
    assertThat(next.isCommitJobRepeatable(job)).isTrue();
    assertThat(next.isRecoverySupported(job)).isTrue();
    next.recoverTask(attempt(job, 0, 1)); // Of the ApplicationMaster before: its list counts.
    next.commitJob(job);
    assertThat(rows("attempts")).hasSize(100);
    assertThat(rows("attempts").get(row(7)).value("f", "n")).contains(Bytes.of("later"));
    next.abortJob(job, JobStatus.State.KILLED); // Too late.
    assertThat(rows("attempts")).hasSize(100);
  }

  /** Spark gives tasks the configuration that its program passes, and checks a copy of it. */
  @Test
  void tasksWithACopyOfTheConfigurationOfAnotherJobAreRefused() throws Exception {
    Job one = byHand("copied");
    OutputCommitter committer = begin(one);
    write(attempt(one, 0, 0), 0, 10, "one");
    committer.commitTask(attempt(one, 0, 0));

    Job copy = Job.getInstance(one.getConfiguration());
    TaskAttemptContext task =
        new TaskAttemptContextImpl(
            copy.getConfiguration(), new TaskAttemptID("bulk", 2, TaskType.REDUCE, 1, 0));
    assertOfAnother(() -> write(task, 10, 20, "copy"));
    OutputCommitter ofCopy = new BulkOutputFormat<NullWritable>().getOutputCommitter(task);
    assertOfAnother(() -> ofCopy.commitTask(task));
    assertOfAnother(() -> setUp(copy, task));
    assertOfAnother(() -> ofCopy.commitJob(copy));
    ofCopy.abortJob(copy, JobStatus.State.FAILED);

    setUp(one, attempt(one, 0, 1000)).commitJob(one); // Its next ApplicationMaster.
    committer.commitJob(one);
    assertThat(rows("copied")).hasSize(10);
  }

  private static void assertOfAnother(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("is that of job job_bulk_0001, but job job_bulk_0002 writes");
  }

  @Test
  void aTaskBeforeItsJobIsSetUpOrAfterItIsOverIsRefused() throws Exception {
    Job job = byHand("early");
    new BulkOutputFormat<NullWritable>().checkOutputSpecs(job);
    assertThatThrownBy(() -> write(attempt(job, 0, 0), 0, 1, "early"))
        .hasMessageContaining("was not set up for job job_bulk_0001");
    client.jobs().end(job.getConfiguration().get("mapreduce.stele.output.bulk.job"));
    assertThatThrownBy(() -> write(attempt(job, 0, 0), 0, 1, "late"))
        .hasMessageContaining("is over");
    assertThatThrownBy(() -> setUp(job, attempt(job, 0, 0))).hasMessageContaining("is over");
  }

  @Test
  void whatAJobReplacesIsGoneWhenItHasEndedAndNothingOfItBefore() throws Exception {
    create("replaced", List.of(Bytes.of("2"), Bytes.of("4"), Bytes.of("6"), Bytes.of("a")));
    for (String old : List.of("0000wor", "5oldold", "8wor", "zzz")) {
      client.table("replaced").mutate(Mutation.of(old).put("f", "old", "y").put("g", "old", "y"));
    }
    Job failing = reverse("replaced");
    BulkOutputFormat.replaceTable(failing, "replaced");
    failing.getConfiguration().set("fail.at", "777");
    assertThat(failing.waitForCompletion(true)).isFalse();
    assertThat(rows("replaced")).hasSize(4);

    Job job = reverse("replaced");
    job.getConfiguration().set("mapreduce.stele.output.bulk.replace", "replaced:0:b");
    assertThat(job.waitForCompletion(true)).isTrue();
    Map<Bytes, Row> rows = rows("replaced");
    assertThat(rows).hasSize(ROWS + 1).containsKey(Bytes.of("zzz"));
    assertThat(rows.get(Bytes.of("0000wor")).value("f", "old")).isEmpty();
    assertThat(rows.get(Bytes.of("0000wor")).value("f", "n")).contains(Bytes.of("0"));
    client.table("replaced").mutate(Mutation.of("later").put("f", "n", "y"));

    // In place of itself: what it read is what it replaces.
    Job again = SteleJob.create(hdfs.conf(), "again", BulkOutputIT.class);
    TableInputFormat.addTable(again, "replaced", RowQuery.ALL);
    again.setMapperClass(HalfMapper.class);
    SteleJob.bulkInto(again, "replaced", 10, "f");
    BulkOutputFormat.replaceTable(again, "replaced");
    assertThat(again.waitForCompletion(true)).isTrue();
    assertThat(rows("replaced")).hasSize(ROWS / 2);
  }

  /** Keeps every second number. */
  static final class HalfMapper extends Mapper<Bytes, Row, Bytes, Mutation> {
    @Override
    protected void map(Bytes key, Row row, Context context)
        throws IOException, InterruptedException {
      Bytes number = row.value("f", "n").orElse(Bytes.of("1"));
      if (number.toUtf8().matches("\\d*[02468]")) {
        context.write(key, Mutation.of(key).put("f", Bytes.of("half"), number));
      }
    }
  }

  @Test
  void aReplacementOfATableWithoutAnyOutputEmptiesItOnceAndCommittingAgainChangesNothing()
      throws Exception {
    create("emptied", List.of(row(30)));
    client.table("emptied").mutate(Mutation.of(row(1)).put("f", "n", "old"));
    client.table("emptied").mutate(Mutation.of(row(50)).put("f", "n", "old"));
    Job job = SteleJob.create(hdfs.conf(), "empty", BulkOutputIT.class);
    BulkOutputFormat.addTable(job, "emptied", "f");
    BulkOutputFormat.replaceTable(job, "emptied");
    OutputCommitter committer = begin(job);
    client.table("emptied").mutate(Mutation.of(row(2)).put("f", "n", "before the commit"));
    committer.commitJob(job);
    assertThat(rows("emptied")).isEmpty();
    client.table("emptied").mutate(Mutation.of(row(3)).put("f", "n", "later"));
    new BulkOutputFormat<NullWritable>().getOutputCommitter(attempt(job, 0, 0)).commitJob(job);
    assertThat(rows("emptied")).containsOnlyKeys(row(3));
  }

  @Test
  void aJobWithTheConfigurationOfOneThatReplacedATableDoesNotReplaceItToo() throws Exception {
    create("nightly", List.of(Bytes.of("5")));
    client.table("nightly").mutate(Mutation.of("old").put("f", "n", "old"));
    Job first = reverse("nightly");
    BulkOutputFormat.replaceTable(first, "nightly");
    assertThat(first.waitForCompletion(true)).isTrue();
    assertThat(rows("nightly")).hasSize(ROWS);

    Job other = Job.getInstance(first.getConfiguration());
    BulkOutputFormat.addTable(other, "weekly", "f");
    assertThat(other.getConfiguration().get("mapreduce.stele.output.tables"))
        .as("nor does a job with that configuration write to its table")
        .isEqualTo("weekly:f");

    Job second = Job.getInstance(first.getConfiguration());
    BulkOutputFormat.addTable(second, "nightly", "f");
    refused(second, "of which this job has a copy"); // Perhaps it is to add rows.
    assertThatThrownBy(second::submit).hasMessageContaining("of which this job has a copy");
    assertThat(rows("nightly")).hasSize(ROWS);
    BulkOutputFormat.replaceTable(second, "nightly");
    begin(second).commitJob(second);
    assertThat(rows("nightly")).isEmpty();
  }

  @Test
  void aSubmissionThatFailsLeavesNothingOnceTheJobIsSubmittedAgain() throws Exception {
    create("resubmitted", List.of(Bytes.of("5")));
    Job job = reverse("resubmitted");
    BulkOutputFormat.replaceTable(job, "resubmitted");
    job.getConfiguration().set(TableInputFormat.READ_KEY, "something");
    assertThatThrownBy(job::submit).hasMessageContaining("latest or pinned");
    String first = job.getConfiguration().get("mapreduce.stele.output.bulk.job");
    assertThat(client.jobs().state(first)).isEqualTo(JobNodes.State.BEGUN);
    begin(job).commitJob(job);
    assertThat(client.jobs().state(first)).isEqualTo(JobNodes.State.GONE);
    assertThat(rows("resubmitted")).isEmpty();
  }

  @Test
  void whatCannotBeReplacedIsRefusedAtTheDoor() throws Exception {
    create("door", List.of());
    Job other = SteleJob.create(hdfs.conf(), "other", BulkOutputIT.class);
    BulkOutputFormat.addTable(other, "door", "f");
    BulkOutputFormat.replaceTable(other, "numbers");
    refused(other, "replaces rows of table numbers, but writes only to door");
    Job twice = SteleJob.create(hdfs.conf(), "twice", BulkOutputIT.class);
    BulkOutputFormat.addTable(twice, "door", "f");
    BulkOutputFormat.replaceRows(twice, "door", RowRange.of("a", "c"));
    BulkOutputFormat.replaceRows(twice, "door", RowRange.of("b", ""));
    refused(twice, "twice");
    Job wrong = SteleJob.create(hdfs.conf(), "wrong", BulkOutputIT.class);
    BulkOutputFormat.addTable(wrong, "door", "f");
    wrong.getConfiguration().set("mapreduce.stele.output.bulk.replace", "door:a");
    refused(wrong, "TABLE:START:END");
    Job mistyped = SteleJob.create(hdfs.conf(), "mistyped", BulkOutputIT.class);
    BulkOutputFormat.addTable(mistyped, "door", "f");
    mistyped.getConfiguration().set("mapreduce.stele.output.bulk.replaces", "door");
    refused(mistyped, "did you mean mapreduce.stele.output.bulk.replace?");

    Job job = SteleJob.create(hdfs.conf(), "outside", BulkOutputIT.class);
    BulkOutputFormat.addTable(job, "door", "f");
    BulkOutputFormat.replaceRows(job, "door", new RowRange(row(10), row(20)));
    begin(job);
    RecordWriter<NullWritable, Mutation> writer =
        new BulkOutputFormat<NullWritable>().getRecordWriter(attempt(job, 0, 0));
    writer.write(NullWritable.get(), Mutation.of(row(19)).put("f", "n", "1"));
    assertThatThrownBy(
            () -> writer.write(NullWritable.get(), Mutation.of(row(20)).put("f", "n", "1")))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("not among those that the job replaces");
    writer.close(attempt(job, 0, 0));
  }

  private static void refused(Job job, String why) {
    assertThatThrownBy(() -> new BulkOutputFormat<NullWritable>().checkOutputSpecs(job))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining(why);
  }

  @Test
  void anAbortedJobCannotCommit() throws Exception {
    Job job = byHand("aborted");
    OutputCommitter committer = begin(job);
    write(attempt(job, 0, 0), 0, 100, "x");
    committer.commitTask(attempt(job, 0, 0));
    committer.abortJob(job, JobStatus.State.FAILED);
    assertThatThrownBy(() -> committer.commitJob(job))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("is over");
    assertThat(rows("aborted")).isEmpty();
  }

  private static Job withoutReduce(String table) throws IOException {
    Job job = SteleJob.create(hdfs.conf(), "without reduce into " + table, BulkOutputIT.class);
    job.getConfiguration().setLong(TableInputFormat.SPLIT_BYTES_KEY, 10 << 10);
    TableInputFormat.addTable(job, "numbers", RowQuery.ALL);
    job.setMapperClass(ReverseMapper.class);
    SteleJob.bulkWithoutReduce(job, table, 4, "f", "g");
    return job;
  }

  private static void assertReversed(String table) throws IOException {
    Map<Bytes, Row> rows = rows(table);
    assertThat(rows).hasSize(ROWS);
    for (int i = 0; i < ROWS; i++) {
      Row row = rows.get(Bytes.of(new StringBuilder(row(i).toUtf8()).reverse().toString()));
      assertThat(row.cells()).hasSize(2);
      assertThat(row.value("f", "n")).contains(Bytes.of(Integer.toString(i)));
      assertThat(row.value("g", "m")).contains(Bytes.of("x" + i));
    }
  }

  @Test
  void mappersSortWhatTheyWriteInAnyOrder() throws Exception {
    create("mapped", List.of(Bytes.of("2"), Bytes.of("4"), Bytes.of("6"), Bytes.of("8")));
    Job failing = withoutReduce("mapped");
    failing.getConfiguration().set("fail.at", "777");
    assertThat(failing.waitForCompletion(true)).isFalse();
    assertThat(rows("mapped")).isEmpty();

    Job job = withoutReduce("mapped");
    assertThat(job.waitForCompletion(true)).isTrue();
    assertThat(job.getCounters().findCounter(TaskCounter.REDUCE_INPUT_RECORDS).getValue()).isZero();
    assertReversed("mapped");
    assertThat(tablets("mapped")).as("a table with tablets keeps them").isEqualTo(5);
    client.admin().compactTable("mapped");
    assertReversed("mapped");
  }

  @Test
  void ofMappersThatSortTheAttemptsThatDieLeaveNothing() throws Exception {
    create("dying", List.of(Bytes.of("5")));
    Job job = withoutReduce("dying");
    OutputCommitter committer = begin(job);
    for (int task = 0; task < 3; task++) {
      // The ApplicationMaster that comes after another begins its attempts at 1000.
      int later = task == 0 ? 1000 : 1;
      RecordWriter<NullWritable, Mutation> dies =
          new BulkOutputFormat<NullWritable>().getRecordWriter(attempt(job, task, 0));
      dies.write(NullWritable.get(), Mutation.of(row(task)).put("f", "n", "dead"));
      RecordWriter<NullWritable, Mutation> second =
          new BulkOutputFormat<NullWritable>().getRecordWriter(attempt(job, task, later));
      for (int i = 99; i >= 0; i--) { // Downwards; all tasks write the same rows.
        second.write(NullWritable.get(), Mutation.of(row(i)).put("f", "n", task + "-" + i));
      }
      second.write(NullWritable.get(), Mutation.of(row(50)).deleteRow());
      second.close(attempt(job, task, later));
      committer.commitTask(attempt(job, task, later));
    }
    committer.commitJob(job);
    committer.commitJob(job);
    Map<Bytes, Row> rows = rows("dying");
    assertThat(rows).hasSize(99).doesNotContainKey(row(50));
    assertThat(rows.get(row(7)).value("f", "n")).as("the later task").contains(Bytes.of("2-7"));
  }

  @Test
  void aTableOfOneTabletIsDividedByWhatMappersHaveWritten() throws Exception {
    create("divided", List.of());
    Job job = SteleJob.create(hdfs.conf(), "divide", BulkOutputIT.class);
    SteleJob.bulkWithoutReduce(job, "divided", 3, "f");
    job.getConfiguration().set(BulkOutputFormat.SORT_BYTES_KEY, "1m");
    job.getConfiguration().set(BulkOutputFormat.TABLET_BYTES_KEY, "1m");
    OutputCommitter committer = begin(job);
    byte[] value = new byte[1000];
    Random random = new Random(1);
    int rows = 4000; // Four megabytes: several runs.
    for (int task = 0; task < 2; task++) {
      RecordWriter<NullWritable, Mutation> writer =
          new BulkOutputFormat<NullWritable>().getRecordWriter(attempt(job, task, 0));
      for (int i = task; i < rows; i += 2) {
        random.nextBytes(value);
        Bytes row = row((int) (i * 2741L % rows)); // Each once.
        writer.write(NullWritable.get(), Mutation.of(row).put("f", "n", value));
      }
      writer.close(attempt(job, task, 0));
      committer.commitTask(attempt(job, task, 0));
    }
    assertThat(tablets("divided")).isEqualTo(1);
    committer.commitJob(job);
    assertThat(rows("divided")).hasSize(rows);
    List<Bytes> starts =
        client.table("divided").tablets().stream().map(tablet -> tablet.rows().start()).toList();
    assertThat(starts).hasSize(3);
    assertThat(starts.get(1)).isBetween(row(1000), row(1700));
    assertThat(starts.get(2)).isBetween(row(2300), row(3000));
    new BulkOutputFormat<NullWritable>().getOutputCommitter(attempt(job, 0, 0)).commitJob(job);
    assertThat(tablets("divided")).isEqualTo(3);
    assertThat(rows("divided")).hasSize(rows);
  }

  @Test
  void keysOfSortingAreCheckedAtTheDoor() throws Exception {
    create("keys", List.of());
    for (String[] bad :
        List.of(
            new String[] {BulkOutputFormat.SORT_KEY, "reducers"},
            new String[] {BulkOutputFormat.SORT_BYTES_KEY, "much"},
            new String[] {BulkOutputFormat.SORT_BYTES_KEY, "1k"},
            new String[] {BulkOutputFormat.TABLET_BYTES_KEY, "-1"})) {
      Job job = SteleJob.create(hdfs.conf(), "keys", BulkOutputIT.class);
      SteleJob.bulkWithoutReduce(job, "keys", 3, "f");
      job.getConfiguration().set(bad[0], bad[1]);
      refused(job, bad[0] + " is \"" + bad[1] + "\"");
    }
  }

  @Test
  void rowsOutOfOrderAreRefused() throws Exception {
    Job job = byHand("disorder");
    begin(job);
    RecordWriter<NullWritable, Mutation> writer =
        new BulkOutputFormat<NullWritable>().getRecordWriter(attempt(job, 0, 0));
    writer.write(NullWritable.get(), Mutation.of(row(2)).put("f", "n", "2"));
    assertThatThrownBy(
            () -> writer.write(NullWritable.get(), Mutation.of(row(1)).put("f", "n", "1")))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("reduceByTablet");
    assertThatThrownBy(
            () -> writer.write(NullWritable.get(), Mutation.of(row(3)).put("none", "n", "1")))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("none");
  }
}
