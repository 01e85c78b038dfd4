package io.stele.benchmarks;

import java.util.concurrent.Callable;
import org.apache.hadoop.mapreduce.Job;

/**
 * One of the jobs that are compared.
 *
 * @param before makes ready what it needs
 * @param run the only step that is measured
 * @param after removes what it has written
 */
record Compared(Step before, Step run, Step after) {
  /** A part of it. */
  interface Step {
    void take() throws Exception;
  }

  /** A job that writes nothing, and reads so many bytes. */
  static Compared reading(Callable<Job> job, long bytes) {
    return new Compared(() -> {}, () -> count(job.call(), bytes), () -> {});
  }

  private static void count(Job job, long bytes) throws Exception {
    run(job);
    long read = job.getCounters().findCounter(JobInputs.Counter.BYTES).getValue();
    if (read != bytes) {
      throw new IllegalStateException(job.getJobName() + " read " + read + " bytes of " + bytes);
    }
  }

  /** A job that writes what {@code before} makes and {@code after} removes. */
  static Compared writing(Step before, Callable<Job> job, Step after) {
    return new Compared(before, () -> run(job.call()), after);
  }

  /** {@link #reading}, with something to remove afterwards. */
  Compared then(Step last) {
    return new Compared(before, run, last);
  }

  /** The same, with another step that is measured too. */
  Compared thenRun(Step more) {
    return new Compared(
        before,
        () -> {
          run.take();
          more.take();
        },
        after);
  }

  /** Runs a job to its end. */
  static void run(Job job) throws Exception {
    if (!job.waitForCompletion(false)) {
      throw new IllegalStateException("job " + job.getJobName() + " failed");
    }
  }
}
