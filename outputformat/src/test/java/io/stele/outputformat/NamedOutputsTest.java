package io.stele.outputformat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Mutation;
import io.stele.model.SteleException;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.OutputFormat;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.lib.output.MultipleOutputs;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;
import org.apache.hadoop.mapreduce.task.MapContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** MultipleOutputs over tables is refused with what to do instead. */
class NamedOutputsTest {
  private static final List<Class<? extends OutputFormat<?, ?>>> FORMATS =
      List.of(formatClass(TableOutputFormat.class), formatClass(BulkOutputFormat.class));

  @SuppressWarnings("unchecked")
  private static Class<? extends OutputFormat<?, ?>> formatClass(Class<?> format) {
    return (Class<? extends OutputFormat<?, ?>>) format;
  }

  private static Job job(Class<?> format) throws IOException {
    Job job = Job.getInstance(new Configuration(false));
    if (format == TableOutputFormat.class) {
      TableOutputFormat.addTable(job, "web");
    } else {
      BulkOutputFormat.addTable(job, "web");
    }
    return job;
  }

  private static MultipleOutputs<NullWritable, Mutation> inTask(Job job) {
    return new MultipleOutputs<>(
        new MapContextImpl<NullWritable, NullWritable, NullWritable, Mutation>(
            job.getConfiguration(),
            TaskAttemptID.forName("attempt_1600000000000_0001_m_000000_0"),
            null,
            null,
            null,
            new TaskAttemptContextImpl.DummyReporter(),
            null));
  }

  private static void isRefused(ThrowingCallable call, Class<?> format) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
        .hasMessageContaining("of MultipleOutputs cannot write to tables")
        .hasMessageContaining(format.getSimpleName() + ".addTable")
        .hasMessageContaining("in its key");
  }

  @Test
  void namedOutputsAreRefusedAtSubmissionAndInTasks() throws Exception {
    for (Class<? extends OutputFormat<?, ?>> format : FORMATS) {
      Job job = job(format);
      add(job, format);
      isRefused(() -> format.getDeclaredConstructor().newInstance().checkOutputSpecs(job), format);
      job.setOutputFormatClass(TextOutputFormat.class); // Whose submission checks nothing.
      MultipleOutputs<NullWritable, Mutation> outputs = inTask(job);
      isRefused(() -> outputs.write("links", NullWritable.get(), Mutation.of("a")), format);
    }
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static void add(Job job, Class<? extends OutputFormat<?, ?>> format) {
    MultipleOutputs.addNamedOutput(
        job, "links", (Class<? extends OutputFormat>) format, NullWritable.class, Mutation.class);
  }

  @Test
  void outputsByPathAreRefusedInTasks() throws Exception {
    for (Class<? extends OutputFormat<?, ?>> format : FORMATS) {
      MultipleOutputs<NullWritable, Mutation> outputs = inTask(job(format));
      isRefused(() -> outputs.write(NullWritable.get(), Mutation.of("a"), "links/part"), format);
    }
  }

  @Test
  void filesBesideTablesAreRefusedAtSubmission() throws Exception {
    for (Class<? extends OutputFormat<?, ?>> format : FORMATS) {
      Job job = job(format);
      MultipleOutputs.addNamedOutput(
          job, "rejected", TextOutputFormat.class, NullWritable.class, Text.class);
      areNeverCommitted(job, format);

      Job ofAvro = job(format); // As AvroMultipleOutputs.addNamedOutput sets it up.
      String avro = "avro.mapreduce.multipleoutputs";
      ofAvro.getConfiguration().set(avro, "rejected");
      ofAvro
          .getConfiguration()
          .set(avro + ".namedOutput.rejected.format", TextOutputFormat.class.getName());
      areNeverCommitted(ofAvro, format);
    }
  }

  private static void areNeverCommitted(Job job, Class<? extends OutputFormat<?, ?>> format) {
    assertThatThrownBy(() -> format.getDeclaredConstructor().newInstance().checkOutputSpecs(job))
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
        .hasMessageContaining("named output rejected of MultipleOutputs")
        .hasMessageContaining("never committed");
  }
}
