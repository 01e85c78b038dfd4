package io.stele.outputformat;

import io.stele.client.BatchWriter;
import io.stele.client.JobRenewal;
import io.stele.client.Stele;
import io.stele.client.SubmittedOutput;
import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.model.RowOperation;
import io.stele.model.SteleException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes a task's operations, through one {@link BatchWriter} for each table. */
final class OperationWriter<K> extends RecordWriter<K, RowOperation> {
  private static final Logger LOG = LoggerFactory.getLogger(OperationWriter.class);

  private final Stele stele;
  private final Map<String, BatchWriter> writers = new LinkedHashMap<>();
  private final WriteCounters counters;
  private final Optional<JobRenewal> renewal;
  private final boolean hasCommitted;
  private final AttemptFailures failures = new AttemptFailures();

  /** The writer of which an operation failed first. */
  private final CompletableFuture<BatchWriter> failed = new CompletableFuture<>();

  OperationWriter(TaskAttemptContext context) throws IOException {
    this(context, Stele.connect(context.getConfiguration(), context::progress));
  }

  /** A writer over a connection, which it closes. */
  OperationWriter(TaskAttemptContext context, Stele stele) throws IOException {
    this.counters =
        new WriteCounters(
            context.getCounter(TableOutputFormat.Counter.OPERATIONS),
            context.getCounter(TableOutputFormat.Counter.EDITS),
            context.getCounter(TableOutputFormat.Counter.BYTES));
    this.stele = stele;
    Optional<String> job = TableOutputFormat.job(context.getConfiguration());
    try {
      hasCommitted = SubmittedOutput.hasCommittedBefore(stele.jobs(), context.getConfiguration());
      if (hasCommitted) {
        LOG.info(
            "Job {} has committed: what this attempt writes again is discarded", job.orElse(""));
      } else {
        openTables(context, job);
      }
      this.renewal = job.map(stele.jobs()::keep);
    } catch (IOException | RuntimeException e) {
      stele.close();
      throw e;
    }
  }

  private void openTables(TaskAttemptContext context, Optional<String> job) throws IOException {
    Configuration conf = context.getConfiguration();
    for (OutputTable output : OutputTable.all(conf)) {
      Table table = OutputTable.open(stele, conf, output.name());
      BatchWriter.Options options =
          BatchWriter.Options.ofBufferBytes(Keys.CLIENT_BUFFER_BYTES.in(conf))
              .withFirstOperation(TaskOperations.first(context, output.name()));
      writers.put(output.name(), table.batchWriter(job.map(options::forJob).orElse(options)));
    }
  }

  @Override
  public void write(K key, RowOperation operation) throws IOException {
    if (key instanceof ReducerFailure reducer) {
      failures.addOfReducer(reducer.why());
      return;
    }
    if (hasCommitted) {
      return;
    }
    try {
      if (failed.isDone()) { // Says why, and ends the task: more work would be lost.
        for (BatchWriter writer : inOrder()) {
          writer.flush();
        }
      }
      add(writer(key), operation);
    } catch (IOException | RuntimeException e) {
      if (failed.isDone()) { // Otherwise only this operation was refused: the caller may go on.
        failures.add(e);
      }
      throw e;
    }
    counters.count(operation);
  }

  private void add(BatchWriter writer, RowOperation operation) throws IOException {
    writer
        .add(operation)
        .whenComplete(
            (nothing, failure) -> {
              if (failure != null) {
                failed.complete(writer);
              }
            });
  }

  /** All writers; first the one of which an operation failed first. */
  private List<BatchWriter> inOrder() {
    Set<BatchWriter> ordered = new LinkedHashSet<>();
    if (failed.isDone()) {
      ordered.add(failed.join());
    }
    ordered.addAll(writers.values());
    return List.copyOf(ordered);
  }

  private BatchWriter writer(K key) {
    if (writers.size() == 1) {
      return writers.values().iterator().next();
    }
    BatchWriter writer = key == null ? null : writers.get(key.toString());
    if (writer == null) {
      throw SteleException.refused(
          "a job with several output tables names the table in the key, and \""
              + key
              + "\" is not an output table: use one of "
              + writers.keySet());
    }
    return writer;
  }

  /**
   * Waits until every operation has been applied, so that a task that succeeds has lost none. If it
   * fails, it throws the first failure of this attempt, even if that was thrown before; but after
   * one of the reducer itself nothing, so that MapReduce tells that one.
   */
  @Override
  public void close(TaskAttemptContext closing) throws IOException {
    try {
      failures.end(steps());
    } finally {
      renewal.ifPresent(JobRenewal::close);
      stele.close();
    }
  }

  /** First operations have failed, or not, in all tables; then writers find records missing. */
  private List<AttemptFailures.Step> steps() {
    List<AttemptFailures.Step> steps = new ArrayList<>();
    for (BatchWriter writer : inOrder()) {
      steps.add(writer::flush);
    }
    for (BatchWriter writer : writers.values()) {
      steps.add(writer::close);
    }
    return steps;
  }
}
