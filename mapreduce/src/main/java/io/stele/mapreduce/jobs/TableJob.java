package io.stele.mapreduce.jobs;

import io.stele.model.SteleException;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;

/**
 * A ready-made job over tables: it makes a job to submit, and reports the result when the job has
 * ended.
 *
 * <pre>{@code
 * TableJob copy = new CopyTable(TableInput.all("web"), "web2");
 * Job job = copy.prepare(conf);
 * if (job.waitForCompletion(true)) {
 *   copy.report(job).lines().forEach(System.out::println);
 * }
 * }</pre>
 *
 * <p>Immutable.
 */
public interface TableJob {
  /** The verdict of a job that has succeeded. */
  enum Verdict {
    /** Nothing is wrong. */
    GOOD,
    /** Two tables differ. */
    DIFFERENT,
    /** Stored data is damaged. */
    DAMAGED
  }

  /**
   * The result of a job.
   *
   * @param lines for people
   */
  record Report(Verdict verdict, List<String> lines) {
    public Report {
      lines = List.copyOf(lines);
    }

    static Report good(List<String> lines) {
      return new Report(Verdict.GOOD, lines);
    }
  }

  /**
   * The job, ready to be submitted.
   *
   * @param conf Hadoop's configuration with that of the cluster; copied
   * @throws SteleException NOT_FOUND or REFUSED if a table, family or file is not as the job needs
   *     it
   */
  Job prepare(Configuration conf) throws IOException;

  /** The result of a job made by {@link #prepare} that has succeeded. */
  Report report(Job finished) throws IOException;

  /** Removes what the job needed only while it ran. */
  default void cleanUp(Job job) throws IOException {}
}
