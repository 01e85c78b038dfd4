package io.stele.mapreduce.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.log4j.AppenderSkeleton;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.apache.log4j.spi.LoggingEvent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JobDirectoryTest {
  @Test
  void noMoreLinesAreReadThanAreNamed(@TempDir Path directory) throws Exception {
    Job job = Job.getInstance(new Configuration(false));
    FileOutputFormat.setOutputPath(job, new org.apache.hadoop.fs.Path(directory.toUri()));
    Files.writeString(directory.resolve("part-r-00001"), "c\nd\n");
    Files.writeString(directory.resolve("part-r-00000"), "a\nb\na\n");
    assertThat(JobDirectory.lines(job)).isEqualTo(List.of("a", "b", "a", "c", "d"));
    assertThat(JobDirectory.firstLines(job, 3)).isEqualTo(List.of("a", "b", "c"));
    assertThat(JobDirectory.firstLines(job, 9)).isEqualTo(List.of("a", "b", "c", "d"));
  }

  /** Local files that nobody can delete. */
  static final class KeptFiles extends RawLocalFileSystem {
    @Override
    public boolean delete(org.apache.hadoop.fs.Path path, boolean recursive) throws IOException {
      if (getConf().getBoolean(THROWS, false)) {
        throw new IOException("no NameNode");
      }
      return false;
    }
  }

  private static final String THROWS = "test.delete.throws";

  /** Files that cannot be opened. */
  static final class NoFiles extends RawLocalFileSystem {
    @Override
    public void initialize(URI uri, Configuration conf) throws IOException {
      throw new IOException("no such host");
    }
  }

  private static List<String> deletes(Path directory, boolean isThrowing) throws IOException {
    return deletes(directory, KeptFiles.class, isThrowing);
  }

  /** What is logged while the directory of a job is deleted. */
  private static List<String> deletes(
      Path directory, Class<? extends FileSystem> files, boolean isThrowing) throws IOException {
    Job job = Job.getInstance(new Configuration(false));
    job.getConfiguration().setClass("fs.file.impl", files, FileSystem.class);
    job.getConfiguration().setBoolean("fs.file.impl.disable.cache", true);
    job.getConfiguration().setBoolean(THROWS, isThrowing);
    // Not setOutputPath, which opens the files.
    job.getConfiguration().set(FileOutputFormat.OUTDIR, directory.toUri().toString());
    List<String> logged = new ArrayList<>();
    AppenderSkeleton listener =
        new AppenderSkeleton() {
          @Override
          protected void append(LoggingEvent event) {
            logged.add(event.getRenderedMessage());
          }

          @Override
          public void close() {}

          @Override
          public boolean requiresLayout() {
            return false;
          }
        };
    Logger log = Logger.getLogger(JobDirectory.class);
    Level before = log.getLevel(); // Perhaps none of its own.
    log.setLevel(Level.WARN);
    log.addAppender(listener);
    try {
      JobDirectory.delete(job);
    } finally {
      log.removeAppender(listener);
      log.setLevel(before);
    }
    return logged;
  }

  @Test
  void aDirectoryThatCannotBeDeletedIsToldAndTheJobKeepsItsResult(@TempDir Path directory)
      throws Exception {
    for (boolean isThrowing : List.of(false, true)) {
      assertThat(deletes(directory, isThrowing))
          .singleElement()
          .asString()
          .contains("Cannot delete file:" + directory);
    }
    assertThat(deletes(directory.resolve("none"), false)).isEmpty();
    assertThat(deletes(directory, NoFiles.class, false))
        .singleElement()
        .asString()
        .contains("Cannot delete file:" + directory);
  }

  @Test
  void ofManyNodesTheFirstAreNamed() {
    VerifyLists.Nodes nodes = new VerifyLists.Nodes(2);
    nodes.add("c");
    assertThat(nodes).hasToString("c");
    nodes.add("a");
    assertThat(nodes).hasToString("a, c");
    nodes.add("b");
    nodes.add("d");
    assertThat(nodes).hasToString("a, b and 2 more");
    assertThat(nodes.count()).isEqualTo(4);
  }
}
