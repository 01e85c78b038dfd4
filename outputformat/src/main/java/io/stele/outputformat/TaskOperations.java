package io.stele.outputformat;

import io.stele.config.JobKeys;
import io.stele.model.OperationId;
import io.stele.model.SteleException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/** The operation ids of a task: the same for every attempt of it, and for no other task. */
final class TaskOperations {
  /** The name of the job's submission in its configuration. */
  static final String SUBMISSION_KEY = JobKeys.OUTPUT_SUBMISSION;

  private TaskOperations() {}

  /**
   * The id of the first mutation that the task of {@code context} writes to a table.
   *
   * @param table the table's name: records are numbered for each table
   * @throws SteleException REFUSED if the job's submission has no name
   */
  static OperationId first(TaskAttemptContext context, String table) {
    String submission = context.getConfiguration().getTrimmed(SUBMISSION_KEY, "");
    if (submission.isEmpty()) {
      throw SteleException.refused(
          "the job's configuration has no "
              + SUBMISSION_KEY
              + ", without which its writes could be taken for those of another job:"
              + " TableOutputFormat.checkOutputSpecs sets it when the job is submitted"
              + OutputJob.CHECKED_A_COPY);
    }
    return first(submission + " " + context.getTaskAttemptID().getTaskID() + " " + table);
  }

  static OperationId first(String name) {
    try {
      ByteBuffer hash =
          ByteBuffer.wrap(
              MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8)));
      return new OperationId(hash.getLong(), hash.getLong(), 1);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
