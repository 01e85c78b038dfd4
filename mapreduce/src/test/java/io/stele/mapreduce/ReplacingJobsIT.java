package io.stele.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.inputformat.TableInputFormat;
import io.stele.mapreduce.jobs.CopyTable;
import io.stele.mapreduce.jobs.ExportAvro;
import io.stele.mapreduce.jobs.ImportAvro;
import io.stele.mapreduce.jobs.ImportText;
import io.stele.mapreduce.jobs.TableInput;
import io.stele.mapreduce.jobs.TableJob;
import io.stele.mapreduce.jobs.TableOutput;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.TableSchema;
import io.stele.outputformat.BulkOutputFormat;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.MultipleInputs;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Jobs that replace what they have read, or what was in the table before, over HDFS and ZooKeeper
 * in this JVM.
 */
class ReplacingJobsIT {
  @TempDir private static Path scratch;
  private static HdfsCluster hdfs;
  private static Stele client;

  @BeforeAll
  static void start() throws Exception {
    hdfs = new HdfsCluster(scratch.toFile());
    client = hdfs.stele().client();
    client.admin().createTable(TableSchema.of("web", "f"), List.of(Bytes.of("com.5")));
    for (int i = 0; i < 10; i++) {
      client.table("web").mutate(Mutation.of("com." + i).put("f", "q", "new" + i));
      client.table("web").mutate(Mutation.of("org." + i).put("f", "q", "new" + i));
    }
  }

  @AfterAll
  static void stop() throws Exception {
    hdfs.close();
  }

  private static void mirror(String table) throws IOException {
    client.admin().createTable(TableSchema.of(table, "f"), List.of(Bytes.of("m")));
    for (String row : List.of("com.5", "com.z", "net", "org.z")) {
      client.table(table).mutate(Mutation.of(row).put("f", "old", "old"));
    }
  }

  private static List<String> run(TableJob table) throws Exception {
    Job job = table.prepare(new Configuration(hdfs.conf()));
    try {
      assertThat(job.waitForCompletion(true)).as("%s", table).isTrue();
      return table.report(job).lines();
    } finally {
      table.cleanUp(job);
    }
  }

  private static List<Row> rows(String table) throws IOException {
    List<Row> rows = new ArrayList<>();
    try (Rows found = client.table(table).readRows(RowQuery.ALL)) {
      found.forEach(rows::add);
    }
    return rows;
  }

  @Test
  void aCopyReplacesTheRowsThatAreCopied() throws Exception {
    mirror("mirror");
    TableInput some = new TableInput("web", RowQuery.prefix("com."));
    List<String> dry = run(new CopyTable(some, new TableOutput("mirror", true, true)));
    assertThat(dry.get(1))
        .startsWith("The earlier rows in ")
        .contains("would be replaced: they are in 1 ");
    assertThat(rows("mirror")).hasSize(4);

    assertThat(run(new CopyTable(some, new TableOutput("mirror", false, true))).get(1))
        .startsWith("The earlier rows in ")
        .endsWith(" were replaced.");
    assertThat(rows("mirror")).hasSize(10 + 2).extracting(Row::key).contains(Bytes.of("org.z"));
    assertThat(rows("mirror").get(5).cells()).as("com.5 has nothing old").hasSize(1);

    assertThat(run(new CopyTable(TableInput.all("web"), new TableOutput("mirror", false, true))))
        .containsExactly(
            "20 rows, 20 cells written to table mirror.", "All earlier rows were replaced.");
    assertThat(rows("mirror")).isEqualTo(rows("web"));
  }

  @Test
  void anImportReplacesTheTable() throws Exception {
    mirror("imported");
    org.apache.hadoop.fs.Path text = new org.apache.hadoop.fs.Path("/people.txt");
    try (var out = hdfs.fs().create(text)) {
      out.writeBytes("ada|Ada\nalan|Alan\n");
    }
    TableOutput output = new TableOutput("imported", false, true);
    run(new ImportText(text, output, List.of("ROW", "f:first"), '|', false));
    assertThat(rows("imported"))
        .extracting(Row::key)
        .containsExactly(Bytes.of("ada"), Bytes.of("alan"));

    try (var out = hdfs.fs().create(text)) {
      for (int line = 0; line < 20; line++) {
        for (int person = 0; person < 50; person++) {
          out.writeBytes("person" + person + "|line" + line + "\n");
        }
      }
    }
    run(new ImportText(text, output, List.of("ROW", "f:first"), '|', false));
    assertThat(rows("imported"))
        .hasSize(50)
        .as("the last line of each")
        .allSatisfy(row -> assertThat(row.value("f", "first")).contains(Bytes.of("line19")));

    org.apache.hadoop.fs.Path exported = new org.apache.hadoop.fs.Path("/exported");
    run(new ExportAvro(TableInput.all("web"), exported));
    run(new ImportAvro(exported, output));
    assertThat(rows("imported")).isEqualTo(rows("web"));
  }

  /** The record that comes second would delete what it does not have, if deletes were written. */
  @Test
  void recordsThatReplaceTheTableDeleteNothing() throws Exception {
    mirror("persons");
    RecordMapping<GenericRecord> mapping =
        RecordMapping.parse(
            """
            {"type": "record", "name": "Person", "stele": "f", "fields": [
              {"name": "id", "type": "string", "stele": "ROW"},
              {"name": "first", "type": ["null", "string"]},
              {"name": "last", "type": ["null", "string"]}]}
            """);
    org.apache.hadoop.fs.Path file = new org.apache.hadoop.fs.Path("/persons.avro");
    try (DataFileWriter<GenericRecord> out =
        new DataFileWriter<>(new GenericDatumWriter<GenericRecord>())) {
      out.create(mapping.schema(), hdfs.fs().create(file));
      out.append(person(mapping, "ada", "Ada", null));
      out.append(person(mapping, "ada", null, "Lovelace"));
      out.append(person(mapping, "nobody", null, null));
    }
    TableOutput output = new TableOutput("persons", false, true);
    assertThat(run(new ImportAvro(file, output, Optional.of(mapping))).get(0))
        .isEqualTo("2 rows, 2 cells written to table persons.");
    List<Row> rows = rows("persons");
    assertThat(rows).extracting(Row::key).containsExactly(Bytes.of("ada"));
    assertThat(rows.get(0).value("f", "first")).contains(Bytes.of("Ada"));
    assertThat(rows.get(0).value("f", "last")).contains(Bytes.of("Lovelace"));
  }

  /** Writes one more into each row. */
  static final class CountMapper extends Mapper<Bytes, Row, Bytes, Mutation> {
    @Override
    protected void map(Bytes key, Row row, Context context)
        throws IOException, InterruptedException {
      int number = Integer.parseInt(row.value("f", "n").orElseThrow().toUtf8());
      context.write(key, Mutation.of(key).put("f", "n", Integer.toString(number + 1)));
    }
  }

  @Test
  void whatAJobMakesOfWhatItHasReadIsNewerThanThatAndOlderThanWhatIsPutSince() throws Exception {
    Job job = SteleJob.create(hdfs.conf(), "count", ReplacingJobsIT.class);
    TableInputFormat.addTable(job, "counted", RowQuery.ALL);
    job.setMapperClass(CountMapper.class);
    BulkOutputFormat.addTable(job, "counted", "f");
    count(job, "counted");
  }

  /** These give a copy of the configuration to the input, which is checked after the output. */
  @Test
  void soIsWhatAJobMakesThatReadsByMultipleInputs() throws Exception {
    Job job = SteleJob.create(hdfs.conf(), "count", ReplacingJobsIT.class);
    MultipleInputs.addInputPath(
        job, new org.apache.hadoop.fs.Path("tables"), TableInputFormat.class, CountMapper.class);
    TableInputFormat.addTable(job, "counted-too", RowQuery.ALL);
    BulkOutputFormat.addTable(job, "counted-too", "f");
    count(job, "counted-too");
  }

  private static void count(Job job, String name) throws Exception {
    client.admin().createTable(TableSchema.of(name, "f"));
    Table table = client.table(name);
    table.mutate(Mutation.of(Bytes.of("a")).put("f", "n", "1"));
    table.mutate(Mutation.of(Bytes.of("c")).put("f", "n", "100"));
    Attempts<Bytes, Row> attempts = new Attempts<>(job);
    attempts.checkOutput();
    table.mutate(Mutation.of(Bytes.of("a")).put("f", "n", "7"));
    assertThat(attempts.begin()).hasSize(1);
    table.mutate(Mutation.of(Bytes.of("b")).put("f", "n", "20"));
    table.mutate(Mutation.of(Bytes.of("c")).put("f", "n", "300"));
    Attempts<Bytes, Row>.Attempt attempt = attempts.attempt(0, 0);
    attempt.run();
    attempt.close();
    attempt.commit();
    attempts.commit();
    assertThat(rows(name))
        .extracting(row -> row.key() + "=" + row.value("f", "n").orElseThrow())
        .containsExactly("a=8", "b=20", "c=300");
  }

  private static GenericRecord person(
      RecordMapping<GenericRecord> mapping, String id, String first, String last) {
    GenericRecord person = new GenericData.Record(mapping.schema());
    person.put("id", id);
    person.put("first", first);
    person.put("last", last);
    return person;
  }
}
