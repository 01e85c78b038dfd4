package io.stele.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Stele;
import io.stele.config.Keys;
import io.stele.inputformat.TableInputFormat;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.jar.JarFile;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.MultipleInputs;
import org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;

class SteleJobTest {
  private static Configuration yarn() {
    Configuration conf = new Configuration(false);
    conf.set("mapreduce.framework.name", "yarn");
    return conf;
  }

  @Test
  void theLocalRunnerNeedsNoJars() throws IOException {
    Job job = SteleJob.create(new Configuration(false), "test", SteleJobTest.class);
    assertThat(job.getConfiguration().get("tmpjars")).isNull();
  }

  @Test
  void aJobShipsOurJarsAndTheCodecsAndNothingElse() throws IOException {
    Job job = SteleJob.create(yarn(), "test", SteleJobTest.class);
    String[] jars = job.getConfiguration().getStrings("tmpjars");
    assertThat(jars).hasSize(6).anyMatch(jar -> jar.contains("aircompressor-"));
    assertThat(jars).allMatch(jar -> jar.startsWith("file:") && jar.endsWith(".jar"));
    assertThat(job.getJar()).endsWith(".jar");
  }

  @Test
  void preparingAJobTwiceAddsNothing() throws IOException {
    Job job = SteleJob.create(yarn(), "test");
    String jars = job.getConfiguration().get("tmpjars");
    SteleJob.prepare(job);
    assertThat(job.getConfiguration().get("tmpjars")).isEqualTo(jars);
  }

  @Test
  void aClassFromADirectoryGetsAJarOfIt() throws IOException {
    Path jar = ClassJars.of(SteleJobTest.class);
    try (JarFile file = new JarFile(jar.toFile())) {
      assertThat(file.getEntry(SteleJobTest.class.getName().replace('.', '/') + ".class"))
          .isNotNull();
    }
    assertThat(ClassJars.of(SteleJobTest.class)).isEqualTo(jar);
    assertThat(ClassJars.of(Stele.class)).isNotEqualTo(jar);
  }

  @Test
  void tasksWaitLongerForATabletUnlessTheJobSaysOtherwise() throws IOException {
    Configuration conf = new Configuration(false);
    assertThat(Keys.CLIENT_TIMEOUT.in(SteleJob.create(conf, "test").getConfiguration()))
        .hasMinutes(5);
    conf.set(Keys.CLIENT_TIMEOUT.name(), "7s");
    assertThat(Keys.CLIENT_TIMEOUT.in(SteleJob.create(conf, "test").getConfiguration()))
        .hasSeconds(7);
  }

  @Test
  void aWrongKeyIsRefusedBeforeTheJobIsSubmitted() {
    Configuration conf = new Configuration(false);
    conf.set("stele.client.timeuot", "7s");
    assertThatThrownBy(() -> SteleJob.create(conf, "test"))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("stele.client.timeout");
  }

  private static AbstractThrowableAssert<?, ? extends Throwable> assertBulkInto(Job job) {
    // The number of reducers is what is looked at next.
    return assertThatThrownBy(() -> SteleJob.bulkInto(job, "webtable", 0, "f"));
  }

  @Test
  void filesAreDividedOnlyWhenTheInputAndTheMapperAreSet() throws IOException {
    Job job = SteleJob.create(new Configuration(false), "test");
    assertBulkInto(job).hasMessageContaining("no input yet: set the job's input and mapper before");
    job.setMapperClass(Mapper.class);
    assertBulkInto(job).hasMessageContaining("no input yet");
    job.setInputFormatClass(SequenceFileInputFormat.class);
    assertBulkInto(job).hasMessageContaining("no input yet");
    FileInputFormat.addInputPath(job, new org.apache.hadoop.fs.Path("file:///input"));
    assertBulkInto(job).hasMessageContaining("0 reducers");

    Job unmapped = SteleJob.create(new Configuration(false), "test");
    TableInputFormat.addTable(unmapped, "webtable", RowQuery.ALL);
    assertBulkInto(unmapped).hasMessageContaining("no mapper yet");
    unmapped.setMapperClass(Mapper.class);
    assertBulkInto(unmapped).hasMessageContaining("0 reducers");
  }

  @Test
  void severalInputsAreAnInput() throws IOException {
    Job job = SteleJob.create(new Configuration(false), "test");
    MultipleInputs.addInputPath(
        job,
        new org.apache.hadoop.fs.Path("file:///input"),
        SequenceFileInputFormat.class,
        Mapper.class);
    assertBulkInto(job).hasMessageContaining("0 reducers");
  }
}
