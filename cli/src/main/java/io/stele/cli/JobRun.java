package io.stele.cli;

import io.stele.mapreduce.jobs.TableJob;
import io.stele.model.SteleException;
import io.stele.outputformat.BulkOutputFormat;
import io.stele.outputformat.TableOutputFormat;
import io.stele.runtime.AtExit;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.JobStatus.State;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.lib.input.InvalidInputException;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.hadoop.util.ReflectionUtils;
import picocli.CommandLine;

/** Runs a job: prints its progress to standard error, and its result to standard output. */
final class JobRun {
  private static final ProcessRuntime RUNTIME = SystemRuntime.INSTANCE;

  /** What the ids of jobs begin with that run in this process. */
  private static final String OF_LOCAL_RUNNER = "job_local";

  private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

  private final PrintWriter out;
  private final PrintWriter err;

  JobRun(CommandLine command) {
    this(command.getOut(), command.getErr());
  }

  JobRun(PrintWriter out, PrintWriter err) {
    this.out = out;
    this.err = err;
  }

  /** Runs {@code table} to its end, and returns the exit code. */
  int run(TableJob table, Configuration conf) throws IOException {
    try {
      return runAndReport(table, conf);
    } catch (InvalidInputException e) { // A file of its input does not exist.
      throw new SteleException(
          SteleException.Code.NOT_FOUND, "there is nothing to read: " + e.getMessage(), e);
    }
  }

  private int runAndReport(TableJob table, Configuration conf) throws IOException {
    Job job = table.prepare(conf);
    boolean mayRun = false; // Then its directory is in use.
    try (LocalRunnerLog local = new LocalRunnerLog(RUNTIME)) {
      submit(job);
      mayRun = true;
      String id = job.getJobID().toString();
      err.println("job " + id + ": " + job.getJobName());
      AtExit atCtrlC =
          SystemRuntime.atExit("job-left", () -> leftAlone(id).ifPresent(err::println));
      try {
        follow(job);
        mayRun = false;
      } catch (InterruptedIOException e) {
        throw e;
      } catch (IOException e) {
        throw new IOException(
            "what becomes of job " + id + " is not known: " + e.getMessage() + notEnded(id), e);
      } finally {
        atCtrlC.cancel();
      }
      if (!job.isSuccessful()) {
        throw new IOException("job " + job.getJobID() + " failed: " + JobFailure.of(job, local));
      }
      TableJob.Report report = table.report(job);
      report.lines().forEach(out::println);
      return exit(report.verdict()).number();
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "waiting for job \"" + job.getJobName() + "\"");
    } catch (ClassNotFoundException e) {
      throw new IOException("job \"" + job.getJobName() + "\" lacks a class", e);
    } finally {
      if (!mayRun) {
        table.cleanUp(job);
      }
    }
  }

  private static String notEnded(String job) {
    return leftAlone(job).map(text -> ". " + text).orElse("");
  }

  /** Submits the job; if that fails, nothing is kept for its output to tables any more. */
  private static void submit(Job job)
      throws IOException, InterruptedException, ClassNotFoundException {
    try {
      job.submit();
    } catch (IOException | RuntimeException e) {
      if (writesTables(job)) {
        try {
          endOutput(job);
        } catch (IOException | RuntimeException notEnded) {
          e.addSuppressed(notEnded); // The output ends by itself when its lease is over.
        }
      }
      throw e;
    }
  }

  /**
   * Whether the job's output names its own job. Output to files has made nothing yet, and what its
   * committer would delete is that of any job with the same directory, such as one that runs.
   */
  private static boolean writesTables(Job job) throws ClassNotFoundException {
    Class<?> format = job.getOutputFormatClass();
    return TableOutputFormat.class.isAssignableFrom(format)
        || BulkOutputFormat.class.isAssignableFrom(format);
  }

  private static void endOutput(Job job)
      throws IOException, InterruptedException, ClassNotFoundException {
    TaskAttemptContextImpl context =
        new TaskAttemptContextImpl(job.getConfiguration(), new TaskAttemptID());
    ReflectionUtils.newInstance(job.getOutputFormatClass(), job.getConfiguration())
        .getOutputCommitter(context)
        .abortJob(new JobContextImpl(job.getConfiguration(), new JobID()), State.FAILED);
  }

  /** What to say when this process ends before the job, unless the job ends with it. */
  static Optional<String> leftAlone(String job) {
    return job.startsWith(OF_LOCAL_RUNNER)
        ? Optional.empty()
        : Optional.of(
            job + " continues without this command; `stele job kill " + job + "` ends it");
  }

  private static ExitCode exit(TableJob.Verdict verdict) {
    return switch (verdict) {
      case GOOD -> ExitCode.DONE;
      case DIFFERENT -> ExitCode.PROBLEMS;
      case DAMAGED -> ExitCode.CORRUPTION;
    };
  }

  /** Prints the progress of {@code job} each time it changes, until the job ends. */
  private void follow(Job job) throws IOException, InterruptedException {
    String said = "";
    while (!job.isComplete()) {
      said = say(said, progress(job, job.mapProgress(), job.reduceProgress()));
      RUNTIME.sleep(LOOK_EVERY);
    }
    if (job.isSuccessful()) {
      // The last look may have been long before the end, and a job that is over may be known only
      // by its outcome: its application has gone.
      say(said, progress(job, 1, 1));
    }
  }

  private String say(String said, String now) {
    if (!now.equals(said)) {
      err.println(now);
    }
    return now;
  }

  private static String progress(Job job, float maps, float reduces) {
    String progress = String.format(Locale.ROOT, "  map %3.0f %%", 100 * maps);
    return job.getNumReduceTasks() == 0
        ? progress
        : progress + String.format(Locale.ROOT, ", reduce %3.0f %%", 100 * reduces);
  }
}
