package io.stele.outputformat;

import io.stele.client.ModelSerialization;
import io.stele.client.Stele;
import io.stele.client.TabletInfo;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.SteleException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
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

  private static final long LEASE_SECONDS = 3600;

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
   * Has reducers write the rows that mappers write as keys, each reducer those of some neighbouring
   * tablets, in order. An empty table should be made with split points: with one tablet there is
   * one reducer.
   *
   * @param table whose tablets these are, as they are now
   * @param reducersMax there are not more reducers than that, nor than tablets
   */
  public static void reduceByTablet(Job job, String table, int reducersMax) throws IOException {
    if (reducersMax < 1) {
      throw SteleException.refused(
          "a job with " + reducersMax + " reducers writes nothing: set 1 or more");
    }
    List<Bytes> starts = new ArrayList<>();
    try (Stele stele = Stele.connect(job.getConfiguration())) {
      List<TabletInfo> tablets = stele.table(table).tablets();
      int reducers = Math.min(reducersMax, tablets.size());
      for (int i = 1; i < reducers; i++) {
        starts.add(tablets.get((int) ((long) i * tablets.size() / reducers)).rows().start());
      }
    }
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
   * @throws SteleException NOT_FOUND if one does not, REFUSED if no table was added
   */
  @Override
  public void checkOutputSpecs(JobContext context) throws IOException {
    Configuration conf = context.getConfiguration();
    Stele.addCredentials(conf, context.getCredentials());
    ModelSerialization.register(conf);
    try (Stele stele = Stele.connect(conf)) {
      OutputTable.checkAll(stele, conf);
      long seconds = conf.getTimeDuration(LEASE_KEY, LEASE_SECONDS, TimeUnit.SECONDS);
      conf.set(JOB_KEY, stele.jobs().begin(Duration.ofSeconds(seconds)));
      conf.setLong(TIMESTAMP_KEY, stele.jobs().nowMicros());
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
