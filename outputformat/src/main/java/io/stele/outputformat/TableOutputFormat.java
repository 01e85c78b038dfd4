package io.stele.outputformat;

import io.stele.client.ModelSerialization;
import io.stele.client.Stele;
import io.stele.config.JobKeys;
import io.stele.model.RowOperation;
import io.stele.model.SteleException;
import io.stele.model.TableUse;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.OutputFormat;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/**
 * Operations on tables as the output of a job, applied while the job runs: mutations, increments
 * and appends, conditional mutations.
 *
 * <pre>{@code
 * Job job = SteleJob.create(conf, "collect anchors", Anchors.class); // ships Stele's jars
 * TableOutputFormat.addTable(job, "webtable", "anchor");
 * job.setReducerClass(AnchorReducer.class); // writes (anything, RowOperation)
 * }</pre>
 *
 * <p><b>Exactly once.</b> Every operation's id is made of the job, the task and the record's number
 * in the task, not of the attempt. So a record that a failed, speculative or repeated attempt
 * writes again is not applied again, increments and puts without a timestamp included, as long as
 * the job runs. This requires that all attempts of a task write the same records in the same order.
 * An attempt that writes other records fails, and its error says which record differs, or between
 * which two numbers it is. A reducer whose output depends on the order of its values must sort them
 * first, unless its keys are {@code Bytes}: the shuffle does not.
 *
 * <p><b>Not all or nothing.</b> What a task has written is visible at once, and stays when the
 * task, or the job, fails. If you run the whole job again, it is another job, and applies
 * everything again.
 *
 * <p><b>Rows.</b> A task's operations on one row are applied in the order written; operations of
 * several tasks in any order.
 *
 * <p>With one table, keys are ignored and may be anything, even null. With several, the key's text
 * names the table.
 *
 * @param <K> the keys' type
 */
public final class TableOutputFormat<K> extends OutputFormat<K, RowOperation> {
  /**
   * How long tablets remember what the tasks wrote while neither a task nor the ApplicationMaster
   * runs; such as {@code 2h}. A job that waits longer is over, and the writes of its tasks are
   * refused.
   */
  public static final String LEASE_KEY = JobKeys.OUTPUT_LEASE;

  /**
   * Whether a job may read tables as they are when a mapper reads them, {@code true} or {@code
   * false}, the default. Attempts of a task may then write different operations, and those of both
   * may be applied, or an attempt may be refused. Set it only if that does no harm, as where every
   * operation is a put that may be repeated.
   */
  public static final String LATEST_ALLOWED_KEY = JobKeys.OUTPUT_LATEST_ALLOWED;

  /**
   * To how many tablets one task writes at most. If it is set, a job is refused of which tablet
   * servers have no room to remember that. Otherwise a warning is logged if they had none in case
   * that each task wrote to all tablets.
   */
  public static final String TASK_TABLETS_KEY = JobKeys.OUTPUT_TASK_TABLETS;

  /** The job as the cluster knows it; set when it is submitted. */
  static final String JOB_KEY = JobKeys.Internal.OUTPUT_JOB;

  /** What the job's tasks have written. */
  public enum Counter {
    /** Operations written. */
    OPERATIONS,
    /** Edits in them; for a conditional mutation, those of both branches. */
    EDITS,
    /** Bytes of row keys, qualifiers and values in them. */
    BYTES
  }

  /**
   * Adds a table to those the job may write to, and makes this the job's output format. If the
   * table is among them already, only the families are added.
   *
   * @param families the families that the job writes; at submit, before any work is done, it is
   *     checked that the table has them. The job may write other families as well
   */
  public static void addTable(Job job, String table, String... families) {
    job.setOutputFormatClass(TableOutputFormat.class);
    ModelSerialization.register(job.getConfiguration());
    OutputTable.beginAnew(job);
    OutputTable.add(job.getConfiguration(), new OutputTable(table, List.of(families)));
  }

  /**
   * Fetches the credentials by which the job's tasks prove who they are, and adds them to the job.
   * Submitting does this too; call it only if you submit the job in another way.
   */
  public static void initCredentials(Job job) throws IOException {
    Stele.addCredentials(job.getConfiguration(), job.getCredentials());
  }

  /**
   * Checks that the tables and families exist, and that all attempts of a task read the same.
   *
   * @throws SteleException NOT_FOUND if one does not, REFUSED if no table was added, {@code
   *     MultipleOutputs} is to write to tables, {@code MultipleInputs} would not read the tables of
   *     the job's input, the job reads the latest rows of tables and {@link #LATEST_ALLOWED_KEY} is
   *     not set, its mappers write with several threads, its map output has a class that MapReduce
   *     cannot send, or {@link #TASK_TABLETS_KEY} is set, and tablet servers have no room for that
   */
  @Override
  public void checkOutputSpecs(JobContext context) throws IOException {
    Configuration conf = context.getConfiguration();
    JobKeys.check(conf);
    DroppedTables.check(conf);
    ReplacedRows.checkNone(conf);
    RepeatableWrites.check(conf);
    NamedOutputs.checkSubmitted(conf, TableOutputFormat.class);
    Stele.addCredentials(conf, context.getCredentials());
    ModelSerialization.register(conf);
    OutputJob.checkMapOutput(context);
    try (Stele stele = Stele.connect(conf)) {
      OutputTable.identifyAll(stele, conf);
      RememberedTasks.checkReducers(stele, conf);
      conf.set(JOB_KEY, OutputJob.begin(context, stele.jobs(), LEASE_KEY, TableUse.How.LIVE));
    }
    // The name of this submission: job ids are unique only as long as nobody sets the clock back.
    conf.set(TaskOperations.SUBMISSION_KEY, UUID.randomUUID().toString());
    OutputTable.setSubmitted(conf);
  }

  /** The job as the cluster knows it; empty if nobody has begun one. */
  static Optional<String> job(Configuration conf) {
    return Optional.of(conf.getTrimmed(JOB_KEY, "")).filter(name -> !name.isEmpty());
  }

  @Override
  public RecordWriter<K, RowOperation> getRecordWriter(TaskAttemptContext context)
      throws IOException {
    NamedOutputs.checkWriter(context.getConfiguration(), TableOutputFormat.class);
    return new OperationWriter<>(context);
  }

  @Override
  public OutputCommitter getOutputCommitter(TaskAttemptContext context) {
    return new LiveOutputCommitter();
  }
}
