package io.stele.outputformat;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.SteleException;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.OutputFormat;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.log4j.AppenderSkeleton;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.apache.log4j.spi.LoggingEvent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** In MapReduce's own tasks, which decide what is shown of a failed attempt. */
@Timeout(300)
class ReportingReducerTest {
  private static final String OF_END = "fewer records than an earlier attempt";
  private static final String OF_PROGRAM = "a fault of the program";

  private static final String OF_WRITE = "nothing more can be written";
  private static final String FULL = "test.output.full";

  @TempDir private static File texts;

  /** Output whose end always fails, as after an earlier attempt that has written more. */
  static final class FailingFormat extends OutputFormat<Object, Object> {
    @Override
    public void checkOutputSpecs(JobContext context) {}

    @Override
    public RecordWriter<Object, Object> getRecordWriter(TaskAttemptContext context) {
      AttemptFailures failures = new AttemptFailures();
      return new RecordWriter<>() {
        @Override
        public void write(Object key, Object value) {
          if (context.getConfiguration().getBoolean(FULL, false)) {
            throw new UncheckedIOException(new IOException(OF_WRITE));
          }
          if (key instanceof ReducerFailure reducer) {
            failures.addOfReducer(reducer.why());
          }
        }

        @Override
        public void close(TaskAttemptContext closing) throws IOException {
          if (context.getConfiguration().getBoolean(FULL, false)) {
            return;
          }
          failures.end(
              List.of(
                  () -> {
                    throw SteleException.refused(OF_END);
                  }));
        }
      };
    }

    @Override
    public OutputCommitter getOutputCommitter(TaskAttemptContext context) {
      return new OutputCommitter() {
        @Override
        public void setupTask(TaskAttemptContext task) {
          ReportingReducer.install(task, FailingFormat.class);
        }

        @Override
        public void setupJob(JobContext job) {}

        @Override
        public boolean needsTaskCommit(TaskAttemptContext task) {
          return false;
        }

        @Override
        public void commitTask(TaskAttemptContext task) {}

        @Override
        public void abortTask(TaskAttemptContext task) {}
      };
    }
  }

  static final class FailingReducer extends Reducer<LongWritable, Text, Object, Object> {
    @Override
    protected void reduce(LongWritable key, Iterable<Text> values, Context context) {
      throw new IllegalStateException(OF_PROGRAM);
    }
  }

  /** As a compiler lets it through that knows no checked exceptions. */
  static final class UndeclaringReducer extends Reducer<LongWritable, Text, Object, Object> {
    @Override
    protected void reduce(LongWritable key, Iterable<Text> values, Context context) {
      throw UndeclaringReducer.<RuntimeException>undeclared(new TimeoutException(OF_PROGRAM));
    }

    @SuppressWarnings("unchecked") // Not true, as intended.
    private static <E extends Exception> E undeclared(Exception failure) throws E {
      throw (E) failure;
    }
  }

  static final class FailingMapper extends Mapper<LongWritable, Text, Object, Object> {
    @Override
    protected void map(LongWritable key, Text value, Context context) {
      throw new IllegalStateException(OF_PROGRAM);
    }
  }

  /** What the local runner logs of the failure of the job, after it has said that it failed. */
  private static Throwable failureOf(Job job) throws Exception {
    CompletableFuture<Throwable> logged = new CompletableFuture<>();
    AppenderSkeleton listener =
        new AppenderSkeleton() {
          @Override
          protected void append(LoggingEvent event) {
            if (event.getThrowableInformation() != null
                && event.getRenderedMessage().startsWith("job_local")) {
              logged.complete(event.getThrowableInformation().getThrowable());
            }
          }

          @Override
          public void close() {}

          @Override
          public boolean requiresLayout() {
            return false;
          }
        };
    Logger log = Logger.getLogger("org.apache.hadoop.mapred.LocalJobRunner");
    Level before = log.getLevel(); // Perhaps none of its own.
    log.setLevel(Level.WARN);
    log.addAppender(listener);
    try {
      assertThat(job.waitForCompletion(false)).isFalse();
      Throwable told = logged.join();
      return told.getCause() == null ? told : told.getCause(); // The runner wraps it.
    } finally {
      log.removeAppender(listener);
      log.setLevel(before);
    }
  }

  private static Job job() throws IOException {
    Files.writeString(new File(texts, "text").toPath(), "one line\n");
    Job job = Job.getInstance(new Configuration());
    FileInputFormat.addInputPath(job, new Path(texts.toURI()));
    job.setMapOutputKeyClass(LongWritable.class);
    job.setMapOutputValueClass(Text.class);
    job.setOutputFormatClass(FailingFormat.class);
    return job;
  }

  @Test
  void whatTheReducerThrowsIsShownAndTheFailureOfTheEndWithIt() throws Exception {
    Job job = job();
    job.setReducerClass(FailingReducer.class);
    Throwable failure = failureOf(job);
    assertThat(failure).isInstanceOf(IllegalStateException.class).hasMessage(OF_PROGRAM);
    assertThat(failure.getSuppressed()).hasSize(1);
    assertThat(failure.getSuppressed()[0]).hasMessage(OF_END);
  }

  @Test
  void aCheckedExceptionThatTheReducerDoesNotDeclareIsShown() throws Exception {
    Job job = job();
    job.setReducerClass(UndeclaringReducer.class);
    Throwable failure = failureOf(job);
    assertThat(failure).isInstanceOf(TimeoutException.class).hasMessage(OF_PROGRAM);
    assertThat(failure.getSuppressed()).hasSize(1);
  }

  @Test
  void aFailureToTellTheWriterDoesNotHideWhatIsToBeTold() throws Exception {
    Job job = job();
    job.setReducerClass(FailingReducer.class);
    job.getConfiguration().setBoolean(FULL, true);
    Throwable failure = failureOf(job);
    assertThat(failure).isInstanceOf(IllegalStateException.class).hasMessage(OF_PROGRAM);
    assertThat(failure.getSuppressed()).singleElement().asString().contains(OF_WRITE);
  }

  /** So does MapReduce itself: mappers need nothing of what reducers do. */
  @Test
  void whatTheMapperThrowsIsShown() throws Exception {
    Job job = job();
    job.setMapperClass(FailingMapper.class);
    job.setNumReduceTasks(0);
    assertThat(failureOf(job)).hasMessage(OF_PROGRAM);
  }

  @Test
  void theEndThatFailsAfterAReducerThatDidNotIsShown() throws Exception {
    assertThat(failureOf(job())).hasMessage(OF_END);
  }

  @Test
  void theCommittersOfBothFormatsHaveReducersRunSo() throws IOException {
    List<Class<?>> formats = List.of(TableOutputFormat.class, BulkOutputFormat.class);
    List<OutputCommitter> committers =
        List.of(new LiveOutputCommitter(), new BulkOutputCommitter());
    for (int i = 0; i < formats.size(); i++) {
      Configuration conf = new Configuration(false);
      conf.set("mapreduce.job.outputformat.class", formats.get(i).getName());
      TaskAttemptContext task =
          new TaskAttemptContextImpl(conf, new TaskAttemptID("test", 1, TaskType.REDUCE, 0, 0));
      committers.get(i).setupTask(task);
      assertThat(task.getConfiguration().get("mapreduce.job.reduce.class"))
          .isEqualTo(ReportingReducer.class.getName());
    }
  }

  @Test
  void aFailureOfAnOperationThatTheReducerPassesOnIsNotToldTwice() {
    AttemptFailures failures = new AttemptFailures();
    SteleException refused = SteleException.refused("a bad row");
    failures.add(refused);
    IllegalStateException shown = new IllegalStateException(OF_PROGRAM, refused);
    failures.addOfReducer(shown);
    failures.add(refused); // Thrown again by the end.
    assertThat(shown.getSuppressed()).isEmpty();
  }
}
