package io.stele.outputformat;

import io.stele.model.OperationId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/** The operation ids of a task: the same for every attempt of it, and for no other task. */
final class TaskOperations {
  /** The name of the job's submission in its configuration. */
  static final String SUBMISSION_KEY = "mapreduce.stele.output.submission";

  private TaskOperations() {}

  /**
   * The id of the first mutation that the task of {@code context} writes to a table.
   *
   * @param table the table's name: records are numbered for each table
   */
  static OperationId first(TaskAttemptContext context, String table) {
    String submission = context.getConfiguration().get(SUBMISSION_KEY, "");
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
