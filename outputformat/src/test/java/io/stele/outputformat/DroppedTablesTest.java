package io.stele.outputformat;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.OutputFormat;
import org.apache.hadoop.mapreduce.lib.input.MultipleInputs;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;
import org.junit.jupiter.api.Test;

class DroppedTablesTest {
  private static final List<String> KEYS =
      List.of("mapreduce.stele.input.scans", "mapreduce.stele.input.table");

  private static Job jobOfFiles(String key) throws IOException {
    Job job = Job.getInstance(new Configuration(false));
    job.getConfiguration().set(key, "web");
    MultipleInputs.addInputPath(job, new Path("file:///texts"), TextInputFormat.class);
    return job;
  }

  @Test
  void tablesThatMultipleInputsWouldNotReadAreRefusedWhenTheJobIsSubmitted() throws Exception {
    for (String key : KEYS) {
      Job job = jobOfFiles(key);
      for (OutputFormat<?, ?> output :
          List.of(new TableOutputFormat<String>(), new BulkOutputFormat<String>())) {
        assertThatThrownBy(() -> output.checkOutputSpecs(job))
            .isInstanceOfSatisfying(
                SteleException.class,
                e ->
                    assertThatThrownBy(() -> DroppedTables.check(job.getConfiguration()))
                        .hasMessage(e.getMessage()))
            .hasMessageContaining(key + " has tables for the job to read")
            .hasMessageContaining("MultipleInputs.addInputPath(job, new Path(\"tables\"),")
            .hasMessageContaining("unset " + key);
      }
    }
  }

  @Test
  void tablesThatAreReadAreNotRefused() throws Exception {
    for (String key : KEYS) {
      Job job = jobOfFiles(key);
      Configuration conf = job.getConfiguration();
      conf.set(
          "mapreduce.input.multipleinputs.dir.formats",
          "file:/texts;"
              + TextInputFormat.class.getName()
              + ",tables;io.stele.inputformat.TableInputFormat");
      assertThatCode(() -> DroppedTables.check(conf)).doesNotThrowAnyException();
      job.setInputFormatClass(TextInputFormat.class); // A copy, which does without.
      conf.unset("mapreduce.input.multipleinputs.dir.formats");
      assertThatCode(() -> DroppedTables.check(conf)).doesNotThrowAnyException();
    }
    Configuration files = jobOfFiles("any").getConfiguration();
    assertThatCode(() -> DroppedTables.check(files)).doesNotThrowAnyException();
  }
}
