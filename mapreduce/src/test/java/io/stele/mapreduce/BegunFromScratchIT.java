package io.stele.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.BatchWriter;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.inputformat.TableInputFormat;
import io.stele.inputformat.TableSplit;
import io.stele.metadata.JobNodes;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.TableSchema;
import io.stele.outputformat.BulkOutputFormat;
import io.stele.outputformat.TableOutputFormat;
import io.stele.sim.MiniStele;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Jobs whose ApplicationMaster dies after the commit and is followed by one that finds nothing of
 * it: all tasks run again.
 */
class BegunFromScratchIT {
  private static final String SOURCE = "source";
  private static final int ROWS = 500;

  @TempDir private static Path scratch;
  private static HdfsCluster hdfs;
  private static Stele client;

  /** How a job writes. */
  enum Output {
    LIVE,
    BULK
  }

  /** Writes each row's number to the row with the same key. */
  static final class NumberMapper extends Mapper<Bytes, Row, Bytes, Mutation> {
    @Override
    protected void map(Bytes key, Row row, Context context)
        throws IOException, InterruptedException {
      context.write(
          key, Mutation.of(key).put("f", Bytes.of("copy"), row.value("f", "n").orElseThrow()));
    }
  }

  @BeforeAll
  static void start() throws Exception {
    hdfs = new HdfsCluster(scratch.toFile());
    client = hdfs.stele().client();
    client.admin().createTable(TableSchema.of(SOURCE, "f").withBlockBytes(1 << 10));
    try (BatchWriter writer = client.table(SOURCE).batchWriter()) {
      for (int i = 0; i < ROWS; i++) {
        writer.add(Mutation.of(row(i)).put("f", "n", Integer.toString(i)));
      }
    }
  }

  @AfterAll
  static void stop() throws Exception {
    hdfs.close();
  }

  private static Bytes row(int number) {
    return Bytes.of(String.format("row%04d", number));
  }

  private static List<Row> rows(String table) throws IOException {
    try (Rows rows = client.table(table).readRows(RowQuery.ALL)) {
      return rows.stream().toList();
    }
  }

  private static Job copy(String mode, Output output, String target) throws IOException {
    Job job = SteleJob.create(hdfs.conf(), "copy to " + target, BegunFromScratchIT.class);
    job.getConfiguration().set(TableInputFormat.MODE_KEY, mode);
    job.getConfiguration().setLong(TableInputFormat.SPLIT_BYTES_KEY, 2 << 10);
    TableInputFormat.addTable(job, SOURCE, RowQuery.ALL);
    job.setMapperClass(NumberMapper.class);
    if (output == Output.LIVE) {
      TableOutputFormat.addTable(job, target, "f");
    } else {
      BulkOutputFormat.addTable(job, target, "f");
    }
    return job;
  }

  private static void runAll(Attempts<Bytes, Row> attempts, int tasks, int number)
      throws Exception {
    for (int task = 0; task < tasks; task++) {
      Attempts<Bytes, Row>.Attempt attempt = attempts.attempt(task, number);
      attempt.run();
      attempt.close();
      attempt.commit();
    }
    attempts.commit();
  }

  @ParameterizedTest
  @CsvSource({"served, LIVE", "direct, LIVE", "served, BULK", "direct, BULK"})
  void aJobThatHadCommittedEndsAsCommittedAndWritesNothingAgain(String mode, Output output)
      throws Exception {
    String target = mode + "-" + output;
    client.admin().createTable(TableSchema.of(target, "f"), List.of(row(ROWS / 2)));
    Attempts<Bytes, Row> attempts = new Attempts<>(copy(mode, output, target));
    attempts.checkOutput();
    List<InputSplit> splits = attempts.begin();
    assertThat(splits).hasSizeGreaterThan(1);
    runAll(attempts, splits.size(), 0);
    assertThat(rows(target)).hasSize(ROWS);

    String pin = ((TableSplit) splits.get(0)).pin().orElseThrow();
    MiniStele.await("the end of the pin", () -> client.jobs().state(pin) == JobNodes.State.GONE);
    Table copied = client.table(target);
    copied.mutate(Mutation.of(row(7)).put("f", "copy", "written after the commit"));
    copied.mutate(Mutation.of(row(8)).deleteRow());
    List<Row> changed = rows(target);
    assertThat(changed).hasSize(ROWS - 1);

    attempts.beginAgain();
    runAll(attempts, splits.size(), 1000);
    assertThat(rows(target)).isEqualTo(changed);
    client.admin().compactTable(target);
    assertThat(rows(target)).isEqualTo(changed);

    client.admin().dropTable(target); // Its tasks run again all the same.
    runAll(attempts, splits.size(), 2000);
  }
}
