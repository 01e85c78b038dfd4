package io.stele.mapreduce.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.config.JobKeys;
import io.stele.model.Bytes;
import io.stele.model.Limits;
import io.stele.model.Mutation;
import io.stele.model.SteleException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.apache.hadoop.mapreduce.lib.input.LineRecordReader;
import org.apache.hadoop.mapreduce.lib.map.WrappedMapper;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.apache.hadoop.mapreduce.task.MapContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ImportTextTest {
  @TempDir private static Path directory;

  private static String whyBad(String... values) {
    return ImportText.whyBad(
        Stream.of(values).map(Bytes::of).toList(), List.of("f:a", ImportText.ROW));
  }

  /** What the mapper writes of a file. */
  private static List<Mutation> map(String text, ImportText.Format format, boolean skip)
      throws IOException, InterruptedException {
    Path file = Files.writeString(directory.resolve("people.csv"), text, StandardCharsets.UTF_8);
    Configuration conf = new Configuration();
    conf.setStrings(JobKeys.Internal.TEXT_FIELDS, "ROW", "f%3Aname", "-");
    conf.setInt(JobKeys.Internal.TEXT_SEPARATOR, ',');
    conf.setEnum(JobKeys.Internal.TEXT_FORMAT, format);
    conf.setBoolean(JobKeys.Internal.TEXT_SKIP, skip);
    List<Mutation> written = new ArrayList<>();
    RecordWriter<Bytes, Mutation> writer =
        new RecordWriter<>() {
          @Override
          public void write(Bytes key, Mutation mutation) {
            written.add(mutation);
          }

          @Override
          public void close(TaskAttemptContext context) {}
        };
    TaskAttemptContext task = new TaskAttemptContextImpl(conf, new TaskAttemptID());
    FileSplit split =
        new FileSplit(
            new org.apache.hadoop.fs.Path(file.toUri()), 0, Files.size(file), new String[0]);
    try (LineRecordReader lines = new LineRecordReader()) {
      lines.initialize(split, task);
      new ImportText.LineMapper()
          .run(
              new WrappedMapper<LongWritable, Text, Bytes, Mutation>()
                  .getMapContext(
                      new MapContextImpl<>(
                          conf,
                          task.getTaskAttemptID(),
                          lines,
                          writer,
                          new NullOutputFormat<>().getOutputCommitter(task),
                          new TaskAttemptContextImpl.DummyReporter(),
                          split)));
    }
    return written;
  }

  private static Mutation named(String row, String name) {
    return Mutation.of(row).put("f", "name", name);
  }

  @Test
  void aBadLineIsToldItsOwnReasonAlone() {
    assertThat(whyBad("a", "b", "c")).isEqualTo("has 3 fields, but --fields names 2");
    assertThat(whyBad("a,b"))
        .isEqualTo("has 1 field, but --fields names 2 (--separator says what separates them)");
    assertThat(whyBad("a", "")).isEqualTo("has an empty row key");
    assertThat(whyBad("a", "r".repeat(Limits.ROW_BYTES_MAX + 1)))
        .isEqualTo("has a row key of 65537 bytes, above 65536");
  }

  @Test
  void fieldsInQuotesHaveSeparatorsInThem() throws Exception {
    String text = "ada,\"Lovelace, Ada\",36\r\n\"al\"\"an\",Turing,\"\"\n";
    assertThat(map(text, ImportText.Format.CSV, false))
        .containsExactly(named("ada", "Lovelace, Ada"), named("al\"an", "Turing"));
    assertThatThrownBy(() -> map(text, ImportText.Format.PLAIN, false))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("has 4 fields");
  }

  @Test
  void aQuoteThatIsNotClosedIsNeverLeftOut() {
    // The second line alone would be a good one.
    String text = "alan,Turing,41\nada,\"Lovelace\nof,London\",36\n";
    for (boolean skip : List.of(true, false)) {
      assertThatThrownBy(() -> map(text, ImportText.Format.CSV, skip))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("the line at byte 15 of file:")
          .hasMessageContaining("people.csv, \"ada,\"Lovelace\", ")
          .hasMessageContaining("does not close the quote at byte 4 of it");
    }
  }

  @Test
  void aLineWithAWrongQuoteIsNeverLeftOut() {
    // The first line would hide that a field goes on in the second, which has as many fields.
    for (String first : List.of("\"ada\"x,\"Lovelace", "ada,\"he said \\\"hi,")) {
      for (boolean skip : List.of(true, false)) {
        assertThatThrownBy(() -> map(first + "\nof,London\",36\n", ImportText.Format.CSV, skip))
            .isInstanceOf(SteleException.class)
            .hasMessageContaining("the line at byte 0 of ")
            .hasMessageContaining("between the quote")
            .hasMessageContaining("use --format plain");
      }
    }
  }

  @Test
  void theRestOfAFieldWithALineBreakIsNoRecord() {
    // As a task finds it whose part of the file begins there.
    assertThatThrownBy(() -> map("of,London\",36\n", ImportText.Format.CSV, true))
        .hasMessageContaining("has a quote at byte 9 of it");
  }

  @Test
  void aQuoteCannotSeparateFieldsThatMayBeInQuotes() {
    assertThatThrownBy(
            () ->
                new ImportText(
                    new org.apache.hadoop.fs.Path("/x"),
                    new TableOutput("t", false, false),
                    List.of("ROW", "f:a"),
                    '"',
                    false,
                    ImportText.Format.CSV))
        .hasMessageContaining("a quote cannot separate");
  }
}
