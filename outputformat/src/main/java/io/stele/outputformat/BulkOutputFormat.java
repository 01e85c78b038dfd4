package io.stele.outputformat;

import io.stele.bulk.JobOutput;
import io.stele.client.JobEnvironment;
import io.stele.client.ModelSerialization;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.client.TabletInfo;
import io.stele.config.JobKeys;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableUse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.OutputFormat;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskID;

/**
 * Mutations of tables as the output of a job. The job writes them to files of the tables, without
 * the tablet servers, and they become visible all at once when the job succeeds.
 *
 * <pre>{@code
 * Job job = SteleJob.create(conf, "collect anchors", Anchors.class); // ships Stele's jars
 * BulkOutputFormat.addTable(job, "webtable", "anchor");
 * BulkOutputFormat.reduceByTablet(job, "webtable", 50);
 * job.setMapperClass(AnchorMapper.class); // writes (Bytes row, Mutation)
 * }</pre>
 *
 * <p><b>All or nothing, once.</b> No reader sees anything of the job before it commits, and from
 * then on every reader sees all of it, in all tables and tablets, whatever dies meanwhile. A job
 * that fails or is killed before that leaves nothing. One that YARN reports as failed or killed
 * after it has committed leaves everything: its ApplicationMaster died before it could say so, or
 * it was killed while it committed. Attempts of the tasks that write files may differ: only one of
 * them counts. Mappers before a shuffle must write the same in each attempt: a reducer may have
 * read one and the next another.
 *
 * <p><b>In order.</b> A task writes rows of a table in ascending order: {@link #reduceByTablet}
 * ensures this. With {@link #sortInTasks}, a task writes rows in any order, and sorts them. The
 * mutations that a task writes to one row take effect in the order written; if several tasks write
 * to the same row, the later task's mutation comes later. With {@link #reduceByTablet} and no
 * reducer of its own, what the job's mappers write to a row comes in the order of the map tasks,
 * and what one of them writes, in the order written.
 *
 * <p><b>Timestamps.</b> Puts without a timestamp to a table that the job reads at a pin get the
 * moment of the pin: so they are newer than what the job has read there, and older than what
 * servers have put since. In other tables they get the time at which the job was submitted, by the
 * submitter's clock. So what others put while the job runs is the newest version. Deletes take
 * effect when the job commits, on everything that is older and was written before.
 *
 * <p><b>Replacing rows.</b> With {@link #replaceTable} or {@link #replaceRows}, the commit also
 * deletes everything that was in the table, or in a range of it, at the same moment. Without code:
 * {@code mapreduce.stele.output.bulk.replace} is {@code table}, or {@code table:start:end}. A job
 * whose configuration is a copy of that of a submitted one is refused until it is said again what
 * it replaces.
 *
 * <p>With one table, keys are ignored. With several, the key's text names the table.
 *
 * @param <K> the keys' type
 */
public final class BulkOutputFormat<K> extends OutputFormat<K, Mutation> {
  /**
   * How long the files are kept while neither a task nor the ApplicationMaster runs; such as {@code
   * 2h}. A job that waits longer is over.
   */
  public static final String LEASE_KEY = JobKeys.BULK_LEASE;

  /** The job as the cluster knows it; set when it is submitted. */
  static final String JOB_KEY = JobKeys.Internal.BULK_JOB;

  /**
   * Who brings rows into order: {@code shuffle}, the default, or {@code task}, as {@link
   * #sortInTasks} sets it.
   */
  public static final String SORT_KEY = JobKeys.BULK_SORT;

  /**
   * How much memory a task sorts in, in bytes; such as {@code 128m}. The default is a quarter of
   * the heap, and at most 256 MB.
   */
  public static final String SORT_BYTES_KEY = JobKeys.BULK_SORT_BYTES;

  /**
   * The minimum size of the tablets that {@link #sortInTasks} makes of a table of one tablet, in
   * bytes of files; such as {@code 256m}.
   */
  public static final String TABLET_BYTES_KEY = JobKeys.BULK_TABLET_BYTES;

  static final String TIMESTAMP_KEY = JobKeys.Internal.BULK_TIMESTAMP;

  static final String VALUE_BYTES_KEY = JobKeys.Internal.BULK_VALUE_BYTES;

  /** The name and id of the table that is split where reducers start. */
  private static final String CUT_KEY = JobKeys.Internal.BULK_CUT;

  /** The table that is divided by what was written, its id, and into how many tablets at most. */
  private static final String DIVIDE_KEY = JobKeys.Internal.BULK_DIVIDE;

  private static final long TABLET_BYTES = 128L << 20;

  /** What the job's tasks have written. */
  public enum Counter {
    /** Mutations written, by all attempts that succeeded. */
    MUTATIONS,
    /** Edits in them. */
    EDITS,
    /** Bytes of row keys, qualifiers and values in them. */
    BYTES
  }

  /**
   * Adds a table to those the job may write to, and makes this the job's output format. If the
   * table is among them already, only the families are added.
   *
   * @param families the families that the job writes; at submit it is checked that the table has
   *     them
   */
  public static void addTable(Job job, String table, String... families) {
    job.setOutputFormatClass(BulkOutputFormat.class);
    ModelSerialization.register(job.getConfiguration());
    OutputTable.beginAnew(job);
    OutputTable.add(job.getConfiguration(), new OutputTable(table, List.of(families)));
  }

  /**
   * Makes the job replace all rows of a table: the commit deletes everything that was written to
   * the table before, at the same moment at which the job's output becomes visible. A reader sees
   * the old rows or the new ones. What others write while the job runs is deleted too; what they
   * write after the commit stays. Jobs that read as of an earlier time still see the old rows.
   *
   * @param table a table that the job writes
   */
  public static void replaceTable(Job job, String table) {
    replaceRows(job, table, RowRange.ALL);
  }

  /**
   * Like {@link #replaceTable}, for a range of rows. May be called several times, for ranges that
   * do not overlap. The job must then write no other rows of the table: its tasks would fail.
   */
  public static void replaceRows(Job job, String table, RowRange rows) {
    ReplacedRows.add(job.getConfiguration(), new ReplacedRows(table, rows));
  }

  /**
   * Makes reducers write the rows that mappers write as keys, in order; each reducer writes the
   * rows of some neighbouring tablets. With one tablet there is one reducer: see {@link
   * #reduceByRows}. Mappers write {@code (Bytes row, Mutation)}: this sets the classes of map
   * output to these.
   *
   * @param table the table with these tablets, as they are now
   * @param reducersMax the maximum number of reducers; there are no more than tablets, either
   */
  public static void reduceByTablet(Job job, String table, int reducersMax) throws IOException {
    if (reducersMax < 1) {
      throw SteleException.refused(
          "a job with " + reducersMax + " reducers writes nothing: set 1 or more");
    }
    job.getConfiguration().unset(CUT_KEY);
    sortByShuffle(job);
    List<Bytes> starts = new ArrayList<>();
    try (Stele stele = Stele.connect(job.getConfiguration())) {
      List<TabletInfo> tablets = stele.table(table).tablets();
      int reducers = Math.min(reducersMax, tablets.size());
      for (int i = 1; i < reducers; i++) {
        starts.add(tablets.get((int) ((long) i * tablets.size() / reducers)).rows().start());
      }
    }
    reduceFrom(job, starts);
  }

  /**
   * Makes reducers write the rows that mappers write as keys, in order, and makes a tablet of each
   * reducer's rows: the table is split at {@code starts} right before the job commits. So a job
   * that fails leaves the table as it was, unless it fails while it commits.
   *
   * <p>This is for a table of one tablet. {@code SteleJob.bulkInto} finds the rows by itself.
   *
   * @param starts the first rows of all reducers but the first, ascending
   */
  public static void reduceByRows(Job job, String table, List<Bytes> starts) throws IOException {
    for (int i = 0; i < starts.size(); i++) {
      if (starts.get(i).isEmpty() || (i > 0 && starts.get(i - 1).compareTo(starts.get(i)) >= 0)) {
        throw SteleException.refused(
            "the first rows of reducers ascend: row \""
                + starts.get(i)
                + "\" comes "
                + (i == 0 ? "first, and is empty" : "after \"" + starts.get(i - 1) + "\""));
      }
    }
    sortByShuffle(job);
    try (Stele stele = Stele.connect(job.getConfiguration())) {
      job.getConfiguration().set(CUT_KEY, table + " " + stele.table(table).id().value());
    }
    reduceFrom(job, starts);
  }

  private static void sortByShuffle(Job job) {
    job.getConfiguration().unset(SORT_KEY);
    job.getConfiguration().unset(DIVIDE_KEY);
  }

  /**
   * Lets tasks write rows in any order: each sorts what it writes, in memory, and writes files
   * whenever that is full ({@link #SORT_BYTES_KEY}). So mappers can write the files, and no shuffle
   * is needed. In return, a tablet gets files of every task whose first to last row meets it.
   *
   * <p>If the table has only one tablet now, as a new table does, it is split right before the job
   * commits, into parts of similar size of what the job has written. Of several tables only that of
   * the last call is split. {@code SteleJob.bulkWithoutReduce} calls this.
   *
   * @param table a table that the job writes
   * @param tabletsMax the maximum number of tablets that it is split into; each gets at least
   *     {@link #TABLET_BYTES_KEY}
   */
  public static void sortInTasks(Job job, String table, int tabletsMax) throws IOException {
    if (tabletsMax < 1) {
      throw SteleException.refused("tabletsMax is " + tabletsMax + ": it must be at least 1");
    }
    Configuration conf = job.getConfiguration();
    conf.unset(CUT_KEY);
    conf.unset(DIVIDE_KEY);
    conf.set(SORT_KEY, TaskSort.IN_TASK);
    try (Stele stele = Stele.connect(conf)) {
      Table divided = stele.table(table);
      if (divided.tablets().size() == 1) {
        conf.set(DIVIDE_KEY, table + " " + divided.id().value() + " " + tabletsMax);
      }
    }
  }

  /** How the table is divided by what was written, if it is. */
  static Optional<JobOutput.Division> division(Configuration conf) {
    String[] parts = conf.getTrimmed(DIVIDE_KEY, "").split(" ", -1);
    return parts.length < 3
        ? Optional.empty()
        : Optional.of(
            new JobOutput.Division(
                parts[0],
                new TableId(parts[1]),
                Integer.parseInt(parts[2]),
                TaskSort.bytes(conf, TABLET_BYTES_KEY, TABLET_BYTES)));
  }

  /** The tablets that are made when the job commits. */
  static List<JobOutput.Cut> cuts(Configuration conf) {
    String cut = conf.getTrimmed(CUT_KEY, "");
    int blank = cut.indexOf(' ');
    return blank < 0
        ? List.of()
        : TabletPartitioner.starts(conf).stream()
            .map(
                row ->
                    new JobOutput.Cut(
                        cut.substring(0, blank), new TableId(cut.substring(blank + 1)), row))
            .toList();
  }

  private static void reduceFrom(Job job, List<Bytes> starts) {
    TabletPartitioner.setStarts(job.getConfiguration(), starts);
    job.setPartitionerClass(TabletPartitioner.class);
    job.setNumReduceTasks(starts.size() + 1);
    job.setMapOutputKeyClass(Bytes.class);
    job.setMapOutputValueClass(Mutation.class);
    ModelSerialization.registerKeys(job.getConfiguration());
  }

  /**
   * Checks that the tables and families exist, and begins the job.
   *
   * @throws SteleException NOT_FOUND if one does not, REFUSED if no table was added, the rows to
   *     replace cannot be replaced, the configuration does not find the cluster's files, a key has
   *     a bad value, {@code MultipleOutputs} is to write to tables, or {@code MultipleInputs} would
   *     not read the tables of the job's input
   */
  @Override
  public void checkOutputSpecs(JobContext context) throws IOException {
    Configuration conf = context.getConfiguration();
    JobKeys.check(conf);
    DroppedTables.check(conf);
    NamedOutputs.checkSubmitted(conf, BulkOutputFormat.class);
    Stele.addCredentials(conf, context.getCredentials());
    ModelSerialization.register(conf);
    OutputJob.checkMapOutput(context);
    TaskSort.check(conf);
    if (!OutputJob.isSubmittedAgain(context)) {
      ReplacedRows.checkNotOfAnotherJob(conf);
    }
    ShuffleMemory.set(context);
    JobOutput.writeInLargeSteps(conf);
    try (Stele stele = Stele.connect(conf)) {
      OutputTable.identifyAll(stele, conf);
      ReplacedRows.identify(stele, conf);
      JobEnvironment.Submission submission = // If this fails, there is no job yet.
          stele.jobs().environment().submission();
      OutputJob.endSubmittedBefore(context, stele.jobs(), JOB_KEY);
      String job = OutputJob.begin(context, stele.jobs(), LEASE_KEY, TableUse.How.BULK);
      makeDirectory(stele, conf, job);
      ReplacedRows.setSubmitted(conf);
      OutputTable.setSubmitted(conf);
      conf.set(JOB_KEY, job);
      conf.setLong(TIMESTAMP_KEY, submission.timeMicros());
      conf.setLong(VALUE_BYTES_KEY, submission.valueBytesMax());
    }
  }

  static void makeDirectory(Stele stele, Configuration conf, String job) throws IOException {
    try {
      List<TableId> tables = new ArrayList<>();
      for (OutputTable table : OutputTable.all(conf)) {
        tables.add(stele.table(table.name()).id());
      }
      stele.jobs().makeDirectory(job, tables);
    } catch (IOException | RuntimeException | Error e) {
      stele.jobs().endAfter(e, job);
      throw e;
    }
  }

  /**
   * The job as the cluster knows it.
   *
   * @throws SteleException REFUSED if it has not begun
   */
  static String job(Configuration conf) {
    String job = conf.getTrimmed(JOB_KEY, "");
    if (job.isEmpty()) {
      throw SteleException.refused(
          "the job's configuration has no "
              + JOB_KEY
              + ": BulkOutputFormat.checkOutputSpecs sets it when the job is submitted"
              + OutputJob.CHECKED_A_COPY);
    }
    return job;
  }

  /**
   * The job as the framework that runs it knows it: the same in all its tasks and
   * ApplicationMasters.
   *
   * @throws SteleException REFUSED if it has no name
   */
  static String id(JobContext context) {
    return Optional.ofNullable(context.getJobID())
        .map(JobID::toString)
        .orElseThrow(
            () ->
                SteleException.refused(
                    "the job has no JobID, by which its output is told from that of others: give"
                        + " it one before setupJob is called"));
  }

  /**
   * An attempt as the cluster's job knows it. Names ascend as the numbers of their tasks do,
   * whatever the attempts are: tablets make the changes of the later name later. In Hadoop's own
   * names numbers have as many digits as they need.
   */
  static String attempt(TaskAttemptContext context) {
    TaskAttemptID id = context.getTaskAttemptID();
    return String.format(
        Locale.ROOT,
        "attempt_%s_%d_%c_%010d_%010d",
        id.getJobID().getJtIdentifier(),
        id.getJobID().getId(),
        TaskID.getRepresentingCharacter(id.getTaskType()),
        id.getTaskID().getId(),
        id.getId());
  }

  @Override
  public RecordWriter<K, Mutation> getRecordWriter(TaskAttemptContext context) throws IOException {
    NamedOutputs.checkWriter(context.getConfiguration(), BulkOutputFormat.class);
    return new BulkRecordWriter<>(context);
  }

  @Override
  public OutputCommitter getOutputCommitter(TaskAttemptContext context) {
    return new BulkOutputCommitter();
  }
}
