package io.stele.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.inputformat.TableInputFormat;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowOperation;
import io.stele.model.RowQuery;
import io.stele.model.TableSchema;
import io.stele.outputformat.TableOutputFormat;
import io.stele.sim.MiniStele;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tasks whose tablets nobody serves tell Hadoop again and again that they live, so that {@code
 * mapreduce.task.timeout} does not end them, and go on once the tablets are served.
 */
@Timeout(300)
class WaitingTasksIT {
  /** Told every two seconds. Of one or two the beginning or the end might be the cause. */
  private static final int TOLD = 3;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private LocalCluster cluster;
  private Job job;

  @BeforeEach
  void start() throws Exception {
    cluster = new LocalCluster(1);
    cluster.client().admin().createTable(TableSchema.of("input", "f"));
    cluster.client().admin().createTable(TableSchema.of("output", "f"));
    cluster.client().table("input").mutate(Mutation.of("row").put("f", "q", "read"));
    job = SteleJob.create(cluster.conf(), "waits");
    TableInputFormat.addTable(job, "input", RowQuery.ALL);
    TableOutputFormat.addTable(job, "output", "f");
  }

  @AfterEach
  void stop() throws Exception {
    threads.shutdownNow();
    cluster.close();
  }

  /** A task, as far as it tells Hadoop that it lives. */
  private static final class Task extends TaskAttemptContextImpl.DummyReporter {
    private final AtomicInteger told = new AtomicInteger();

    TaskAttemptContext context(Job job) {
      TaskAttemptID id = new TaskAttemptID("1600000000000", 1, TaskType.MAP, 0, 0);
      return new TaskAttemptContextImpl(job.getConfiguration(), id, this);
    }

    @Override
    public void progress() {
      told.incrementAndGet();
    }
  }

  /** Runs {@code work} from before the only server dies until after there is another one. */
  private <T> T withoutServers(Task task, Callable<T> work) throws Exception {
    cluster.stele().killServer(cluster.stele().servers().get(0));
    int before = task.told.get();
    Future<T> done = threads.submit(work);
    MiniStele.await(
        "a task that tells that it lives", () -> task.told.get() >= before + TOLD || done.isDone());
    assertThat(done).isNotDone();
    cluster.stele().startServer();
    return done.get();
  }

  @Test
  void aTaskThatWaitsToReadTellsThatItLives() throws Exception {
    List<InputSplit> splits = new TableInputFormat().getSplits(job);
    Task task = new Task();
    TaskAttemptContext context = task.context(job);
    try (RecordReader<Bytes, Row> reader =
        new TableInputFormat().createRecordReader(splits.get(0), context)) {
      Row row =
          withoutServers(
              task,
              () -> {
                reader.initialize(splits.get(0), context);
                assertThat(reader.nextKeyValue()).isTrue();
                return reader.getCurrentValue();
              });
      assertThat(row.value("f", "q")).contains(Bytes.of("read"));
    }
  }

  @Test
  void aTaskThatWaitsToWriteTellsThatItLives() throws Exception {
    new TableOutputFormat<>().checkOutputSpecs(job);
    Task task = new Task();
    TaskAttemptContext context = task.context(job);
    RecordWriter<NullWritable, RowOperation> writer =
        new TableOutputFormat<NullWritable>().getRecordWriter(context);
    withoutServers(
        task,
        () -> {
          writer.write(NullWritable.get(), Mutation.of("row").put("f", "q", "written"));
          writer.close(context);
          return "written";
        });
    assertThat(cluster.client().table("output").readRow("row").orElseThrow().value("f", "q"))
        .contains(Bytes.of("written"));
  }
}
