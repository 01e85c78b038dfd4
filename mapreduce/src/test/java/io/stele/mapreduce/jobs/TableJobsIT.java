package io.stele.mapreduce.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.BatchWriter;
import io.stele.client.Rows;
import io.stele.inputformat.TableInputFormat;
import io.stele.mapreduce.LocalCluster;
import io.stele.mapreduce.RecordMapping;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.Limits;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.model.TimeRange;
import io.stele.outputformat.TableOutputFormat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.avro.Schema;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The ready-made jobs, with MapReduce's local runner over a cluster in this JVM. */
class TableJobsIT {
  private static final int ROWS = 300;

  private static LocalCluster cluster;
  @TempDir static java.nio.file.Path directory;

  @BeforeAll
  static void fill() throws Exception {
    cluster = new LocalCluster(2);
    create("web", List.of(Bytes.of("com.b"), Bytes.of("org")));
    try (BatchWriter writer = cluster.client().table("web").batchWriter()) {
      for (int i = 0; i < ROWS; i++) {
        String host = i % 3 == 0 ? "com.a" : i % 3 == 1 ? "com.b" : "org.x";
        Bytes row = Bytes.of(String.format("%s/%03d", host, i));
        writer.add(
            Mutation.of(row)
                .put("f", Bytes.of("q"), 1000 + i, Bytes.of("old" + i))
                .put("f", Bytes.of("q"), 2000 + i, Bytes.of("new" + i))
                .put("g", Bytes.of("\u0000\u00ff" + i), 7, Bytes.of("x".repeat(i))));
      }
    }
  }

  @AfterAll
  static void stop() throws Exception {
    cluster.close();
  }

  private static void create(String table, List<Bytes> splits) throws IOException {
    List<ColumnFamily> families =
        List.of(
            new ColumnFamily("f", GcPolicy.maxVersions(3)),
            new ColumnFamily("g", GcPolicy.maxVersions(3)));
    cluster.client().admin().createTable(TableSchema.of(table, families), splits);
  }

  private static TableJob.Report run(TableJob table) throws Exception {
    Job job = table.prepare(cluster.conf());
    try {
      assertThat(job.waitForCompletion(true)).as("%s", table).isTrue();
      return table.report(job);
    } finally {
      table.cleanUp(job);
    }
  }

  /** When the first cell of a row was written. */
  private static long timeOf(String table, String row) throws IOException {
    return cluster
        .client()
        .table(table)
        .readRow(row)
        .orElseThrow()
        .cells()
        .get(0)
        .timestampMicros();
  }

  private static List<Row> rows(String table) throws IOException {
    List<Row> rows = new ArrayList<>();
    try (Rows found =
        cluster.client().table(table).readRows(RowQuery.ALL.versions(Integer.MAX_VALUE))) {
      found.forEach(rows::add);
    }
    return rows;
  }

  @Test
  void rowsAreCounted() throws Exception {
    CountRows all = new CountRows(TableInput.all("web"));
    assertThat(run(all).lines().get(0)).startsWith("300 rows, 900 cells, ");
    TableInput some = new TableInput("web", RowQuery.prefix("com.").family("g"));
    assertThat(run(new CountRows(some)).lines().get(0)).startsWith("200 rows, 200 cells, ");
  }

  @Test
  void statisticsShowFamiliesAndTheLargestBeginnings() throws Exception {
    List<String> lines = run(new TableStatistics(TableInput.all("web"), 5)).lines();
    assertThat(lines.get(0)).startsWith("300 rows, 900 cells");
    assertThat(line(lines, "f ")).containsSubsequence("300", "300", "600", "2", "6");
    assertThat(line(lines, "g ")).containsSubsequence("300", "300", "300", "1", "299");
    List<String> prefixes =
        lines.stream().dropWhile(line -> !line.contains("rows that begin with")).skip(1).toList();
    assertThat(prefixes)
        .map(text -> List.of(text.split(" +")).subList(0, 4))
        .containsExactly( // By bytes: later rows have longer values.
            List.of("f", "org.x", "100", "200"),
            List.of("f", "com.b", "100", "200"),
            List.of("f", "com.a", "100", "200"),
            List.of("g", "org.x", "100", "100"),
            List.of("g", "com.b", "100", "100"),
            List.of("g", "com.a", "100", "100"));
  }

  @Test
  void prefixesOfNoBytesAreRefused() {
    assertThatThrownBy(() -> new TableStatistics(TableInput.all("web"), 0))
        .hasMessageContaining("at least 1 byte");
  }

  private static String line(List<String> lines, String start) {
    return lines.stream().filter(line -> line.startsWith(start)).findFirst().orElseThrow();
  }

  @Test
  void aCopyIsTheSameAndAComparisonSaysSo() throws Exception {
    create("copy", List.of());
    assertThat(run(new CopyTable(TableInput.all("web"), "copy", true)).lines())
        .containsExactly("Dry run: 300 rows, 900 cells would be written to table copy.");
    assertThat(rows("copy")).isEmpty();
    assertThat(run(new CopyTable(TableInput.all("web"), "copy", false)).lines())
        .containsExactly("300 rows, 900 cells written to table copy.");
    assertThat(rows("copy")).isEqualTo(rows("web"));

    CompareTables compare = new CompareTables(TableInput.all("web"), "copy");
    TableJob.Report same = run(compare);
    assertThat(same.verdict()).isEqualTo(TableJob.Verdict.GOOD);
    assertThat(same.lines().get(0)).contains("300 rows are the same");

    cluster.client().table("copy").mutate(Mutation.of("com.a/000").deleteRow());
    cluster.client().table("copy").mutate(Mutation.of("com.a/003").put("f", "q", "other"));
    cluster.client().table("copy").mutate(Mutation.of("zzz").put("f", "q", "more"));
    TableJob.Report other = run(compare);
    assertThat(other.verdict()).isEqualTo(TableJob.Verdict.DIFFERENT);
    long old = timeOf("web", "com.a/003");
    long newer = timeOf("copy", "com.a/003");
    assertThat(other.lines())
        .map(String::strip)
        .containsExactly(
            "298 rows are the same",
            "1 row is different",
            "1 row is only in web",
            "1 row is only in copy",
            "only in web: com.a/000",
            "different: com.a/003; f:q @" + old + " in web, f:q @" + newer + " in copy",
            "only in copy: zzz");

    Job submitted = compare.prepare(cluster.conf());
    cluster.client().admin().dropTable("copy");
    create("copy", List.of());
    assertThat(submitted.waitForCompletion(true)).as("with another table").isFalse();
    compare.cleanUp(submitted);
  }

  /** Lets both tables be written right after the job was submitted. */
  static final class ChangedAfterwards extends InputFormat<Bytes, Row> {
    private final TableInputFormat tables = new TableInputFormat();

    @Override
    public List<InputSplit> getSplits(JobContext context) throws IOException {
      List<InputSplit> splits = tables.getSplits(context);
      for (String table : List.of("one", "other")) {
        for (Row row : rows(table)) {
          cluster.client().table(table).mutate(Mutation.of(row.key()).put("f", "q", "of " + table));
        }
        cluster.client().table(table).mutate(Mutation.of("only in " + table).put("f", "q", ""));
      }
      return splits;
    }

    @Override
    public RecordReader<Bytes, Row> createRecordReader(InputSplit split, TaskAttemptContext task) {
      return tables.createRecordReader(split, task);
    }
  }

  @Test
  void bothTablesAreComparedAsTheyWereWhenTheJobWasSubmitted() throws Exception {
    create("one", List.of(Bytes.of("row50")));
    create("other", List.of(Bytes.of("row30"), Bytes.of("row70")));
    for (int i = 0; i < 100; i++) {
      for (String table : List.of("one", "other")) {
        cluster
            .client()
            .table(table)
            .mutate(Mutation.of("row%02d".formatted(i)).put("f", Bytes.of("q"), 1, Bytes.of("v")));
      }
    }
    CompareTables compare = new CompareTables(TableInput.all("one"), "other");
    Job job = compare.prepare(cluster.conf());
    job.setInputFormatClass(ChangedAfterwards.class);
    assertThat(job.waitForCompletion(true)).isTrue();
    TableJob.Report report = compare.report(job);
    compare.cleanUp(job);
    cluster.client().admin().dropTable("one");
    cluster.client().admin().dropTable("other");
    assertThat(report.verdict()).as("%s", report).isEqualTo(TableJob.Verdict.GOOD);
    assertThat(report.lines().get(0)).contains("100 rows are the same");
  }

  @Test
  void whatIsExportedCanBeImported() throws Exception {
    Path files = new Path(directory.resolve("avro").toUri());
    ExportAvro dry = new ExportAvro(TableInput.all("web"), files, Optional.empty(), true);
    assertThat(run(dry).lines().get(0))
        .startsWith("Dry run: 300 rows, 900 cells, ")
        .endsWith(" would be written to Avro files in " + files + ".");
    assertThat(directory.resolve("avro")).doesNotExist();
    assertThat(run(new ExportAvro(TableInput.all("web"), files)).lines().get(0))
        .startsWith("300 rows, 900 cells");
    assertThatThrownBy(() -> dry.prepare(cluster.conf()))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("directory " + files + " exists");
    create("imported", List.of());
    run(new ImportAvro(files, new TableOutput("imported", true, false)));
    assertThat(rows("imported")).isEmpty();
    run(new ImportAvro(files, new TableOutput("imported", false, false)));
    assertThat(rows("imported")).isEqualTo(rows("web"));
  }

  private static final String PERSON =
      """
      {"type": "record", "name": "Person", "stele": "f", "fields": [
        {"name": "id", "type": "string", "stele": "ROW"},
        {"name": "name", "type": "string", "aliases": ["fullName"]},
        {"name": "visits", "type": "long", "default": 1},
        {"name": "likes", "type": {"type": "map", "values": "double"}, "default": {}, "stele": "g:*"}]}
      """;

  private static void write(java.nio.file.Path file, GenericRecord... records) throws IOException {
    Files.createDirectories(file.getParent());
    try (DataFileWriter<GenericRecord> writer =
        new DataFileWriter<>(new GenericDatumWriter<GenericRecord>())) {
      writer.create(records[0].getSchema(), file.toFile());
      for (GenericRecord record : records) {
        writer.append(record);
      }
    }
  }

  @Test
  void recordsOfAnyKindAreImportedByTheirSchemaAndExportedAgain() throws Exception {
    Schema before =
        new Schema.Parser()
            .parse(
                """
                {"type": "record", "name": "Person", "fields": [
                  {"name": "id", "type": "string"}, {"name": "fullName", "type": "string"},
                  {"name": "shoe", "type": "int"}]}
                """);
    write(
        directory.resolve("old/people.avro"),
        new GenericRecordBuilder(before)
            .set("id", "a")
            .set("fullName", "Ada")
            .set("shoe", 5)
            .build(),
        new GenericRecordBuilder(before)
            .set("id", "b")
            .set("fullName", "Alan")
            .set("shoe", 9)
            .build());
    create("persons", List.of());
    RecordMapping<GenericRecord> mapping = RecordMapping.parse(PERSON);
    ImportAvro imported =
        new ImportAvro(
            new Path(directory.resolve("old").toUri()),
            new TableOutput("persons", false, false),
            Optional.of(mapping));
    assertThat(run(imported).lines()).containsExactly("2 rows, 4 cells written to table persons.");
    cluster.client().table("persons").mutate(Mutation.of("b").put("g", "tea", new byte[8]));

    Path exported = new Path(directory.resolve("new").toUri());
    run(new ExportAvro(TableInput.all("persons"), exported, Optional.of(mapping)));
    List<String> records = new ArrayList<>();
    try (DataFileReader<GenericRecord> reader =
        new DataFileReader<>(
            directory.resolve("new/part-m-00000.avro").toFile(), new GenericDatumReader<>())) {
      reader.forEach(record -> records.add(record.toString()));
    }
    assertThat(records)
        .containsExactly(
            "{\"id\": \"a\", \"name\": \"Ada\", \"visits\": 1, \"likes\": {}}",
            "{\"id\": \"b\", \"name\": \"Alan\", \"visits\": 1, \"likes\": {\"tea\": 0.0}}");

    TableInput some = new TableInput("persons", RowQuery.ALL.family("f"));
    assertThatThrownBy(() -> new ExportAvro(some, exported, Optional.of(mapping)))
        .hasMessageContaining("says which columns");
    TableInput newest = new TableInput("persons", RowQuery.ALL.versions(1));
    assertThatThrownBy(() -> new ExportAvro(newest, exported, Optional.of(mapping)))
        .hasMessageContaining("leave versions out");
    TableInput early = new TableInput("persons", RowQuery.ALL.times(new TimeRange(0, 1)));
    Path none = new Path(directory.resolve("none").toUri());
    assertThat(run(new ExportAvro(early, none, Optional.of(mapping))).lines().get(0))
        .startsWith("0 rows");
  }

  @Test
  void linesOfTextBecomeRows() throws Exception {
    java.nio.file.Path file = directory.resolve("people.txt");
    Files.write(
        file,
        List.of(
            "ada|Ada||Lovelace|36",
            "alan|Alan|x|Turing|",
            "empty||x||",
            "broken|line",
            "|no|row|here|",
            "r".repeat(Limits.ROW_BYTES_MAX + 1) + "|of|too|many|bytes"),
        StandardCharsets.UTF_8);
    cluster.client().admin().createTable(TableSchema.of("people", "f", "g", "a,b"));
    Path files = new Path(file.toUri());
    List<String> fields = List.of("ROW", "f:first", "-", "g:last", "a,b:age");
    ImportText strict = new ImportText(files, "people", fields, '|', false, false);
    assertThat(strict.prepare(cluster.conf()).waitForCompletion(true)).isFalse();
    assertThat(run(new ImportText(files, "people", fields, '|', true, false)).lines())
        .containsExactly("2 rows, 5 cells written to table people.", "3 lines were left out.");
    assertThat(run(new ImportText(files, "people", fields, ',', true, true)).lines())
        .containsExactly(
            "Dry run: 0 rows, 0 cells would be written to table people.",
            "6 lines were left out.",
            "No line has 5 fields and a row key: does another character separate fields"
                + " (--separator)?");
    Row ada = cluster.client().table("people").readRow("ada").orElseThrow();
    assertThat(ada.value("g", "last")).contains(Bytes.of("Lovelace"));
    assertThat(ada.value("a,b", "age")).contains(Bytes.of("36"));
  }

  @Test
  void whatAJobLacksIsSaidBeforeItRuns() throws Exception {
    cluster.client().admin().createTable(TableSchema.of("narrow", "f"));
    assertThatThrownBy(
            () -> new CopyTable(TableInput.all("web"), "narrow", false).prepare(cluster.conf()))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("has no family g");
    assertThatThrownBy(
            () ->
                new ImportText(new Path("/x"), "narrow", List.of("f:a", "f:b"), '\t', false, false))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("one of them must be ROW");
    for (List<String> fields : List.of(List.of("ROW", "f:a", "f:a"), List.of("ROW", "-"))) {
      assertThatThrownBy(() -> new ImportText(new Path("/x"), "narrow", fields, '\t', false, false))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("none of them twice");
    }
    assertThatThrownBy(
            () -> TableOutputFormat.addTable(Job.getInstance(cluster.conf()), "ns:pages", "f"))
        .hasMessageContaining("cannot name a table");
    assertThatThrownBy(
            () ->
                new ImportAvro(new Path("/x"), new TableOutput("none", false, false))
                    .prepare(cluster.conf()))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("none");
    Optional<RecordMapping<GenericRecord>> ofPerson = Optional.of(RecordMapping.parse(PERSON));
    assertThatThrownBy(
            () ->
                new ImportAvro(new Path("/x"), new TableOutput("narrow", true, false), ofPerson)
                    .prepare(cluster.conf()))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("has no family");
  }
}
