package io.stele.outputformat;

import io.stele.config.JobKeys;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.OutputFormat;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * Runs a job's reducer, and tells the task's writer what it throws, as {@link ReducerFailure}.
 *
 * <p>MapReduce closes the writer after the reducer has thrown something, and if the closing throws,
 * too, it drops what the reducer has thrown: nobody would see why the attempt has failed. A writer
 * that knows of it throws nothing. Mappers need nothing of this: what their writers throw then is
 * only logged.
 */
final class ReportingReducer extends Reducer<Object, Object, Object, Object> {
  /** The job's own reducer, in the configuration of a task. */
  private static final String OWN_KEY = JobKeys.Internal.OUTPUT_REDUCER;

  /**
   * Has an attempt of a reducer's task run so, if the job's output format is {@code format}, whose
   * writers understand it. Called when the attempt is set up, before its reducer is made; this
   * changes the configuration of the attempt alone.
   */
  static void install(
      TaskAttemptContext task, @SuppressWarnings("rawtypes") Class<? extends OutputFormat> format) {
    Configuration conf = task.getConfiguration();
    boolean reduces = task.getTaskAttemptID().getTaskType() == TaskType.REDUCE;
    boolean writes =
        format.getName().equals(conf.getTrimmed(MRJobConfig.OUTPUT_FORMAT_CLASS_ATTR, ""));
    if (reduces && writes) {
      String own = conf.getTrimmed(MRJobConfig.REDUCE_CLASS_ATTR, Reducer.class.getName());
      if (!own.equals(ReportingReducer.class.getName())) {
        conf.set(OWN_KEY, own);
        conf.set(MRJobConfig.REDUCE_CLASS_ATTR, ReportingReducer.class.getName());
      }
    }
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    try {
      own(context.getConfiguration()).run(context);
    } catch (Throwable e) { // Programs in Scala or Kotlin throw checked exceptions undeclared.
      tell(e, context);
      throw e;
    }
  }

  private static void tell(Throwable failure, Context context) {
    try {
      context.write(new ReducerFailure(failure), null);
    } catch (IOException | RuntimeException e) {
      failure.addSuppressed(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      failure.addSuppressed(e);
    }
  }

  @SuppressWarnings("unchecked") // As Hadoop makes it.
  private static Reducer<Object, Object, Object, Object> own(Configuration conf) {
    return ReflectionUtils.newInstance(conf.getClass(OWN_KEY, Reducer.class, Reducer.class), conf);
  }
}
