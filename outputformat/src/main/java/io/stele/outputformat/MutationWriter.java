package io.stele.outputformat;

import io.stele.client.BatchWriter;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.SteleException;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/** Writes a task's mutations, through one {@link BatchWriter} for each table. */
final class MutationWriter<K> extends RecordWriter<K, Mutation> {
  private final Stele stele;
  private final Map<String, BatchWriter> writers = new LinkedHashMap<>();
  private final TaskAttemptContext context;
  private volatile boolean failed;

  MutationWriter(TaskAttemptContext context) throws IOException {
    this.context = context;
    this.stele = Stele.connect(context.getConfiguration());
    try {
      for (OutputTable output : OutputTable.all(context.getConfiguration())) {
        Table table = stele.table(output.name());
        BatchWriter.Options options =
            BatchWriter.Options.ofBufferBytes(
                    Keys.CLIENT_BUFFER_BYTES.in(context.getConfiguration()))
                .withFirstOperation(TaskOperations.first(context, output.name()));
        writers.put(output.name(), table.batchWriter(options));
      }
    } catch (IOException | RuntimeException e) {
      stele.close();
      throw e;
    }
  }

  @Override
  public void write(K key, Mutation mutation) throws IOException {
    if (failed) { // Says why, and ends the task: more work would be lost.
      flush();
    }
    writer(key).add(mutation).whenComplete((nothing, failure) -> failed |= failure != null);
    count(mutation);
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

  private void count(Mutation mutation) {
    long bytes = mutation.row().length();
    for (Edit edit : mutation.edits()) {
      if (edit instanceof Edit.Put put) {
        bytes += put.qualifier().length() + put.value().length();
      }
    }
    context.getCounter(TableOutputFormat.Counter.MUTATIONS).increment(1);
    context.getCounter(TableOutputFormat.Counter.EDITS).increment(mutation.edits().size());
    context.getCounter(TableOutputFormat.Counter.BYTES).increment(bytes);
  }

  private void flush() throws IOException {
    for (BatchWriter writer : writers.values()) {
      writer.flush();
    }
  }

  /** Waits until every mutation has been applied; a task that ends well has lost none. */
  @Override
  public void close(TaskAttemptContext closing) throws IOException {
    try {
      for (BatchWriter writer : List.copyOf(writers.values())) {
        writer.close();
      }
    } finally {
      stele.close();
    }
  }
}
