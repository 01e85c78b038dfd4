package io.stele.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.LocalityGroup;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.model.TableSchema;
import io.stele.outputformat.BulkOutputFormat;
import io.stele.outputformat.TableOutputFormat;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of a bulk job whose table changes between its submission and its commit. */
class ChangedTablesIT {
  private static final int ROWS = 100;

  @TempDir private static Path scratch;
  private static HdfsCluster hdfs;
  private static Stele client;

  /** A job whose tasks are done. */
  private record Written(String table, Job job, OutputCommitter committer) {
    void commit() throws IOException {
      committer.commitJob(job);
    }

    void commitFails(Code code) throws IOException {
      assertThatThrownBy(this::commit)
          .isInstanceOfSatisfying(
              SteleException.class, e -> assertThat(e.code()).as("%s", e).isEqualTo(code));
      committer.abortJob(job, JobStatus.State.FAILED);
    }
  }

  @BeforeAll
  static void start() throws Exception {
    hdfs = new HdfsCluster(scratch.toFile());
    client = hdfs.stele().client();
  }

  @AfterAll
  static void stop() throws Exception {
    hdfs.close();
  }

  private static Bytes row(int number) {
    return Bytes.of(String.format("row%04d", number));
  }

  private static void create(String table) throws IOException {
    TableSchema schema =
        TableSchema.of(
            table,
            List.of(ColumnFamily.of("f"), ColumnFamily.of("g").in("other")),
            LocalityGroup.of("other"));
    client.admin().createTable(schema, List.of(row(30), row(60)));
    client.table(table).mutate(Mutation.of("old").put("f", "n", "old"));
    client.table(table).mutate(Mutation.of(row(5)).put("f", "old", "old"));
  }

  private static TaskAttemptContext attempt(Job job) {
    return new TaskAttemptContextImpl(
        job.getConfiguration(), new TaskAttemptID("bulk", 1, TaskType.REDUCE, 0, 0));
  }

  /** A job that replaces a table, up to its commit. */
  private static Written write(String table) throws Exception {
    create(table);
    Job job = SteleJob.create(hdfs.conf(), "writes " + table, ChangedTablesIT.class);
    BulkOutputFormat.addTable(job, table, "f", "g");
    BulkOutputFormat.replaceTable(job, table);
    BulkOutputFormat<NullWritable> format = new BulkOutputFormat<>();
    format.checkOutputSpecs(job);
    job.setJobID(attempt(job).getJobID());
    OutputCommitter committer = format.getOutputCommitter(attempt(job));
    committer.setupJob(job);
    RecordWriter<NullWritable, Mutation> writer = format.getRecordWriter(attempt(job));
    for (int i = 0; i < ROWS; i++) {
      writer.write(
          NullWritable.get(), Mutation.of(row(i)).put("f", "n", "f" + i).put("g", "n", "g" + i));
    }
    writer.close(attempt(job));
    committer.commitTask(attempt(job));
    return new Written(table, job, committer);
  }

  @Test
  void aTableThatGetsTheNameBeforeTasksBeginIsNotWritten() throws Exception {
    create("again");
    Job files = SteleJob.create(hdfs.conf(), "files", ChangedTablesIT.class);
    BulkOutputFormat.addTable(files, "again", "f");
    BulkOutputFormat<NullWritable> bulk = new BulkOutputFormat<>();
    bulk.checkOutputSpecs(files);
    Job mutations = SteleJob.create(hdfs.conf(), "mutations", ChangedTablesIT.class);
    TableOutputFormat.addTable(mutations, "again", "f");
    TableOutputFormat<NullWritable> live = new TableOutputFormat<>();
    live.checkOutputSpecs(mutations);
    client.admin().dropTable("again");
    create("again");
    assertThatThrownBy(() -> bulk.getRecordWriter(attempt(files)))
        .hasMessageContaining("another was made of that name");
    assertThatThrownBy(() -> live.getRecordWriter(attempt(mutations)))
        .hasMessageContaining("another was made of that name");
  }

  private static List<Row> rows(String table) throws IOException {
    try (Rows rows = client.table(table).readRows(RowQuery.ALL)) {
      return rows.stream().toList();
    }
  }

  private static void assertWritten(String table) throws IOException {
    List<Row> rows = rows(table);
    assertThat(rows).hasSize(ROWS);
    for (int i = 0; i < ROWS; i++) {
      assertThat(rows.get(i).cells()).hasSize(2);
      assertThat(rows.get(i).value("f", "n")).contains(Bytes.of("f" + i));
      assertThat(rows.get(i).value("g", "n")).contains(Bytes.of("g" + i));
    }
  }

  @Test
  void splitsMergesAndMovesDoNotMatter() throws Exception {
    Written job = write("moved");
    client.admin().splitTablet("moved", row(10));
    client.admin().splitTablet("moved", row(45));
    client.admin().mergeTablet("moved", row(60));
    client.admin().moveTablet("moved", row(0), Optional.empty());
    job.commit();
    assertWritten("moved");
  }

  @Test
  void otherLocalityGroupsAndPoliciesAreThoseOfTheTableThen() throws Exception {
    Written job = write("regrouped");
    client.admin().alterTable("regrouped", schema -> schema.with(ColumnFamily.of("f").in("other")));
    job.commit();
    assertWritten("regrouped");
    client.admin().compactTable("regrouped");
    assertWritten("regrouped");
  }

  @Test
  void rowsThatAreDeletedMeanwhileComeWithTheCommit() throws Exception {
    Written job = write("truncated");
    client.admin().truncateTable("truncated");
    assertThat(rows("truncated")).isEmpty();
    job.commit();
    assertWritten("truncated");
  }

  @Test
  void aFamilyThatIsGoneFailsTheCommitAndNothingChanges() throws Exception {
    Written job = write("narrowed");
    client.admin().alterTable("narrowed", schema -> schema.without("g"));
    job.commitFails(Code.REFUSED);
    assertThat(rows("narrowed")).extracting(Row::key).containsExactly(Bytes.of("old"), row(5));
  }

  @Test
  void aTableThatIsGoneFailsTheCommitAndOneOfTheSameNameStaysAsItIs() throws Exception {
    Written job = write("dropped");
    client.admin().dropTable("dropped");
    create("dropped");
    job.commitFails(Code.NOT_FOUND);
    assertThat(rows("dropped")).extracting(Row::key).containsExactly(Bytes.of("old"), row(5));
  }
}
