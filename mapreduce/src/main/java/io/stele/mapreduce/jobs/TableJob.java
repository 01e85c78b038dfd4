package io.stele.mapreduce.jobs;

import io.stele.model.SteleException;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;

/**
 * A ready-made job over tables: what it is to do, before it is submitted, and what it says when it
 * has ended.
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
  /** What a job that has ended well has found. */
  enum Verdict {
    /** What the job's user hopes for. */
    GOOD,
    /** Two tables differ. */
    DIFFERENT,
    /** What is stored is damaged. */
    DAMAGED
  }

  /**
   * What came of a job.
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

  /** What came of a job of {@link #prepare} that has ended well. */
  Report report(Job finished) throws IOException;

  /** Removes what the job needed only while it ran. */
  default void cleanUp(Job job) throws IOException {}
}
