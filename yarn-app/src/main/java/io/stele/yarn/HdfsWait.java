package io.stele.yarn;

import io.stele.files.HdfsOutage;
import io.stele.runtime.Deadline;
import io.stele.runtime.IoCallable;
import io.stele.runtime.ProcessRuntime;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits for HDFS when an attempt of the ApplicationMaster starts. The first attempt gives up after
 * a while and says why. A later one never does: the servers may well run on without HDFS for a
 * time, and YARN kills them when all attempts have ended.
 */
final class HdfsWait {
  private static final Logger LOG = LoggerFactory.getLogger(HdfsWait.class);
  private static final Duration RETRY = Duration.ofMillis(500);
  private static final Duration LATER_RETRY = Duration.ofSeconds(5);

  private final ProcessRuntime runtime;
  private final boolean first;

  /**
   * @param attempt who waits
   */
  HdfsWait(ProcessRuntime runtime, ApplicationAttemptId attempt) {
    this.runtime = runtime;
    this.first = attempt.getAttemptId() <= 1;
  }

  /**
   * What is read, as soon as that succeeds.
   *
   * @param what it reads, for people
   * @throws IOException if waiting would not help, or has not for long
   */
  <T> T forReading(String what, IoCallable<T> reading) throws IOException, InterruptedException {
    Deadline patience = Deadline.after(runtime, HdfsOutage.PATIENCE);
    while (true) {
      try {
        return reading.call();
      } catch (IOException e) {
        // While HDFS is away no file is said to be missing.
        boolean limited = first || e instanceof FileNotFoundException;
        if (!HdfsOutage.mayHaveCaused(e) || (limited && patience.isOver())) {
          throw e;
        }
        LOG.warn("Cannot read {} yet; will retry: {}", what, e.toString());
      }
      runtime.sleep(patience.isOver() ? LATER_RETRY : RETRY);
    }
  }
}
