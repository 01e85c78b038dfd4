package io.stele.mapreduce.jobs;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A directory in the user's home for a job's textual output, which is read when it has ended. */
final class JobDirectory {
  private static final Logger LOG = LoggerFactory.getLogger(JobDirectory.class);

  /** Longer than a job runs: nothing may change in the directory until the job commits. */
  private static final Duration LEFT_OVER_AFTER = Duration.ofDays(60);

  private static final String LEFT =
      "Cannot delete {}, which a job has left: delete it, or a job that runs later will";

  private JobDirectory() {}

  /** Has the job write text to a new one. */
  static void setOutput(Job job) throws IOException {
    job.setOutputFormatClass(TextOutputFormat.class);
    FileOutputFormat.setCompressOutput(job, false); // The lines are read as they are.
    FileSystem fs = FileSystem.get(job.getConfiguration());
    Path home = fs.makeQualified(fs.getHomeDirectory());
    Path all = new Path(home, ".stele-jobs");
    deleteLeftOver(fs, all);
    FileOutputFormat.setOutputPath(job, new Path(all, UUID.randomUUID().toString()));
  }

  /** Those whose commands ended before the jobs did: nobody reads them any more. */
  private static void deleteLeftOver(FileSystem fs, Path all) throws IOException {
    if (!fs.exists(all)) {
      return;
    }
    long since = System.currentTimeMillis() - LEFT_OVER_AFTER.toMillis();
    for (FileStatus directory : fs.listStatus(all)) {
      if (directory.getModificationTime() < since) {
        delete(fs.getConf(), directory.getPath());
      }
    }
  }

  /** The lines that the job's tasks wrote, in their order. */
  static List<String> lines(Job finished) throws IOException {
    List<String> lines = new ArrayList<>();
    read(
        finished,
        line -> {
          lines.add(line);
          return true;
        });
    return lines;
  }

  /** The first {@code most} different lines: what is read is not kept beyond them. */
  static List<String> firstLines(Job finished, int most) throws IOException {
    Set<String> lines = new LinkedHashSet<>();
    read(
        finished,
        line -> {
          lines.add(line);
          return lines.size() < most;
        });
    return List.copyOf(lines);
  }

  /** Reads lines as long as {@code more} says so. */
  private static void read(Job finished, Predicate<String> more) throws IOException {
    Path directory = FileOutputFormat.getOutputPath(finished);
    FileSystem fs = directory.getFileSystem(finished.getConfiguration());
    FileStatus[] parts = fs.globStatus(new Path(directory, "part-*"));
    Arrays.sort(parts);
    for (FileStatus part : parts) {
      try (BufferedReader in =
          new BufferedReader(
              new InputStreamReader(fs.open(part.getPath()), StandardCharsets.UTF_8))) {
        for (String line = in.readLine(); line != null; line = in.readLine()) {
          if (!more.test(line)) {
            return;
          }
        }
      }
    }
  }

  /** Deletes it, when it has been read, or the job was not submitted. */
  static void delete(Job job) throws IOException {
    Path directory = FileOutputFormat.getOutputPath(job);
    delete(job.getConfiguration(), directory);
  }

  /**
   * Deletes a directory. If that fails, this only warns: it is no reason for a job not to run, and
   * none for one whose result is known to fail.
   *
   * @throws IOException if the thread was interrupted
   */
  private static void delete(Configuration conf, Path directory) throws IOException {
    try {
      FileSystem fs = directory.getFileSystem(conf);
      if (!fs.delete(directory, true) && fs.exists(directory)) { // Local files throw nothing.
        LOG.warn(LEFT, directory);
      }
    } catch (ClosedByInterruptException e) {
      throw e;
    } catch (InterruptedIOException e) {
      if (!(e instanceof SocketTimeoutException)) {
        throw e;
      }
      LOG.warn(LEFT, directory, e);
    } catch (IOException e) {
      LOG.warn(LEFT, directory, e);
    }
  }
}
