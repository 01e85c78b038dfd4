package io.stele.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.BatchWriter;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.inputformat.TableInputFormat;
import io.stele.mapreduce.HdfsCluster;
import io.stele.mapreduce.documents.DocumentExample;
import io.stele.mapreduce.documents.MapReduceBlock;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.ReadModifyWrite;
import io.stele.model.Row;
import io.stele.model.RowOperation;
import io.stele.model.RowQuery;
import io.stele.model.TableSchema;
import io.stele.outputformat.BulkOutputFormat;
import io.stele.outputformat.TableOutputFormat;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkException;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Tuple2;

/**
 * Programs of Spark that read and write tables over HDFS and ZooKeeper in this JVM, through the
 * formats that MapReduce uses.
 */
class SparkIT {
  private static final int ROWS = 1000;
  private static final int PARTITIONS = 4;

  @TempDir private static Path scratch;
  private static HdfsCluster hdfs;
  private static Stele client;
  private static JavaSparkContext spark;

  @BeforeAll
  static void start() throws Exception {
    hdfs = new HdfsCluster(scratch.toFile());
    client = hdfs.stele().client();
    client.admin().createTable(TableSchema.of("numbers", "f"), List.of(row(300), row(700)));
    try (BatchWriter writer = client.table("numbers").batchWriter()) {
      for (int i = 0; i < ROWS; i++) {
        writer.add(Mutation.of(row(i)).put("f", "n", Integer.toString(i)));
      }
    }
    spark =
        new JavaSparkContext(
            new SparkConf()
                .setMaster("local[2,3]") // Three attempts of a task.
                .setAppName("tables")
                .set("spark.ui.enabled", "false")
                .set("spark.local.dir", scratch.toString()));
  }

  @AfterAll
  static void stop() throws Exception {
    spark.close();
    hdfs.close();
  }

  private static Bytes row(int number) {
    return Bytes.of(String.format("row%04d", number));
  }

  private static Map<String, String> values(String table) throws IOException {
    Map<String, String> found = new TreeMap<>();
    try (Rows rows = client.table(table).readRows(RowQuery.ALL)) {
      rows.forEach(
          row -> found.put(row.key().toUtf8(), row.value("f", "n").orElseThrow().toUtf8()));
    }
    return found;
  }

  private static Map<String, String> squares() {
    Map<String, String> squares = new TreeMap<>();
    IntStream.range(0, ROWS).forEach(i -> squares.put("row" + i * i, Integer.toString(i)));
    return squares;
  }

  private static JavaPairRDD<Bytes, Row> read(String table, String mode) throws IOException {
    Job job = Job.getInstance(hdfs.conf());
    job.getConfiguration().set(TableInputFormat.MODE_KEY, mode);
    job.getConfiguration().setLong(TableInputFormat.SPLIT_BYTES_KEY, 10 << 10);
    TableInputFormat.addTable(job, table, RowQuery.ALL);
    return spark.newAPIHadoopRDD(
        job.getConfiguration(), TableInputFormat.class, Bytes.class, Row.class);
  }

  /** Each row's number goes to the row named after its square. Rows go through a shuffle first. */
  private static JavaPairRDD<Bytes, Mutation> square(JavaPairRDD<Bytes, Row> rows) {
    return rows.repartition(PARTITIONS)
        .mapToPair(
            each -> {
              Bytes number = each._2().value("f", "n").orElseThrow();
              int n = Integer.parseInt(number.toUtf8());
              Bytes target = Bytes.of("row" + n * n);
              return new Tuple2<>(target, Mutation.of(target).put("f", Bytes.of("n"), number));
            });
  }

  /** Fails the first attempt of each task when it has gone through some. */
  private static <V> JavaPairRDD<Bytes, V> failingOnce(JavaPairRDD<Bytes, V> all) {
    return all.mapToPair(SparkIT::failOnce);
  }

  private static <V> Tuple2<Bytes, V> failOnce(Tuple2<Bytes, V> each) throws IOException {
    boolean unlucky = each._1().toUtf8().endsWith("5");
    if (unlucky && TaskContext.get().attemptNumber() == 0) {
      throw new IOException("as the test wants it");
    }
    return each;
  }

  @ParameterizedTest
  @ValueSource(strings = {"served", "direct"})
  void whatIsReadFromATableAndShuffledIsWrittenToAnother(String mode) throws Exception {
    String table = "live-" + mode;
    client.admin().createTable(TableSchema.of(table, "f"));
    Job job = Job.getInstance(hdfs.conf());
    TableOutputFormat.addTable(job, table, "f");
    failingOnce(square(read("numbers", mode))).saveAsNewAPIHadoopDataset(job.getConfiguration());
    assertThat(values(table)).isEqualTo(squares());
  }

  @Test
  void incrementsOfTasksThatAreTriedAgainAreAppliedOnce() throws Exception {
    client.admin().createTable(TableSchema.of("counters", "f"));
    Job job = Job.getInstance(hdfs.conf());
    TableOutputFormat.addTable(job, "counters", "f");
    JavaPairRDD<Bytes, RowOperation> increments =
        spark
            .parallelize(IntStream.range(0, ROWS).boxed().toList(), PARTITIONS)
            .mapToPair(
                i -> {
                  Bytes row = Bytes.of("counter" + i % 10);
                  return new Tuple2<>(
                      row,
                      new ReadModifyWrite(
                          row, List.of(new ReadModifyWrite.Increment("f", Bytes.of("n"), 1))));
                });
    failingOnce(increments).saveAsNewAPIHadoopDataset(job.getConfiguration());
    try (Rows rows = client.table("counters").readRows(RowQuery.ALL)) {
      int counters = 0;
      for (Row row : rows) {
        counters++;
        assertThat(row.value("f", "n").orElseThrow().toLong()).isEqualTo(ROWS / 10);
      }
      assertThat(counters).isEqualTo(10);
    }
  }

  @Test
  void filesOfATableComeAllAtOnceInPlaceOfWhatWasThere() throws Exception {
    client.admin().createTable(TableSchema.of("bulk", "f"), List.of(Bytes.of("row5")));
    client.table("bulk").mutate(Mutation.of("old").put("f", "n", "old"));
    Job job = Job.getInstance(hdfs.conf());
    BulkOutputFormat.addTable(job, "bulk", "f");
    BulkOutputFormat.replaceTable(job, "bulk");
    failingOnce(square(read("numbers", "direct")).sortByKey())
        .saveAsNewAPIHadoopDataset(job.getConfiguration());
    assertThat(values("bulk")).isEqualTo(squares());
  }

  @Test
  void anActionWithACopyOfTheConfigurationOfAnotherFails() throws Exception {
    client.admin().createTable(TableSchema.of("copied", "f"));
    Job one = Job.getInstance(hdfs.conf());
    BulkOutputFormat.addTable(one, "copied", "f");
    new BulkOutputFormat<Bytes>().checkOutputSpecs(one); // An action that is under way.
    TaskAttemptID attempt = new TaskAttemptID("underway", 1, TaskType.REDUCE, 0, 0);
    TaskAttemptContext task = new TaskAttemptContextImpl(one.getConfiguration(), attempt);
    new BulkOutputFormat<Bytes>()
        .getOutputCommitter(task)
        .setupJob(new JobContextImpl(one.getConfiguration(), attempt.getJobID()));

    Configuration copy = new Configuration(one.getConfiguration());
    JavaPairRDD<Bytes, Mutation> sorted = square(read("numbers", "served")).sortByKey();
    assertThatThrownBy(() -> sorted.saveAsNewAPIHadoopDataset(copy))
        .isInstanceOf(SparkException.class)
        .hasStackTraceContaining("is that of job job_underway_0001");
    assertThat(values("copied")).isEmpty();
  }

  @Test
  void aProgramThatFailsLeavesNoFiles() throws Exception {
    client.admin().createTable(TableSchema.of("nothing", "f"));
    Job job = Job.getInstance(hdfs.conf());
    BulkOutputFormat.addTable(job, "nothing", "f");
    JavaPairRDD<Bytes, Mutation> failing =
        square(read("numbers", "served"))
            .sortByKey()
            .filter(
                each -> {
                  if (each._1().equals(Bytes.of("row810000"))) {
                    throw new IOException("as the test wants it");
                  }
                  return true;
                });
    assertThatThrownBy(() -> failing.saveAsNewAPIHadoopDataset(job.getConfiguration()))
        .isInstanceOf(SparkException.class);
    assertThat(values("nothing")).isEmpty();
  }

  /** The block of {@code docs/mapreduce.md}, word for word, with what it takes as given. */
  @Test
  void theProgramOfTheDocumentRuns() throws Exception {
    client.admin().createTable(TableSchema.of("people", "p"));
    client.admin().createTable(TableSchema.of("visits", "v"));
    client.admin().createTable(TableSchema.of("profiles", "p"));
    client.table("people").mutate(Mutation.of("ada").put("p", "name", "Ada"));
    DocumentExample example =
        DocumentExample.ofMembers(
            "SparkProgram",
            """
            public static long run(
                Configuration conf,
                JavaSparkContext spark,
                JavaPairRDD<Bytes, RowOperation> increments,
                Job bulk,
                JavaPairRDD<Bytes, Mutation> profiles)
                throws Exception {
            %s
              return people.count();
            }
            """
                .formatted(MapReduceBlock.SPARK.text()),
            "org.apache.spark.api.java.*");
    JavaPairRDD<Bytes, RowOperation> increments =
        spark
            .parallelize(List.of("ada", "ada", "alan"), 1)
            .mapToPair(
                name ->
                    new Tuple2<>(
                        Bytes.of(name),
                        ReadModifyWrite.increment(Bytes.of(name), "v", Bytes.of("n"), 1)));
    JavaPairRDD<Bytes, Mutation> profiles =
        spark
            .parallelize(List.of("alan", "ada"), 2)
            .mapToPair(
                name -> new Tuple2<>(Bytes.of(name), Mutation.of(name).put("p", "n", "new")));
    Job bulk = Job.getInstance(hdfs.conf());
    assertThat(example.run(hdfs.conf(), spark, increments, bulk, profiles)).isEqualTo(1L);

    assertThat(client.table("visits").readRow("ada").orElseThrow().value("v", "n"))
        .contains(Bytes.ofLong(2));
    assertThat(client.table("profiles").readRow("alan").orElseThrow().value("p", "n"))
        .contains(Bytes.of("new"));
  }
}
