package io.stele.examples.webtable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ZipInputFormatTest {
  @TempDir Path directory;

  private Map<String, String> zip(Path file, int entries) throws IOException {
    Map<String, String> contents = new TreeMap<>();
    Random random = new Random(entries);
    try (OutputStream out = Files.newOutputStream(file);
        ZipOutputStream zip = new ZipOutputStream(out)) {
      zip.putNextEntry(new ZipEntry("dir/"));
      for (int i = 0; i < entries; i++) {
        String name = "dir/page" + i + ".html";
        String text = random.ints(random.nextInt(2000)).boxed().toList().toString();
        zip.putNextEntry(new ZipEntry(name));
        zip.write(text.getBytes(StandardCharsets.UTF_8));
        zip.closeEntry();
        contents.put(file.getFileName() + "!/" + name, text);
      }
      zip.setComment("a comment after the directory");
    }
    return contents;
  }

  private Job job(long splitBytes) throws IOException {
    Job job = Job.getInstance(new Configuration());
    FileInputFormat.addInputPath(job, new org.apache.hadoop.fs.Path(directory.toUri()));
    FileInputFormat.setMaxInputSplitSize(job, splitBytes);
    return job;
  }

  @Test
  void everyEntryIsReadOnceHoweverTheFileIsCut() throws Exception {
    Map<String, String> contents = zip(directory.resolve("a.zip"), 50);
    contents.putAll(zip(directory.resolve("b.zip"), 3));
    for (long splitBytes : new long[] {1, 10_000, 1 << 30}) {
      Job job = job(splitBytes);
      Map<String, String> read = new TreeMap<>();
      ZipInputFormat format = new ZipInputFormat();
      var splits = format.getSplits(job);
      for (InputSplit split : splits) {
        var context = new TaskAttemptContextImpl(job.getConfiguration(), new TaskAttemptID());
        try (var reader = format.createRecordReader(split, context)) {
          reader.initialize(split, context);
          while (reader.nextKeyValue()) {
            String text = new String(reader.getCurrentValue().copyBytes(), StandardCharsets.UTF_8);
            assertThat(read.put(reader.getCurrentKey().toString(), text)).isNull();
            assertThat(reader.getProgress()).isBetween(0f, 1f);
          }
        }
      }
      assertThat(read).isEqualTo(contents);
      assertThat(splits.size()).isEqualTo(splitBytes == 1 ? 55 : splits.size());
    }
  }

  @Test
  void aFileThatIsNoZipFileIsRefused() throws IOException {
    Files.writeString(directory.resolve("a.zip"), "plain text of some length, no zip");
    Job job = job(1000);
    assertThatThrownBy(() -> new ZipInputFormat().getSplits(job))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("is no zip file");
  }
}
