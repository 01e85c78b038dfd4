package io.stele.outputformat;

import io.stele.bulk.JobOutput;
import io.stele.client.ModelSerialization;
import io.stele.client.Stele;
import io.stele.client.TabletInfo;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.OutputFormat;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/**
 * Mutations of tables as the output of a job, written as files of the tables, without their
 * servers, and visible all at once when the job has ended well.
 *
 * <pre>{@code
 * BulkOutputFormat.addTable(job, "webtable", "anchor");
 * BulkOutputFormat.reduceByTablet(job, "webtable", 50);
 * job.setMapperClass(AnchorMapper.class); // writes (Bytes row, Mutation)
 * }</pre>
 *
 * <p><b>All or nothing, once.</b> Nobody sees anything of the job before it commits, and from then
 * on everybody all of it, in whatever table and tablet, whatever dies meanwhile. A job that fails
 * or is killed leaves nothing. Attempts of tasks may differ: one of them counts.
 *
 * <p><b>In order.</b> A task writes rows of a table in ascending order: {@link #reduceByTablet}
 * sees to that. The mutations that a task writes to one row are one change, in the order written;
 * where tasks write to the same row, the later task's mutation comes later.
 *
 * <p><b>Timestamps.</b> Puts without one get the time at which the job was submitted, by the clock
 * of whoever submits it. So what others write meanwhile is newer, and stays the newest version.
 * Deletes take effect when the job commits: on all that is older and was written before.
 *
 * <p><b>In place of what was there.</b> {@link #replaceTable} and {@link #replaceRows} have all go
 * that was in the table, or in a range of it, in the same moment. Without code: {@code
 * mapreduce.stele.output.bulk.replace} is {@code table}, or {@code table:start:end}.
 *
 * <p>With one table keys are ignored. With several, the key's text names the table.
 *
 * @param <K> the keys' type
 */
public final class BulkOutputFormat<K> extends OutputFormat<K, Mutation> {
  /**
   * How long the files are kept while neither a task nor the ApplicationMaster runs; such as {@code
   * 2h}. A job that waits for longer is over.
   */
  public static final String LEASE_KEY = "mapreduce.stele.output.bulk.lease";

  /** The job as the cluster knows it; set when it is submitted. */
  static final String JOB_KEY = "mapreduce.stele.output.bulk.job";

  static final String TIMESTAMP_KEY = "mapreduce.stele.output.bulk.timestamp";

  static final String VALUE_BYTES_KEY = "mapreduce.stele.output.bulk.value.bytes";

  /** A table's name and id: it is split where reducers start. */
  private static final String CUT_KEY = "mapreduce.stele.output.bulk.cut";

  /** What the job's tasks have written. */
  public enum Counter {
    /** Mutations written, by all attempts that ended well. */
    MUTATIONS
  }

  /**
   * Adds a table to those the job may write to, and makes this the job's output format.
   *
   * @param families which the job writes to: that the table has them is checked when the job is
   *     submitted
   */
  public static void addTable(Job job, String table, String... families) {
    job.setOutputFormatClass(BulkOutputFormat.class);
    ModelSerialization.register(job.getConfiguration());
    OutputTable.add(job.getConfiguration(), new OutputTable(table, List.of(families)));
  }

  /**
   * Has the job replace all rows of a table: when it commits, all that was written to the table
   * before goes, in the same moment in which what the job has written comes. Who reads sees one or
   * the other. What others write while the job runs goes, too; what they write after the commit
   * stays. Jobs that read as of an earlier time go on to see what they saw.
   *
   * @param table one that the job writes to
   */
  public static void replaceTable(Job job, String table) {
    replaceRows(job, table, RowRange.ALL);
  }

  /**
   * As {@link #replaceTable}, for a range of rows. May be called several times, for ranges that do
   * not meet. The job can then write no other rows of the table: its tasks would fail.
   */
  public static void replaceRows(Job job, String table, RowRange rows) {
    ReplacedRows.add(job.getConfiguration(), new ReplacedRows(table, rows));
  }

  /**
   * Has reducers write the rows that mappers write as keys, each reducer those of some neighbouring
   * tablets, in order. With one tablet there is one reducer: see {@link #reduceByRows}.
   *
   * @param table whose tablets these are, as they are now
   * @param reducersMax there are not more reducers than that, nor than tablets
   */
  public static void reduceByTablet(Job job, String table, int reducersMax) throws IOException {
    if (reducersMax < 1) {
      throw SteleException.refused(
          "a job with " + reducersMax + " reducers writes nothing: set 1 or more");
    }
    job.getConfiguration().unset(CUT_KEY);
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
   * Has reducers write the rows that mappers write as keys, in order, and makes tablets of what
   * each has written: the table is split at {@code starts} right before the job commits. So nothing
   * of that stays of a job which fails.
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
    try (Stele stele = Stele.connect(job.getConfiguration())) {
      job.getConfiguration().set(CUT_KEY, table + " " + stele.table(table).id().value());
    }
    reduceFrom(job, starts);
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
   * @throws SteleException NOT_FOUND if one does not, REFUSED if no table was added, or what is to
   *     be replaced cannot be
   */
  @Override
  public void checkOutputSpecs(JobContext context) throws IOException {
    Configuration conf = context.getConfiguration();
    Stele.addCredentials(conf, context.getCredentials());
    ModelSerialization.register(conf);
    try (Stele stele = Stele.connect(conf)) {
      OutputTable.checkAll(stele, conf);
      ReplacedRows.identify(stele, conf);
      conf.set(JOB_KEY, OutputJob.begin(context, stele.jobs(), LEASE_KEY));
      conf.setLong(TIMESTAMP_KEY, stele.jobs().nowMicros());
      conf.setLong(VALUE_BYTES_KEY, stele.jobs().valueBytesMax());
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
              + ": BulkOutputFormat.checkOutputSpecs sets it when the job is submitted; a framework"
              + " that does not call it cannot use this format");
    }
    return job;
  }

  @Override
  public RecordWriter<K, Mutation> getRecordWriter(TaskAttemptContext context) throws IOException {
    return new BulkRecordWriter<>(context);
  }

  @Override
  public OutputCommitter getOutputCommitter(TaskAttemptContext context) {
    return new BulkOutputCommitter();
  }
}
