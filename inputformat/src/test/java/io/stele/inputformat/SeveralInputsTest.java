package io.stele.inputformat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.ModelSerialization;
import io.stele.model.Bytes;
import io.stele.model.Row;
import io.stele.model.RowOperation;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import java.io.File;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.DelegatingInputFormat;
import org.apache.hadoop.mapreduce.lib.input.MultipleInputs;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SeveralInputsTest {
  static final class One extends Mapper<Bytes, Row, Bytes, Row> {}

  static final class Other extends Mapper<Bytes, Row, Bytes, Row> {}

  @TempDir private static File texts;

  private static Job job() throws IOException {
    Job job = Job.getInstance(new Configuration(false));
    TableInputFormat.addTable(job, "web", RowQuery.ALL);
    MultipleInputs.addInputPath(job, new Path(texts.toURI()), TextInputFormat.class, Other.class);
    MultipleInputs.addInputPath(job, new Path("/tables"), TableInputFormat.class, One.class);
    return job;
  }

  @Test
  void tablesWithTwoMappersAreRefusedWhenTheJobIsSubmitted() throws Exception {
    Job job = job();
    MultipleInputs.addInputPath(job, new Path("/more"), TableInputFormat.class, Other.class);
    assertThatThrownBy(() -> new TableInputFormat().getSplits(job))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining(One.class.getName() + " and " + Other.class.getName())
        .hasMessageContaining("each would read all tables");
    assertThatThrownBy(() -> new DelegatingInputFormat<Bytes, Row>().getSplits(job))
        .hasMessageContaining("each would read all tables");
  }

  @Test
  void keysThatNothingSortsAreRefusedWhenTheJobIsSubmitted() throws Exception {
    Job job = job();
    job.setMapOutputKeyClass(Bytes.class); // After addTable, which would have set their order.
    assertThatThrownBy(() -> new DelegatingInputFormat<Bytes, Row>().getSplits(job))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("setMapOutputKeyToBytes(job) instead of setMapOutputKeyClass");

    ModelSerialization.registerKeys(job.getConfiguration());
    assertThatCode(() -> SeveralInputs.check(job.getConfiguration())).doesNotThrowAnyException();
    Job withoutReducers = job();
    withoutReducers.setOutputKeyClass(Bytes.class);
    withoutReducers.setNumReduceTasks(0);
    assertThatCode(() -> SeveralInputs.check(withoutReducers.getConfiguration()))
        .doesNotThrowAnyException();
  }

  @Test
  void valuesThatMapReduceCannotSendAreRefusedWhenItSubmits() throws Exception {
    Job job = Job.getInstance(new Configuration(false));
    TableInputFormat.addTable(job, "web", RowQuery.ALL);
    job.setMapOutputValueClass(RowOperation.class);
    assertThatThrownBy(() -> new TableInputFormat().getSplits(job))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("MapReduce takes values of exactly one class");
  }

  @Test
  void tablesWithOneMapperBesideFilesAreNot() throws Exception {
    Job job = job();
    assertThatCode(() -> SeveralInputs.check(job.getConfiguration())).doesNotThrowAnyException();
    // Both paths are asked for at once.
    MultipleInputs.addInputPath(job, new Path("/more"), TableInputFormat.class, One.class);
    assertThatCode(() -> SeveralInputs.check(job.getConfiguration())).doesNotThrowAnyException();

    MultipleInputs.addInputPath(job, new Path("/last"), TableInputFormat.class, Other.class);
    job.setInputFormatClass(TableInputFormat.class); // A copy for another job, which does without.
    assertThatCode(() -> SeveralInputs.check(job.getConfiguration())).doesNotThrowAnyException();
  }

  private static Job jobOfFiles() throws IOException {
    Job job = Job.getInstance(new Configuration(false));
    MultipleInputs.addInputPath(job, new Path(texts.toURI()), TextInputFormat.class, Other.class);
    return job;
  }

  @Test
  void aTableThatIsAddedAfterItsPathLeavesTheFilesInTheJob() throws Exception {
    Job job = jobOfFiles();
    MultipleInputs.addInputPath(job, new Path("/tables"), TableInputFormat.class, One.class);
    TableInputFormat.addTable(job, "web", RowQuery.ALL);
    assertThat(job.getInputFormatClass()).isEqualTo(DelegatingInputFormat.class);
    assertThat(TableScan.all(job.getConfiguration())).hasSize(1);
  }

  @Test
  void aTableBesideFilesIsRefusedUnlessItHasAPath() throws Exception {
    Job job = jobOfFiles();
    assertThatThrownBy(() -> TableInputFormat.addTable(job, "web", RowQuery.ALL))
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
        .hasMessageContaining("none of its paths is for tables")
        .hasMessageContaining("MultipleInputs.addInputPath(job, new Path(\"tables\"),")
        .hasMessageContaining("job.setInputFormatClass(TableInputFormat.class)");
    assertThat(job.getInputFormatClass()).isEqualTo(DelegatingInputFormat.class);
    assertThatThrownBy(() -> TableScan.all(job.getConfiguration())) // Nothing was added.
        .hasMessageContaining("no table to read");

    job.setInputFormatClass(TableInputFormat.class);
    TableInputFormat.addTable(job, "web", RowQuery.ALL);
    assertThat(job.getInputFormatClass()).isEqualTo(TableInputFormat.class);
  }

  @Test
  void pathsThatCameWithACopiedConfigurationDoNotMatterIfTheJobDoesNotReadThem() throws Exception {
    Job job = Job.getInstance(jobOfFiles().getConfiguration());
    job.setInputFormatClass(TextInputFormat.class);
    TableInputFormat.addTable(job, "web", RowQuery.ALL);
    assertThat(job.getInputFormatClass()).isEqualTo(TableInputFormat.class);
  }
}
