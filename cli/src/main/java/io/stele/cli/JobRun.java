package io.stele.cli;

import io.stele.mapreduce.jobs.TableJob;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import picocli.CommandLine;

/** Runs a job: how far it is goes to standard error, what came of it to standard output. */
final class JobRun {
  private static final ProcessRuntime RUNTIME = SystemRuntime.INSTANCE;
  private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

  private final PrintWriter out;
  private final PrintWriter err;

  JobRun(CommandLine command) {
    this.out = command.getOut();
    this.err = command.getErr();
  }

  /** Runs {@code table} to its end, and returns the exit code. */
  int run(TableJob table, Configuration conf) throws IOException {
    Job job = table.prepare(conf);
    try {
      job.submit();
      err.println("job " + job.getJobID() + ": " + job.getJobName());
      follow(job);
      if (!job.isSuccessful()) {
        throw new IOException(
            "job " + job.getJobID() + " failed: " + job.getStatus().getFailureInfo().strip());
      }
      TableJob.Report report = table.report(job);
      report.lines().forEach(out::println);
      return (report.good() ? ExitCode.DONE : ExitCode.FAILED).number();
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "waiting for job \"" + job.getJobName() + "\"");
    } catch (ClassNotFoundException e) {
      throw new IOException("job \"" + job.getJobName() + "\" lacks a class", e);
    } finally {
      table.cleanUp(job);
    }
  }

  private void follow(Job job) throws IOException, InterruptedException {
    String said = "";
    while (!job.isComplete()) {
      String now = String.format(Locale.ROOT, "  map %3.0f %%", 100 * job.mapProgress());
      if (job.getNumReduceTasks() > 0) {
        now += String.format(Locale.ROOT, ", reduce %3.0f %%", 100 * job.reduceProgress());
      }
      if (!now.equals(said)) {
        err.println(now);
        said = now;
      }
      RUNTIME.sleep(LOOK_EVERY);
    }
  }
}
