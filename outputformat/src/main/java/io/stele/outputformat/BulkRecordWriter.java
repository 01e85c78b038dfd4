package io.stele.outputformat;

import io.stele.bulk.AttemptOutput;
import io.stele.bulk.JobOutput;
import io.stele.client.JobRenewal;
import io.stele.client.Stele;
import io.stele.client.SubmittedOutput;
import io.stele.client.Table;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes the files of one attempt of a task. */
final class BulkRecordWriter<K> extends RecordWriter<K, Mutation> {
  private static final Logger LOG = LoggerFactory.getLogger(BulkRecordWriter.class);

  private final Stele stele;
  private final JobRenewal renewal;
  private final AttemptOutput output;
  private final List<String> tables;
  private final Map<String, List<RowRange>> replaced = new TreeMap<>();
  private final WriteCounters counters;
  private final boolean hasCommitted;
  private final AttemptFailures failures = new AttemptFailures();
  private boolean closed;

  BulkRecordWriter(TaskAttemptContext context) throws IOException {
    Configuration conf = context.getConfiguration();
    String job = BulkOutputFormat.job(conf);
    counters =
        new WriteCounters(
            context.getCounter(BulkOutputFormat.Counter.MUTATIONS),
            context.getCounter(BulkOutputFormat.Counter.EDITS),
            context.getCounter(BulkOutputFormat.Counter.BYTES));
    tables = OutputTable.all(conf).stream().map(OutputTable::name).toList();
    tables.forEach(table -> replaced.put(table, ReplacedRows.of(conf, table)));
    stele = Stele.connect(conf, context::progress);
    try {
      hasCommitted = SubmittedOutput.hasCommittedBefore(stele.jobs(), conf);
      JobOutput ofJob = new JobOutput(stele.jobs(), job);
      output = output(ofJob, terms(ofJob, conf), context);
      if (hasCommitted) {
        LOG.info("Job {} has committed: what this attempt writes again is discarded", job);
      } else {
        addTables(conf);
        ofJob.requireSetUp(BulkOutputFormat.id(context)); // Before hours of work.
      }
      renewal = stele.jobs().keep(job);
    } catch (IOException | RuntimeException e) {
      stele.close();
      throw e;
    }
  }

  private void addTables(Configuration conf) throws IOException {
    for (String name : tables) {
      Table table = OutputTable.open(stele, conf, name);
      output.addTable(name, table.id(), table.schema());
    }
  }

  private JobOutput.Terms terms(JobOutput job, Configuration conf) throws IOException {
    long timestamp = conf.getLong(BulkOutputFormat.TIMESTAMP_KEY, 0);
    long valueBytesMax = conf.getLong(BulkOutputFormat.VALUE_BYTES_KEY, 0);
    return hasCommitted
        ? new JobOutput.Terms(timestamp, valueBytesMax)
        : job.terms(timestamp, valueBytesMax);
  }

  private AttemptOutput output(JobOutput job, JobOutput.Terms terms, TaskAttemptContext context) {
    Configuration conf = context.getConfiguration();
    String attempt = BulkOutputFormat.attempt(context);
    return TaskSort.isInTask(conf)
        ? job.attempt(
            attempt,
            terms,
            new AttemptOutput.Sorting(
                TaskSort.sortBytes(conf, Runtime.getRuntime().maxMemory(), tables.size()), context))
        : job.attempt(attempt, terms);
  }

  @Override
  public void write(K key, Mutation mutation) throws IOException {
    if (key instanceof ReducerFailure reducer) {
      failures.addOfReducer(reducer.why());
      return;
    }
    if (tables.size() > 1 && key == null) {
      throw SteleException.refused(
          "a job with several output tables names the table in the key: use one of " + tables);
    }
    String table = tables.size() == 1 ? tables.get(0) : key.toString();
    requireReplaced(table, mutation.row());
    if (hasCommitted) {
      return;
    }
    renewal.check(); // Of a job that is over nothing can be published.
    output.add(table, mutation);
    counters.count(mutation);
  }

  /** Refuses rows outside the replaced ones: a repeated job would not replace them. */
  private void requireReplaced(String table, Bytes row) {
    List<RowRange> rows = replaced.getOrDefault(table, List.of());
    if (!rows.isEmpty() && rows.stream().noneMatch(range -> range.contains(row))) {
      throw SteleException.refused(
          "row \""
              + row
              + "\" is not among those that the job replaces in table "
              + table
              + ", "
              + rows
              + ": write it with another job, or replace more");
    }
  }

  /**
   * Lists the files written; they count only when the attempt commits. After a failure of the
   * reducer, whoever aborts the attempt finds them by the list, and this throws nothing. Closing
   * again does nothing: the task's list may name the files by then.
   */
  @Override
  public void close(TaskAttemptContext closing) throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    try {
      failures.end(List.of(this::endOutput));
    } finally {
      renewal.close();
      stele.close();
    }
  }

  private void endOutput() throws IOException {
    try (AttemptOutput written = output) {
      if (!hasCommitted) {
        written.finish();
      }
    }
  }
}
