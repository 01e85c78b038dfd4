package io.stele.mapreduce.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.SteleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.avro.mapred.AvroKey;
import org.apache.avro.mapreduce.AvroJob;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AvroFilesTest {
  @TempDir Path directory;

  private static int read(Path file) throws IOException, InterruptedException {
    Job job = Job.getInstance(new Configuration(false));
    AvroJob.setInputKeySchema(job, AvroRows.ROW);
    TaskAttemptContext context =
        new TaskAttemptContextImpl(job.getConfiguration(), new TaskAttemptID());
    FileSplit split =
        new FileSplit(
            new org.apache.hadoop.fs.Path(file.toUri()), 0, Files.size(file), new String[0]);
    int records = 0;
    try (RecordReader<AvroKey<GenericRecord>, NullWritable> reader =
        new AvroFiles().createRecordReader(split, context)) {
      reader.initialize(split, context);
      while (reader.nextKeyValue()) {
        records++;
      }
    }
    return records;
  }

  /** Two blocks of one row each. */
  private Path written() throws IOException {
    Path file = directory.resolve("rows.avro");
    try (DataFileWriter<GenericRecord> writer =
        new DataFileWriter<>(new GenericDatumWriter<GenericRecord>(AvroRows.ROW))) {
      writer.create(AvroRows.ROW, file.toFile());
      for (String row : List.of("a", "b")) {
        writer.append(
            new GenericRecordBuilder(AvroRows.ROW)
                .set("key", Bytes.of(row).asByteBuffer())
                .set("cells", List.of())
                .build());
        writer.sync();
      }
    }
    return file;
  }

  @Test
  void aFileThatIsNotAvroIsNamed() throws Exception {
    Path file = Files.writeString(directory.resolve("pages.tsv"), "a line of text\n");
    assertThatThrownBy(() -> read(file))
        .isInstanceOf(IOException.class)
        .hasMessage("cannot read Avro file " + new org.apache.hadoop.fs.Path(file.toUri()))
        .hasRootCauseMessage("Not an Avro data file.");
  }

  @Test
  void aFileThatIsDamagedInTheMiddleIsNamed() throws Exception {
    Path file = written();
    assertThat(read(file)).isEqualTo(2);
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length - 1] ^= 1; // Of the mark after the last block.
    Files.write(file, bytes);
    assertThatThrownBy(() -> read(file))
        .isInstanceOf(IOException.class)
        .hasMessage("cannot read Avro file " + new org.apache.hadoop.fs.Path(file.toUri()));
  }

  private static Schema record(String type) {
    return new Schema.Parser()
        .parse(
            "{\"type\": \"record\", \"name\": \"Visit\", \"fields\":"
                + " [{\"name\": \"at\", \"aliases\": [\"time\"], \"type\": "
                + type
                + "}]}");
  }

  private static String logical(String type) {
    return "{\"type\": \"long\", \"logicalType\": \"" + type + "\"}";
  }

  @Test
  void aFileOfRowsWithTimestampsInMillisecondsIsRefused() throws Exception {
    Schema foreign =
        new Schema.Parser()
            .parse(
                AvroRows.ROW
                    .toString()
                    .replace(
                        "\"timestamp\",\"type\":\"long\"",
                        "\"timestamp\",\"type\":" + logical("timestamp-millis")));
    Path file = directory.resolve("foreign.avro");
    try (DataFileWriter<GenericRecord> writer =
        new DataFileWriter<>(new GenericDatumWriter<GenericRecord>(foreign))) {
      writer.create(foreign, file.toFile());
    }
    assertThatThrownBy(() -> read(file))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("foreign.avro")
        .hasRootCauseMessage(
            "its field cells.timestamp has numbers with unit millis, but they would be read as"
                + " numbers with unit micros: convert the file");
  }

  @Test
  void unitsThatDifferAreRefusedAndOthersAreNot() {
    String micros = logical("timestamp-micros");
    String millis = logical("local-timestamp-millis");
    for (String both : List.of("\"long\"", micros, millis, "[\"null\", " + micros + "]")) {
      AvroUnits.check(record(both), record(both));
      AvroUnits.check(record(both), record("\"long\""));
      AvroUnits.check(record("\"long\""), record(both));
    }
    AvroUnits.check(record(logical("timestamp-millis")), record(millis)); // The same numbers.
    Schema former = record("[\"null\", " + millis + "]");
    assertThatThrownBy(() -> AvroUnits.check(former, record(micros)))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("its field at has numbers with unit millis")
        .hasMessageContaining("or name the unit of the file in the schema");
    String map = "{\"type\": \"map\", \"values\": %s}";
    assertThatThrownBy(
            () ->
                AvroUnits.check(
                    record(String.format(map, millis)), record(String.format(map, micros))))
        .hasMessageContaining("unit millis");
    String decimal = "{\"type\": \"bytes\", \"logicalType\": \"decimal\", \"precision\": 9%s}";
    assertThatThrownBy(
            () ->
                AvroUnits.check(
                    record(String.format(decimal, "")),
                    record(String.format(decimal, ", \"scale\": 2"))))
        .hasMessageContaining("scale 0, but they would be read as numbers with scale 2");
    Schema renamed =
        new Schema.Parser().parse(record(millis).toString().replace("\"at\"", "\"time\""));
    assertThatThrownBy(() -> AvroUnits.check(renamed, record(micros)))
        .hasMessageContaining("its field time has numbers");
  }

  @Test
  void daysAreNotReadAsMicroseconds() {
    String date = "{\"type\": \"int\", \"logicalType\": \"date\"}";
    for (String read :
        List.of(logical("timestamp-micros"), "[\"null\", " + logical("timestamp-micros") + "]")) {
      assertThatThrownBy(() -> AvroUnits.check(record(date), record(read)))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("its field at has numbers with unit days")
          .hasMessageContaining("read as numbers with unit micros");
    }
    String time = "{\"type\": \"int\", \"logicalType\": \"time-millis\"}";
    assertThatThrownBy(() -> AvroUnits.check(record(date), record(time)))
        .hasMessageContaining("unit days");
    for (String read :
        List.of(date, "\"long\"", "[" + date + ", " + logical("timestamp-micros") + "]")) {
      AvroUnits.check(record(date), record(read));
    }
  }

  @Test
  void eachTypeOfAUnionIsCompared() {
    String micros = logical("timestamp-micros");
    String union = "[\"null\", \"string\", %s]";
    Schema former = record(String.format(union, logical("timestamp-millis")));
    for (String read : List.of(micros, String.format(union, micros), "[" + micros + "]")) {
      assertThatThrownBy(() -> AvroUnits.check(former, record(read)))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("its field at has numbers with unit millis");
    }
    AvroUnits.check(former, former);
    AvroUnits.check(former, record("[\"null\", \"string\", \"long\"]"));
  }

  private static Schema person(String boss) {
    return new Schema.Parser()
        .parse(
            "{\"type\": \"record\", \"name\": \"P\", \"fields\": ["
                + "{\"name\": \"id\", \"type\": \"string\", \"stele\": \"ROW\"},"
                + "{\"name\": \"n\", \"type\": \"string\", \"stele\": \"p:n\"},"
                + "{\"name\": \"boss\", \"default\": null, "
                + boss
                + "}]}");
  }

  @Test
  void recordsThatHaveThemselvesInAFieldAreCompared() {
    Schema mapped = person("\"type\": [\"null\", \"P\"], \"stele\": \"-\"");
    AvroUnits.check(mapped, mapped);
    Schema recursive = person("\"type\": [\"null\", \"P\"]");
    AvroUnits.check(recursive, recursive);
  }

  @Test
  void unitsOfFieldsThatAreNotStoredDoNotMatter() {
    String field = "\"type\": [\"null\", %s], \"stele\": \"%s\"";
    Schema written = person(String.format(field, logical("timestamp-millis"), "-"));
    String micros = logical("timestamp-micros");
    AvroUnits.check(written, person(String.format(field, micros, "-")));
    assertThatThrownBy(() -> AvroUnits.check(written, person(String.format(field, micros, "p:b"))))
        .hasMessageContaining("its field boss has numbers with unit millis");
  }
}
