package io.stele.mapreduce.documents;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.inputformat.TableInputFormat;
import io.stele.mapreduce.HdfsCluster;
import io.stele.mapreduce.RecordMapping;
import io.stele.mapreduce.jobs.ExportAvro;
import io.stele.mapreduce.jobs.TableInput;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.avro.Schema;
import org.apache.avro.file.DataFileStream;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The Java, the schema and the filter of {@code docs/mapreduce.md}, word for word, in jobs over
 * HDFS and ZooKeeper in this JVM.
 */
class MapReduceDocumentIT {
  private static final Pattern FILTER = Pattern.compile("a filter as text, such as `([^`]*)`");
  private static final Pattern ANNOTATION = Pattern.compile("`(@AvroMeta[^`]*)`");

  @TempDir private static Path scratch;
  private static HdfsCluster hdfs;
  private static Stele client;

  @BeforeAll
  static void start() throws Exception {
    hdfs = new HdfsCluster(scratch.toFile());
    client = hdfs.stele().client();
    client.admin().createTable(TableSchema.of("pages", "anchor", "language"));
    put("pages", "com.example/a", "anchor", "org.other/", "look here");
    put("pages", "org.other/b", "anchor", "com.example/a", "and there");
    put("pages", "com.example/a", "language", "", "en");
    put("pages", "org.other/b", "language", "", "de");
  }

  @AfterAll
  static void stop() throws Exception {
    hdfs.close();
  }

  private static void put(String table, String row, String family, String qualifier, String value)
      throws IOException {
    client.table(table).mutate(Mutation.of(row).put(family, qualifier, value));
  }

  private static Configuration conf() {
    return new Configuration(hdfs.conf());
  }

  private static List<Row> rows(String table) throws IOException {
    try (Rows rows = client.table(table).readRows(RowQuery.ALL)) {
      return rows.stream().toList();
    }
  }

  private static List<String> keys(String table) throws IOException {
    return rows(table).stream().map(row -> row.key().toUtf8()).toList();
  }

  private static String first(Pattern pattern) throws IOException {
    Matcher matcher = pattern.matcher(Document.read(MapReduceBlock.DOCUMENT).text());
    assertThat(matcher.find()).as(pattern.pattern()).isTrue();
    return matcher.group(1);
  }

  /** A job over the table {@code pages} whose mapper puts one cell into each row. */
  private static DocumentExample overPages(String name, String cell, String output) {
    return DocumentExample.ofMembers(
        name,
        """
        public static class AnchorMapper extends Mapper<Bytes, Row, Bytes, Mutation> {
          @Override
          protected void map(Bytes key, Row row, Context context)
              throws IOException, InterruptedException {
            context.write(key, Mutation.of(key).put(%s));
          }
        }

        public static Job run(Configuration conf, RowQuery query) throws Exception {
          Job job = SteleJob.create(conf, "over pages");
          TableInputFormat.addTable(job, "pages", query);
          job.setMapperClass(AnchorMapper.class);
        %s
          job.waitForCompletion(true);
          return job;
        }
        """
            .formatted(cell, output));
  }

  @Test
  void anOutputInFiles() throws Exception {
    client.admin().createTable(TableSchema.of("webtable", "anchor"), List.of(Bytes.of("m")));
    DocumentExample example =
        overPages("OutputInFiles", "\"anchor\", \"q\", \"x\"", MapReduceBlock.BULK_OUTPUT.text());
    Job job = (Job) example.run(conf(), RowQuery.ALL);
    assertThat(job.isSuccessful()).isTrue();
    assertThat(job.getNumReduceTasks()).as("one for each tablet").isEqualTo(2);
    assertThat(keys("webtable")).isEqualTo(keys("pages"));
  }

  @Test
  void anOutputInFilesWithoutAShuffle() throws Exception {
    client.admin().createTable(TableSchema.of("archive", "anchor"));
    String block = MapReduceBlock.BULK_WITHOUT_REDUCE.text();
    DocumentExample example =
        overPages(
            "OutputWithoutAShuffle",
            "\"anchor\", \"q\", \"x\"",
            block.replace("PageMapper", "AnchorMapper"));
    Job job = (Job) example.run(conf(), RowQuery.ALL);
    assertThat(job.isSuccessful()).isTrue();
    assertThat(job.getNumReduceTasks()).isZero();
    assertThat(keys("archive")).isEqualTo(keys("pages"));
  }

  @Test
  void outputsThatReplaceRows() throws Exception {
    client.admin().createTable(TableSchema.of("ranks", "rank"), List.of(Bytes.of("m")));
    put("ranks", "com.old/", "rank", "", "1");
    put("ranks", "org.old/", "rank", "", "1");
    String[] lines = MapReduceBlock.REPLACING_ROWS.lines();
    assertThat(lines).hasSize(3);

    DocumentExample some =
        overPages("RowsReplaced", "\"rank\", \"\", \"2\"", lines[0] + "\n" + lines[2]);
    Job job = (Job) some.run(conf(), RowQuery.prefix("org."));
    assertThat(job.isSuccessful()).isTrue();
    assertThat(keys("ranks")).containsExactly("com.old/", "org.other/b");
    assertThat(job.getConfiguration().get("mapreduce.stele.output.bulk.replace"))
        .as("what the document says that the configuration is")
        .isEqualTo("ranks:org.:org%2F");

    DocumentExample all =
        overPages("TableReplaced", "\"rank\", \"\", \"3\"", lines[0] + "\n" + lines[1]);
    assertThat(((Job) all.run(conf(), RowQuery.prefix("com."))).isSuccessful()).isTrue();
    assertThat(keys("ranks")).containsExactly("com.example/a");
  }

  /** Rows that the schema has written are read, and written, by the class. */
  @Test
  void recordsOfASchemaAndOfAClass() throws Exception {
    client.admin().createTable(TableSchema.of("people", "p", "likes"));
    RecordMapping<GenericRecord> mapping = RecordMapping.parse(MapReduceBlock.RECORD_SCHEMA.text());
    GenericRecord ada =
        new GenericRecordBuilder(mapping.schema())
            .set("id", "ada")
            .set("name", "Ada")
            .set("visits", 6L)
            .set("likes", Map.of("tea", 0.5))
            .build();
    client.table("people").mutate(mapping.mutation(ada));
    put("people", "alan", "p", "fullName", "Alan"); // By its old name, and without the others.

    Job job = (Job) visits().run(conf());
    assertThat(job.isSuccessful()).isTrue();
    assertThat(rows("people"))
        .map(row -> mapping.record(row).toString())
        .containsExactly(
            "{\"id\": \"ada\", \"name\": \"Ada\", \"visits\": 7, \"likes\": {\"tea\": 0.5}}",
            "{\"id\": \"alan\", \"name\": \"Alan\", \"visits\": 1, \"likes\": {}}");
  }

  /** A job that adds a visit to each person of the table {@code people}. */
  private static DocumentExample visits() throws IOException {
    String[] lines = MapReduceBlock.RECORD_CLASS.lines();
    assertThat(lines).hasSize(4);
    return DocumentExample.ofMembers(
        "PersonVisits",
        """
        @AvroMeta(key = "stele", value = "p")
        public static class Person {
          %s
          String id = "";
          @AvroAlias(alias = "fullName") String name = "";
          @AvroDefault("0") long visits;
          @AvroDefault("{}") @AvroMeta(key = "stele", value = "likes:*")
          Map<String, Double> likes = Map.of();
        }

        public static class VisitMapper extends Mapper<Bytes, Row, Bytes, Mutation> {
          @Override
          protected void map(Bytes key, Row row, Context context)
              throws IOException, InterruptedException {
            %s
            %s
            person.visits++;
            %s
          }
        }

        public static Job run(Configuration conf) throws Exception {
          Job job = SteleJob.create(conf, "visits");
          %s
          %s
          job.setMapperClass(VisitMapper.class);
          job.setNumReduceTasks(0);
          TableOutputFormat.addTable(job, "people", "p", "likes");
          job.waitForCompletion(true);
          return job;
        }
        """
            .formatted(first(ANNOTATION), lines[0], lines[2], lines[3], lines[0], lines[1]),
        "java.util.Map",
        "org.apache.avro.reflect.*");
  }

  @Test
  void recordsOfAnExport() throws Exception {
    org.apache.hadoop.fs.Path directory = new org.apache.hadoop.fs.Path("/exports/pages");
    ExportAvro export = new ExportAvro(TableInput.all("pages"), directory);
    assertThat(export.prepare(conf()).waitForCompletion(true)).isTrue();
    List<String> records = new ArrayList<>();
    for (FileStatus file : hdfs.fs().globStatus(directory.suffix("/*.avro"))) {
      try (DataFileStream<GenericRecord> in =
          new DataFileStream<>(hdfs.fs().open(file.getPath()), new GenericDatumReader<>())) {
        Schema row = in.getSchema();
        records.add(text(row));
        records.add(text(row.getField("cells").schema().getElementType()));
      }
    }
    assertThat(records)
        .containsExactly(MapReduceBlock.EXPORTED_RECORDS.text().replaceAll(" +", " ").split("\n"));
  }

  /** A record as Avro's IDL has it. */
  private static String text(Schema record) {
    return record.getFields().stream()
        .map(field -> type(field.schema()) + " " + field.name() + "; ")
        .collect(Collectors.joining("", "record " + record.getName() + " { ", "}"));
  }

  private static String type(Schema schema) {
    return schema.getType() == Schema.Type.ARRAY
        ? "array<" + schema.getElementType().getName() + ">"
        : schema.getType().getName();
  }

  @Test
  void aFilterInTheConfiguration() throws Exception {
    Job job = Job.getInstance(conf(), "filter");
    job.getConfiguration().set("mapreduce.stele.input.table", "pages");
    job.getConfiguration().set("mapreduce.stele.input.table.filter", first(FILTER));
    job.setInputFormatClass(TableInputFormat.class);
    job.setMapperClass(Mapper.class);
    job.setNumReduceTasks(0);
    job.setOutputFormatClass(NullOutputFormat.class);
    assertThat(job.waitForCompletion(true)).isTrue();
    assertThat(job.getCounters().findCounter(TableInputFormat.Counter.ROWS).getValue())
        .as("pages whose language is en")
        .isEqualTo(1);
  }
}
