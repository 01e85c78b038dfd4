package io.stele.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.BatchWriter;
import io.stele.client.ClusterStatus;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.inputformat.TableInputFormat;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.sim.MiniStele;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs that read tables from their files, over HDFS and ZooKeeper in this JVM. */
class DirectReadsIT {
  private static final int ROWS = 3000;
  private static final int VALUE_BYTES = 400;

  @TempDir private static Path scratch;
  private static HdfsCluster hdfs;
  private static Configuration conf;
  private static MiniStele cluster;

  @BeforeAll
  static void start() throws Exception {
    hdfs = new HdfsCluster(scratch.toFile());
    conf = hdfs.conf();
    cluster = hdfs.stele();
  }

  @AfterAll
  static void stop() throws Exception {
    hdfs.close();
  }

  private static Bytes row(int number) {
    return Bytes.of(String.format("row%05d", number));
  }

  private static Mutation put(Random random, int number) {
    byte[] value = new byte[VALUE_BYTES];
    random.nextBytes(value);
    return Mutation.of(row(number)).put("f", Bytes.of("q" + number % 3), Bytes.of(value));
  }

  private static Table fill(String name) throws IOException {
    Stele stele = cluster.client();
    stele.admin().createTable(TableSchema.of(name, "f"), List.of(row(ROWS / 3), row(ROWS * 2 / 3)));
    Table table = stele.table(name);
    Random random = new Random(1);
    try (BatchWriter writer = table.batchWriter()) {
      for (int i = 0; i < ROWS; i += 2) {
        writer.add(put(random, i));
      }
    }
    return table;
  }

  private static List<Row> rows(Table table) throws IOException {
    try (Rows rows = table.readRows(RowQuery.ALL)) {
      return rows.stream().toList();
    }
  }

  private static Job job(String table, String mode) throws IOException {
    Job job = SteleJob.create(conf, mode + " " + table);
    job.getConfiguration().set(TableInputFormat.MODE_KEY, mode);
    job.getConfiguration().set(TableInputFormat.READ_KEY, "pinned");
    job.getConfiguration().setLong(TableInputFormat.SPLIT_BYTES_KEY, 100 << 10);
    TableInputFormat.addTable(job, table, RowQuery.ALL);
    return job;
  }

  /** The rows that an attempt reads of a split, at most so many. */
  private static List<Row> read(Job job, InputSplit split, int attempt, int most) throws Exception {
    TaskAttemptContextImpl context =
        new TaskAttemptContextImpl(
            job.getConfiguration(), new TaskAttemptID("direct", 1, TaskType.MAP, 0, attempt));
    List<Row> rows = new ArrayList<>();
    try (RecordReader<Bytes, Row> reader =
        new TableInputFormat().createRecordReader(split, context)) {
      reader.initialize(split, context);
      while (rows.size() < most && reader.nextKeyValue()) {
        rows.add(reader.getCurrentValue());
      }
    }
    return rows;
  }

  /** Keeps a task's counters. */
  private static final class CountingReporter extends TaskAttemptContextImpl.DummyReporter {
    private final Counters counters = new Counters();

    @Override
    public Counter getCounter(Enum<?> name) {
      return counters.findCounter(name);
    }
  }

  @Test
  void aReaderThatIsClosedAgainCountsNothingAgain() throws Exception {
    fill("closed");
    Job job = job("closed", "direct");
    InputSplit split = new TableInputFormat().getSplits(job).get(0);
    TaskAttemptContextImpl context =
        new TaskAttemptContextImpl(
            job.getConfiguration(),
            new TaskAttemptID("closed", 1, TaskType.MAP, 0, 0),
            new CountingReporter());
    Counter local = context.getCounter(TableInputFormat.Counter.LOCAL_FILE_BYTES);
    Counter remote = context.getCounter(TableInputFormat.Counter.REMOTE_FILE_BYTES);
    RecordReader<Bytes, Row> reader = new TableInputFormat().createRecordReader(split, context);
    reader.initialize(split, context);
    assertThat(reader.nextKeyValue()).isTrue();
    reader.close();
    long once = local.getValue() + remote.getValue();
    reader.close(); // As Spark does.
    assertThat(local.getValue() + remote.getValue()).isEqualTo(once).isPositive();
  }

  /** Writes, deletes, splits, moves and compacts until it is told to stop. */
  private static void disturb(String name, AtomicBoolean over) throws IOException {
    Stele stele = cluster.client();
    Table table = stele.table(name);
    Random random = new Random(2);
    for (int round = 0; !over.get(); round++) {
      for (int i = 0; i < 50; i++) {
        int number = random.nextInt(ROWS);
        table.mutate(
            random.nextInt(3) == 0 ? Mutation.of(row(number)).deleteRow() : put(random, number));
      }
      Bytes row = row(random.nextInt(ROWS));
      try {
        switch (round % 3) {
          case 0 -> stele.admin().compactTable(name);
          case 1 -> stele.admin().splitTablet(name, row);
          default -> stele.admin().moveTablet(name, row, Optional.empty());
        }
      } catch (SteleException e) {
        assertThat(e.code()).as(e.toString()).isNotEqualTo(SteleException.Code.CORRUPTION);
      }
    }
  }

  @Test
  void everyAttemptReadsWhatWasPinnedServedAndDirectWhateverHappensToTheTable() throws Exception {
    Table table = fill("busy");
    List<Row> expected = rows(table);
    assertThat(expected).hasSize(ROWS / 2);
    Job direct = job("busy", "direct");
    Job served = job("busy", "served");
    List<InputSplit> directSplits = new TableInputFormat().getSplits(direct);
    List<InputSplit> servedSplits = new TableInputFormat().getSplits(served);
    assertThat(directSplits).hasSizeGreaterThan(3);
    AtomicBoolean over = new AtomicBoolean();
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try {
      Future<?> disturbing =
          thread.submit(
              () -> {
                disturb("busy", over);
                return null;
              });
      for (int round = 0; round < 3; round++) {
        List<Row> directly = new ArrayList<>();
        for (InputSplit split : directSplits) {
          read(direct, split, 0, 20); // An attempt that ends early.
          directly.addAll(read(direct, split, 1, Integer.MAX_VALUE));
        }
        List<Row> byServers = new ArrayList<>();
        for (InputSplit split : servedSplits) {
          read(served, split, 0, 20);
          byServers.addAll(read(served, split, 1, Integer.MAX_VALUE));
        }
        assertThat(directly).isEqualTo(expected);
        assertThat(byServers).isEqualTo(expected);
      }
      over.set(true);
      disturbing.get();
    } finally {
      over.set(true);
      thread.shutdown();
    }
    assertThat(rows(table)).isNotEqualTo(expected);
    assertThat(cluster.aborts()).isEmpty();
  }

  /** Rows that the servers have read, of whatever tables. */
  private static long rowsServed() throws Exception {
    HttpClient http = HttpClient.newHttpClient();
    long rows = 0;
    for (ClusterStatus.Server server : cluster.client().admin().clusterStatus().servers()) {
      URI page = URI.create("http://" + server.webAddress().orElseThrow() + "/metrics");
      String metrics =
          http.send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofString())
              .body();
      rows +=
          metrics
              .lines()
              .filter(line -> line.startsWith("stele_tabletserver_rows_read_total "))
              .mapToLong(line -> Long.parseLong(line.split(" ")[1]))
              .sum();
    }
    return rows;
  }

  private static long rowsServedWhile(Job job) throws Exception {
    long before = rowsServed();
    job.setNumReduceTasks(0);
    job.setMapperClass(org.apache.hadoop.mapreduce.Mapper.class);
    job.setOutputFormatClass(org.apache.hadoop.mapreduce.lib.output.NullOutputFormat.class);
    assertThat(job.waitForCompletion(true)).isTrue();
    assertThat(job.getCounters().findCounter(TableInputFormat.Counter.ROWS).getValue())
        .isEqualTo(ROWS / 2);
    return rowsServed() - before;
  }

  @Test
  void aDirectJobAsksTabletServersForNoRowsAndCountsTheBytesOfItsFiles() throws Exception {
    fill("quiet");
    assertThat(rowsServedWhile(job("quiet", "served"))).isGreaterThanOrEqualTo(ROWS / 2);
    Job direct = job("quiet", "direct");
    // What is left is METADATA: records of tablets.
    assertThat(rowsServedWhile(direct)).isLessThan(ROWS / 10);
    var counters = direct.getCounters();
    assertThat(
            counters.findCounter(TableInputFormat.Counter.LOCAL_FILE_BYTES).getValue()
                + counters.findCounter(TableInputFormat.Counter.REMOTE_FILE_BYTES).getValue())
        .isGreaterThan((long) ROWS / 2 * VALUE_BYTES);
    assertThat(counters.findCounter(TableInputFormat.Counter.RETRIES).getValue()).isZero();
  }

  @Test
  void splitsOfADirectJobAreWhereTheBlocksAreAndHaveTrueLengths() throws Exception {
    fill("located");
    List<InputSplit> splits = new TableInputFormat().getSplits(job("located", "direct"));
    long bytes = 0;
    for (InputSplit split : splits) {
      assertThat(split.getLocations()).isNotEmpty().contains("127.0.0.1");
      bytes += split.getLength();
    }
    assertThat((double) bytes)
        .isBetween(0.8 * ROWS / 2 * VALUE_BYTES, 1.3 * ROWS / 2 * VALUE_BYTES);
  }

  @Test
  void aUserWhoMayNotReadTheFilesIsRefusedAtSubmissionAndToldWhatToDo() throws Exception {
    fill("secret");
    FileSystem fs = hdfs.fs();
    org.apache.hadoop.fs.Path tables = new org.apache.hadoop.fs.Path("/stele/tables");
    FsPermission before = fs.getFileStatus(tables).getPermission();
    fs.setPermission(tables, new FsPermission((short) 0700));
    try {
      UserGroupInformation analyst =
          UserGroupInformation.createUserForTesting("analyst", new String[] {"analysts"});
      Job job = job("secret", "direct");
      PrivilegedExceptionAction<Object> submit = () -> new TableInputFormat().getSplits(job);
      assertThatThrownBy(() -> analyst.doAs(submit))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("a job of user analyst cannot read table secret directly")
          .hasMessageContaining("`stele table alter secret --reader user:analyst`")
          .hasMessageContaining("/stele/tables");
    } finally {
      fs.setPermission(tables, before);
    }
  }

  @Test
  void aTaskOfAJobThatIsOverFailsAndSaysSo() throws Exception {
    fill("over");
    Job job = job("over", "direct");
    List<InputSplit> splits = new TableInputFormat().getSplits(job);
    for (String name : cluster.locks().children(io.stele.lock.LockPaths.JOBS)) {
      cluster.client().jobs().end(name);
    }
    assertThatThrownBy(() -> read(job, splits.get(0), 0, Integer.MAX_VALUE))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("over");
  }

  @Test
  void aMistakenModeOrADirectReadOfTheLatestIsRefused() throws Exception {
    Job mistaken = job("any", "directly");
    assertThatThrownBy(() -> new TableInputFormat().getSplits(mistaken))
        .hasMessageContaining("served or direct");
    Job latest = job("any", "direct");
    latest.getConfiguration().set(TableInputFormat.READ_KEY, "latest");
    assertThatThrownBy(() -> new TableInputFormat().getSplits(latest))
        .hasMessageContaining("at pins only");
  }
}
