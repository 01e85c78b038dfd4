package io.stele.mapreduce.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
}
