package io.stele.log;

import io.stele.model.Bytes;
import io.stele.model.OperationId;
import io.stele.model.TaskProgress;
import java.util.Optional;

/**
 * What the log keeps of an operation besides its cells, so that a retry after a crash is known.
 *
 * @param id the operation's id
 * @param firstIncomplete the lowest number of that client's that may still be retried
 * @param digest of the operation's bytes: the same id with another digest is an error; at most 64
 *     bytes
 * @param result what the client was or would have been told; empty if there is nothing to tell
 * @param task of a task's operation: how far the task had come; the first such operation that a
 *     tablet logs after it was opened names the job
 */
public record LoggedOperation(
    OperationId id, long firstIncomplete, Bytes digest, Bytes result, Optional<TaskProgress> task) {
  /** Longest digest, in bytes. */
  public static final int DIGEST_BYTES_MAX = 64;

  /** An operation of a client that is not a task. */
  public LoggedOperation(OperationId id, long firstIncomplete, Bytes digest, Bytes result) {
    this(id, firstIncomplete, digest, result, Optional.empty());
  }

  public LoggedOperation {
    if (digest.length() > DIGEST_BYTES_MAX) {
      throw new IllegalArgumentException(
          "a digest has at most " + DIGEST_BYTES_MAX + " bytes, not " + digest.length());
    }
  }

  /** The same with another result. */
  public LoggedOperation with(Bytes otherResult) {
    return new LoggedOperation(id, firstIncomplete, digest, otherResult, task);
  }

  /** How many bytes it takes in the log at most, beside those that each has. */
  long bytesAtMost() {
    long bytes = (long) digest.length() + result.length();
    if (task.isPresent()) { // Asked for each operation: no lambdas.
      Optional<String> job = task.get().job();
      bytes += LogFormat.TASK_BYTES + (job.isPresent() ? job.get().length() : 0);
    }
    return bytes;
  }
}
