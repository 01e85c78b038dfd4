package io.stele.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.stele.client.BatchWriter;
import io.stele.client.MutationsFailedException;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.inputformat.TableInputFormat;
import io.stele.inputformat.TableSplit;
import io.stele.metadata.JobNodes;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.Mutation;
import io.stele.model.ReadModifyWrite;
import io.stele.model.Row;
import io.stele.model.RowOperation;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.outputformat.TableOutputFormat;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.MiniStele;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.input.MultipleInputs;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.hadoop.util.ReflectionUtils;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs of MapReduce's local runner over a cluster in this JVM. */
class TableFormatsIT {
  private static final int ROWS = 1000;

  private static LocalCluster cluster;

  @BeforeAll
  static void fill() throws Exception {
    cluster = new LocalCluster(2);
    Stele stele = cluster.client();
    stele.admin().setBalanced(false); // A tablet that moves is on no host.
    stele
        .admin()
        .createTable(
            TableSchema.of("numbers", "f", "g"), List.of(Bytes.of("row300"), Bytes.of("row700")));
    try (BatchWriter writer = stele.table("numbers").batchWriter()) {
      for (int i = 0; i < ROWS; i++) {
        writer.add(Mutation.of(String.format("row%03d", i)).put("f", "n", Integer.toString(i)));
      }
    }
  }

  @AfterAll
  static void stop() throws Exception {
    cluster.close();
  }

  /** Gives each row's number to the row of its remainder. */
  static final class RemainderMapper extends Mapper<Bytes, Row, Bytes, Mutation> {
    @Override
    protected void map(Bytes key, Row row, Context context)
        throws IOException, InterruptedException {
      String number = row.value("f", "n").orElseThrow().toUtf8();
      Bytes target = Bytes.of("by" + Integer.parseInt(number) % 10);
      context.write(target, Mutation.of(target).put("f", number, "x"));
    }
  }

  /** The client has no Hadoop configuration: its file system is this machine's. */
  @Test
  void aJobThatWouldReadOrWriteFilesInAnotherFileSystemIsRefusedBeforeItBegins() throws Exception {
    int jobs = cluster.client().admin().listJobs().size();
    Job writes = SteleJob.create(cluster.conf(), "bulk", TableFormatsIT.class);
    TableInputFormat.addTable(writes, "numbers", RowQuery.ALL);
    writes.setMapperClass(RemainderMapper.class);
    SteleJob.bulkWithoutReduce(writes, "numbers", 1, "f");
    Job reads = SteleJob.create(cluster.conf(), "direct", TableFormatsIT.class);
    reads.getConfiguration().set(TableInputFormat.MODE_KEY, "direct");
    TableInputFormat.addTable(reads, "numbers", RowQuery.ALL);
    reads.setOutputFormatClass(NullOutputFormat.class);
    for (Job job : List.of(writes, reads)) {
      assertThatThrownBy(job::submit)
          .as(job.getJobName())
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("file:")
          .hasMessageContaining("core-site.xml");
    }
    assertThat(cluster.client().admin().listJobs()).hasSize(jobs);
  }

  /** Passes mutations on to the table named {@code remainders}. */
  static final class PassReducer extends Reducer<Bytes, Mutation, Text, Mutation> {
    @Override
    protected void reduce(Bytes key, Iterable<Mutation> mutations, Context context)
        throws IOException, InterruptedException {
      for (Mutation mutation : mutations) {
        context.write(new Text("remainders"), mutation);
      }
    }
  }

  @Test
  void everyRowIsReadOnceAndEveryMutationThroughTheShuffleIsApplied() throws Exception {
    cluster.client().admin().createTable(TableSchema.of("remainders", "f"));
    cluster.client().admin().createTable(TableSchema.of("unused", "f"));
    Job job = SteleJob.create(cluster.conf(), "remainders", TableFormatsIT.class);
    TableInputFormat.addTable(job, "numbers", RowQuery.ALL.family("f"));
    job.setMapperClass(RemainderMapper.class);
    SteleJob.setMapOutputKeyToBytes(job);
    job.setMapOutputValueClass(Mutation.class);
    job.setReducerClass(PassReducer.class);
    TableOutputFormat.addTable(job, "remainders", "f");
    TableOutputFormat.addTable(job, "unused");
    assertThat(job.waitForCompletion(true)).isTrue();

    var counters = job.getCounters();
    assertThat(counters.findCounter(TableInputFormat.Counter.ROWS).getValue()).isEqualTo(ROWS);
    assertThat(counters.findCounter(TableOutputFormat.Counter.OPERATIONS).getValue())
        .isEqualTo(ROWS);
    try (Rows rows = cluster.client().table("remainders").readRows(RowQuery.ALL)) {
      assertThat(rows).hasSize(10).allMatch(row -> row.cells().size() == ROWS / 10);
    }
  }

  /** Gives each row to the row of the same key. */
  static final class RowMapper extends Mapper<Bytes, Row, Bytes, Mutation> {
    @Override
    protected void map(Bytes key, Row row, Context context)
        throws IOException, InterruptedException {
      Bytes value = row.cells().get(0).value();
      context.write(key, Mutation.of(key).put("f", "of a table: " + value, "x"));
    }
  }

  /** Gives each line {@code row,text} to that row. */
  static final class LineMapper extends Mapper<LongWritable, Text, Bytes, Mutation> {
    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      String[] words = line.toString().split(",");
      Bytes row = Bytes.of(words[0]);
      context.write(row, Mutation.of(row).put("f", "of a file: " + words[1], "x"));
    }
  }

  /** Passes mutations on to the only table. */
  static final class OnlyTableReducer extends Reducer<Bytes, Mutation, NullWritable, Mutation> {
    @Override
    protected void reduce(Bytes key, Iterable<Mutation> mutations, Context context)
        throws IOException, InterruptedException {
      for (Mutation mutation : mutations) {
        context.write(NullWritable.get(), mutation);
      }
    }
  }

  @Test
  void tablesAndFilesAreReadInOneJob(@TempDir java.nio.file.Path scratch) throws Exception {
    Stele stele = cluster.client();
    stele.admin().createTable(TableSchema.of("names", "f"));
    stele.admin().createTable(TableSchema.of("joined", "f"));
    stele.table("names").mutate(Mutation.of("row001").put("f", "", "one"));
    java.nio.file.Path file = scratch.resolve("lines.csv");
    Files.writeString(file, "row001,uno\nrow999,last\n");

    Job job = SteleJob.create(cluster.conf(), "join", TableFormatsIT.class);
    TableInputFormat.addTable(job, "numbers", RowQuery.prefix("row00").family("f"));
    TableInputFormat.addTable(job, "names", RowQuery.ALL);
    MultipleInputs.addInputPath(job, new Path("unused"), TableInputFormat.class, RowMapper.class);
    MultipleInputs.addInputPath(
        job, new Path(file.toUri()), TextInputFormat.class, LineMapper.class);
    SteleJob.setMapOutputKeyToBytes(job);
    job.setMapOutputValueClass(Mutation.class);
    job.setReducerClass(OnlyTableReducer.class);
    TableOutputFormat.addTable(job, "joined");
    assertThat(job.waitForCompletion(true)).isTrue();

    assertThat(columns("joined", "row001"))
        .containsExactly("of a file: uno", "of a table: 1", "of a table: one");
    assertThat(columns("joined", "row009")).containsExactly("of a table: 9");
    assertThat(columns("joined", "row999")).containsExactly("of a file: last");
    try (Rows rows = stele.table("joined").readRows(RowQuery.ALL)) {
      assertThat(rows).hasSize(11);
    }
  }

  @Test
  void theInputStaysPinnedAsLongAsTheJobOfTheOutputLives() throws Exception {
    cluster.client().admin().createTable(TableSchema.of("kept", "f"));
    JobNodes nodes = new JobNodes(SystemRuntime.INSTANCE, cluster.stele().locks());
    for (boolean multiple : new boolean[] {false, true}) {
      Job job = SteleJob.create(cluster.conf(), "keeps its input");
      TableInputFormat.addTable(job, "numbers", RowQuery.ALL);
      if (multiple) {
        MultipleInputs.addInputPath(job, new Path("x"), TableInputFormat.class, RowMapper.class);
      }
      TableOutputFormat.addTable(job, "kept");
      List<String> before = nodes.names();
      new TableOutputFormat<Text>().checkOutputSpecs(job);
      String output = added(nodes, before);
      before = nodes.names();
      ReflectionUtils.newInstance(job.getInputFormatClass(), job.getConfiguration()).getSplits(job);
      String input = added(nodes, before);
      assertThat(nodes.read(input).orElseThrow().application()).contains("job_" + output);
      cluster.client().jobs().end(output);
      MiniStele.await("the pins are gone", () -> nodes.state(input) == JobNodes.State.GONE);
    }
  }

  private static String added(JobNodes nodes, List<String> before) throws IOException {
    List<String> added = new ArrayList<>(nodes.names());
    added.removeAll(before);
    return added.get(0);
  }

  @Test
  void theInputOfAJobWithOtherOutputIsNotKeptByWhatItsConfigurationWasCopiedWith()
      throws Exception {
    cluster.client().admin().createTable(TableSchema.of("copied", "f"));
    JobNodes nodes = new JobNodes(SystemRuntime.INSTANCE, cluster.stele().locks());
    Job first = SteleJob.create(cluster.conf(), "first");
    TableInputFormat.addTable(first, "numbers", RowQuery.ALL);
    TableOutputFormat.addTable(first, "copied");
    new TableOutputFormat<Text>().checkOutputSpecs(first);
    Job second = Job.getInstance(first.getConfiguration());
    second.setOutputFormatClass(NullOutputFormat.class);
    List<String> before = nodes.names();
    new TableInputFormat().getSplits(second);
    assertThat(nodes.read(added(nodes, before)).orElseThrow().application()).isEmpty();
  }

  private static List<String> columns(String table, String row) throws IOException {
    return cluster.client().table(table).readRow(Bytes.of(row)).orElseThrow().cells().stream()
        .map(cell -> cell.qualifier().toUtf8())
        .toList();
  }

  @Test
  void smallTabletsOfAHostAreReadTogetherAndScansApart() throws Exception {
    Job job = SteleJob.create(cluster.conf(), "splits");
    TableInputFormat.addTable(
        job, "numbers", RowQuery.ALL.range(RowRange.of("row2", "row4")).family("f"));
    TableInputFormat.addTable(job, "numbers", RowQuery.prefix("row9"));
    List<InputSplit> splits = new TableInputFormat().getSplits(job);
    List<List<RowRange>> ranges = new ArrayList<>();
    for (InputSplit split : splits) {
      ranges.add(((TableSplit) split).ranges());
      assertThat(split.getLocations()).containsExactly("localhost");
    }
    assertThat(ranges)
        .containsExactly(
            List.of(RowRange.of("row2", "row4")), List.of(RowRange.of("row9", "row:")));
  }

  @Test
  void aTabletIsCutIntoSplitsOfEvenSizeInActualBytes() throws Exception {
    long target = 1 << 20;
    int splitsWanted = 8;
    cluster.client().admin().createTable(TableSchema.of("large", "f"));
    Random random = new Random(7);
    try (BatchWriter writer = cluster.client().table("large").batchWriter()) {
      for (long bytes = 0; bytes < splitsWanted * target; bytes += 4096) {
        byte[] value = new byte[4096];
        random.nextBytes(value);
        byte[] row = new byte[16];
        random.nextBytes(row);
        writer.add(Mutation.of(Bytes.of(row)).put("f", Bytes.EMPTY, Bytes.of(value)));
      }
    }
    cluster.client().admin().compactTable("large");
    Job job = SteleJob.create(cluster.conf(), "even");
    job.getConfiguration().setLong(TableInputFormat.SPLIT_BYTES_KEY, target);
    TableInputFormat.addTable(job, "large", RowQuery.ALL);
    List<InputSplit> splits = new TableInputFormat().getSplits(job);
    assertThat(splits).hasSize(splitsWanted);
    for (InputSplit split : splits) {
      long bytes = 0;
      RowQuery query = RowQuery.ALL.withRanges(((TableSplit) split).ranges());
      try (Rows rows = cluster.client().table("large").readRows(query)) {
        for (Row row : rows) {
          bytes += row.key().length() + row.cells().get(0).value().length();
        }
      }
      assertThat((double) bytes).isBetween(0.8 * target, 1.2 * target);
      assertThat((double) split.getLength()).isBetween(0.8 * bytes, 1.2 * bytes);
    }
  }

  @Test
  void aTableDroppedAndMadeAgainIsRefusedByTheTask() throws Exception {
    cluster.client().admin().createTable(TableSchema.of("again", "f"));
    Job job = SteleJob.create(cluster.conf(), "again");
    TableInputFormat.addTable(job, "again", RowQuery.ALL);
    InputSplit split = new TableInputFormat().getSplits(job).get(0);
    cluster.client().admin().dropTable("again");
    cluster.client().admin().createTable(TableSchema.of("again", "f"));
    var context = new TaskAttemptContextImpl(job.getConfiguration(), new TaskAttemptID());
    try (var reader = new TableInputFormat().createRecordReader(split, context)) {
      assertThatThrownBy(() -> reader.initialize(split, context))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("table again was dropped and made again");
    }
  }

  /** Spark does not close a reader that could not be opened. */
  @Test
  void aReaderThatCannotBeOpenedLeavesNoConnection() throws Exception {
    cluster.client().admin().createTable(TableSchema.of("unopened", "f"));
    Job job = SteleJob.create(cluster.conf(), "unopened");
    TableInputFormat.addTable(job, "unopened", RowQuery.ALL);
    InputSplit split = new TableInputFormat().getSplits(job).get(0);
    cluster.client().admin().dropTable("unopened");
    try (Stele other = Stele.connect(cluster.conf())) { // Its session would soon be closed else.
      assertThat(other.admin().listTables()).isNotEmpty();
      long before = sessions();
      job.getConfiguration().set(Keys.SESSION_TIMEOUT.name(), "19s"); // Shared with nobody.
      var context = new TaskAttemptContextImpl(job.getConfiguration(), new TaskAttemptID());
      var reader = new TableInputFormat().createRecordReader(split, context);
      assertThatThrownBy(() -> reader.initialize(split, context))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("unopened");
      MiniStele.await("the end of the reader's session", () -> sessions() == before);
    }
  }

  /** How many sessions this process has with the cluster's ZooKeeper. */
  private static long sessions() {
    String quorum = Keys.ZOOKEEPER_QUORUM.in(cluster.conf());
    String port = quorum.substring(quorum.lastIndexOf(':'));
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().endsWith(port + ")")) // Of ZooKeeper's client.
        .count();
  }

  /** Counts the rows of each remainder with increments, on a table set by plain keys. */
  static final class IncrementMapper extends Mapper<Bytes, Row, Bytes, ReadModifyWrite> {
    @Override
    protected void map(Bytes key, Row row, Context context)
        throws IOException, InterruptedException {
      String number = row.value("f", "n").orElseThrow().toUtf8();
      Bytes target = Bytes.of("by" + Integer.parseInt(number) % 10);
      context.write(target, ReadModifyWrite.increment(target, "f", Bytes.of("count"), 1));
    }
  }

  /** Passes operations on. */
  static final class OperationReducer
      extends Reducer<Bytes, ReadModifyWrite, NullWritable, RowOperation> {
    @Override
    protected void reduce(Bytes key, Iterable<ReadModifyWrite> operations, Context context)
        throws IOException, InterruptedException {
      for (ReadModifyWrite operation : operations) {
        context.write(NullWritable.get(), operation);
      }
    }
  }

  @Test
  void incrementsOfAJobWithoutAnyOtherSetUpThanTheFormatsAreCounted() throws Exception {
    cluster.client().admin().createTable(TableSchema.of("counts", "f"));
    Job job = Job.getInstance(cluster.conf(), "counts");
    job.getConfiguration().set("mapreduce.stele.input.table", "numbers");
    job.getConfiguration().set("mapreduce.stele.input.table.families", "f");
    job.getConfiguration().set("mapreduce.stele.input.table.rows.prefix", "row");
    job.setInputFormatClass(TableInputFormat.class);
    job.setMapperClass(IncrementMapper.class);
    job.setMapOutputKeyClass(Bytes.class);
    job.setMapOutputValueClass(ReadModifyWrite.class);
    job.setReducerClass(OperationReducer.class);
    TableOutputFormat.addTable(job, "counts", "f");
    assertThat(job.waitForCompletion(true)).isTrue();
    try (Rows rows = cluster.client().table("counts").readRows(RowQuery.ALL)) {
      assertThat(rows)
          .hasSize(10)
          .allMatch(row -> row.value("f", "count").orElseThrow().equals(Bytes.ofLong(100)));
    }
  }

  @Test
  void aJobOverATableOrFamilyThatDoesNotExistIsRefusedAtSubmission() throws Exception {
    Job job = SteleJob.create(cluster.conf(), "wrong");
    TableInputFormat.addTable(job, "numbers", RowQuery.ALL.family("h"));
    assertThatThrownBy(() -> new TableInputFormat().getSplits(job))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("no family \"h\"");

    TableOutputFormat.addTable(job, "numbers", "h");
    assertThatThrownBy(() -> new TableOutputFormat<>().checkOutputSpecs(job))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("family h of table numbers");

    Job other = SteleJob.create(cluster.conf(), "wrong");
    TableOutputFormat.addTable(other, "nosuch");
    assertThatThrownBy(() -> new TableOutputFormat<>().checkOutputSpecs(other))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("no table nosuch");
  }

  private static void write(Configuration conf, int attempt, String value) throws Exception {
    TaskAttemptID id = new TaskAttemptID("1600000000000", 7, TaskType.MAP, 3, attempt);
    var context = new TaskAttemptContextImpl(conf, id);
    RecordWriter<NullWritable, RowOperation> writer =
        new TableOutputFormat<NullWritable>().getRecordWriter(context);
    for (int i = 0; i < 100; i++) {
      writer.write(NullWritable.get(), Mutation.of("row" + i % 10).put("f", "", value + i));
    }
    writer.close(context);
  }

  @Test
  void anotherAttemptOfATaskAppliesNothingAgain() throws Exception {
    cluster
        .client()
        .admin()
        .createTable(
            TableSchema.of("attempts", List.of(new ColumnFamily("f", GcPolicy.keepAll()))));
    Job job = SteleJob.create(cluster.conf(), "attempts");
    TableOutputFormat.addTable(job, "attempts", "f");
    new TableOutputFormat<>().checkOutputSpecs(job);
    write(job.getConfiguration(), 0, "v");
    write(job.getConfiguration(), 1, "v");
    Table table = cluster.client().table("attempts");
    try (Rows rows = table.readRows(RowQuery.ALL)) {
      assertThat(rows).hasSize(10).allMatch(row -> row.cells().size() == 10);
    }

    assertThatThrownBy(() -> write(job.getConfiguration(), 2, "other"))
        .isInstanceOf(MutationsFailedException.class)
        .hasMessageContaining("differs");
    try (Rows rows = table.readRows(RowQuery.ALL)) {
      assertThat(rows).hasSize(10).allMatch(row -> row.cells().size() == 10);
    }

    TaskAttemptID late = new TaskAttemptID("1600000000000", 7, TaskType.MAP, 3, 3);
    var context = new TaskAttemptContextImpl(job.getConfiguration(), late);
    new TableOutputFormat<>().getOutputCommitter(context).commitJob(job);
    assertThatThrownBy(() -> write(job.getConfiguration(), 3, "late"))
        .isInstanceOf(MutationsFailedException.class);
    try (Rows rows = table.readRows(RowQuery.ALL)) {
      assertThat(rows).hasSize(10).allMatch(row -> row.cells().size() == 10);
    }
  }

  @Test
  void theEndOfATaskThrowsItsFirstFailureWhateverCameOfIt() throws Exception {
    Stele stele = cluster.client();
    Job job = SteleJob.create(cluster.conf(), "fails");
    for (String table : List.of("sound", "failing")) {
      stele.admin().createTable(TableSchema.of(table, "f"));
      TableOutputFormat.addTable(job, table, "f");
    }
    stele.table("failing").mutate(Mutation.of("r").put("f", "n", "no number"));
    new TableOutputFormat<>().checkOutputSpecs(job);
    TaskAttemptID id = new TaskAttemptID("1600000000000", 8, TaskType.REDUCE, 0, 0);
    var context = new TaskAttemptContextImpl(job.getConfiguration(), id);
    RecordWriter<Text, RowOperation> writer =
        new TableOutputFormat<Text>().getRecordWriter(context);
    writer.write(
        new Text("failing"), ReadModifyWrite.increment(Bytes.of("r"), "f", Bytes.of("n"), 1));
    AtomicReference<Throwable> failure = new AtomicReference<>();
    MiniStele.await(
        "a write that tells of the failure",
        () -> {
          Mutation next = Mutation.of("r").put("f", "n", "v");
          failure.set(catchThrowable(() -> writer.write(new Text("sound"), next)));
          return failure.get() != null;
        });
    Throwable first = failure.get();
    assertThat(first).isInstanceOf(MutationsFailedException.class).hasMessageContaining("\"r\"");
    assertThatThrownBy(() -> writer.close(context)).isSameAs(first); // As a reducer's task does.
    assertThat(first.getSuppressed())
        .anyMatch(later -> later.getMessage().contains("nothing more is sent"));
  }

  /** The rows that the attempt of that number reads of a split, at most so many. */
  private static List<Row> read(Configuration conf, InputSplit split, int attempt, int most)
      throws Exception {
    TaskAttemptContextImpl context =
        new TaskAttemptContextImpl(conf, new TaskAttemptID("pinned", 1, TaskType.MAP, 0, attempt));
    List<Row> rows = new ArrayList<>();
    try (RecordReader<Bytes, Row> reader =
        new TableInputFormat().createRecordReader(overTheWire(split), context)) {
      reader.initialize(overTheWire(split), context);
      while (rows.size() < most && reader.nextKeyValue()) {
        rows.add(reader.getCurrentValue());
      }
    }
    return rows;
  }

  private static TableSplit overTheWire(InputSplit split) throws IOException {
    DataOutputBuffer out = new DataOutputBuffer();
    ((TableSplit) split).write(out);
    DataInputBuffer in = new DataInputBuffer();
    in.reset(out.getData(), out.getLength());
    TableSplit read = new TableSplit();
    read.readFields(in);
    return read;
  }

  @Test
  void everyAttemptOfAPinnedJobReadsWhatWasThereWhenItWasSubmitted() throws Exception {
    Stele stele = cluster.client();
    stele.admin().createTable(TableSchema.of("changing", "f"), List.of(Bytes.of("row500")));
    Table table = stele.table("changing");
    for (int i = 0; i < ROWS; i += 10) {
      table.mutate(Mutation.of(String.format("row%03d", i)).put("f", "n", "before"));
    }
    List<Row> expected;
    try (Rows rows = table.readRows(RowQuery.ALL)) {
      expected = rows.stream().toList();
    }
    Job job = SteleJob.create(cluster.conf(), "pinned");
    job.getConfiguration().set(TableInputFormat.READ_KEY, "pinned");
    TableInputFormat.addTable(job, "changing", RowQuery.ALL);
    List<InputSplit> splits = new TableInputFormat().getSplits(job);
    List<Row> read = new ArrayList<>();
    for (InputSplit split : splits) {
      read(job.getConfiguration(), split, 0, 3); // An attempt that ends early.
      for (int i = 0; i < ROWS; i += 5) {
        String row = String.format("row%03d", i);
        table.mutate(
            i % 20 == 0 ? Mutation.of(row).deleteRow() : Mutation.of(row).put("f", "n", "after"));
      }
      stele.admin().compactTable("changing");
      read.addAll(read(job.getConfiguration(), split, 1, Integer.MAX_VALUE));
    }
    assertThat(read).isEqualTo(expected);
    try (Rows rows = table.readRows(RowQuery.ALL)) {
      assertThat(rows.stream().toList()).isNotEqualTo(expected);
    }
  }

  @Test
  void anUnknownKeyIsRefusedAtSubmission() throws Exception {
    Job input = SteleJob.create(cluster.conf(), "input");
    TableInputFormat.addTable(input, "numbers", RowQuery.ALL);
    input.getConfiguration().set("mapreduce.stele.input.modus", "direct");
    assertThatThrownBy(() -> new TableInputFormat().getSplits(input))
        .hasMessageContaining("did you mean mapreduce.stele.input.mode?");
    Job output = SteleJob.create(cluster.conf(), "output");
    TableOutputFormat.addTable(output, "numbers");
    output.getConfiguration().set("mapreduce.stele.output.leese", "2h");
    assertThatThrownBy(() -> new TableOutputFormat<Text>().checkOutputSpecs(output))
        .hasMessageContaining("did you mean mapreduce.stele.output.lease?");
  }

  @Test
  void rowsToReplaceAreRefusedWhereNothingIsReplaced() throws Exception {
    Job job = SteleJob.create(cluster.conf(), "replacing");
    TableOutputFormat.addTable(job, "numbers");
    job.getConfiguration().set("mapreduce.stele.output.bulk.replace", "numbers");
    assertThatThrownBy(() -> new TableOutputFormat<Text>().checkOutputSpecs(job))
        .hasMessageContaining("write with BulkOutputFormat");
  }

  @Test
  void aMistakenWayToReadIsRefused() throws Exception {
    Job job = SteleJob.create(cluster.conf(), "mistaken");
    job.getConfiguration().set(TableInputFormat.READ_KEY, "pined");
    TableInputFormat.addTable(job, "numbers", RowQuery.ALL);
    assertThatThrownBy(() -> new TableInputFormat().getSplits(job))
        .hasMessageContaining("latest or pinned");
  }
}
