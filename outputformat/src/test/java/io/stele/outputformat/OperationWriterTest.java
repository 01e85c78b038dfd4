package io.stele.outputformat;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.BatchWriter;
import io.stele.client.Stele;
import io.stele.model.Mutation;
import io.stele.model.TableSchema;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class OperationWriterTest {
  private static TaskAttemptContext task(Stele stele) throws IOException {
    Job job = Job.getInstance(new Configuration(false));
    TableOutputFormat.addTable(job, "t");
    OutputTable.identifyAll(stele, job.getConfiguration());
    job.getConfiguration().set(TaskOperations.SUBMISSION_KEY, "submission");
    return new TaskAttemptContextImpl(
        job.getConfiguration(), new TaskAttemptID("test", 1, TaskType.REDUCE, 0, 0));
  }

  @Test
  void afterAFailureOfTheReducerTheEndThrowsNothingAndAddsWhatHasFailed() throws IOException {
    try (MiniStele cluster =
            MiniStele.start(MiniStele.quick(new Configuration(false)), Site.inMemory(), 1, 1);
        Stele stele = cluster.client()) {
      stele.admin().createTable(TableSchema.of("t", "f"));
      TaskAttemptContext task = task(stele);
      BatchWriter.Options options =
          BatchWriter.Options.ofBufferBytes(1 << 20)
              .withFirstOperation(TaskOperations.first(task, "t"));
      try (BatchWriter before = stele.table("t").batchWriter(options)) {
        before.add(Mutation.of("row").put("f", "q", "of an earlier attempt"));
      }
      OperationWriter<Object> writer = new OperationWriter<>(task, stele);
      writer.write("t", Mutation.of("row").put("f", "q", "another record")); // Of the same number.
      IllegalStateException failure = new IllegalStateException("a fault of the program");
      writer.write(new ReducerFailure(failure), null);
      writer.close(task);
      assertThat(failure.getSuppressed()).as("what the end would have thrown").isNotEmpty();
    }
  }
}
