package io.stele.yarn;

import io.stele.client.ClusterJob;
import io.stele.model.SteleException;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException;
import org.apache.hadoop.yarn.exceptions.YarnException;

/** The applications of YARN that run jobs. Calls block. For use by one thread; close it. */
public final class JobApplications implements Closeable {
  private static final long KILL_WAIT = 10_000; // Milliseconds; without an end by default.
  private static final String NOT_YET = "Timed out";

  private final YarnClient client;

  private JobApplications(YarnClient client) {
    this.client = client;
  }

  /**
   * An application.
   *
   * @param id such as {@code application_1764457000123_0001}
   * @param state YARN's word for it, such as {@code RUNNING}
   * @param alive whether it has not ended
   */
  public record Found(String id, String state, boolean alive) {}

  /**
   * Connects to the ResourceManager that {@code conf} names.
   *
   * @throws SteleException RETRY_LATER, within seconds, when none answers
   */
  public static JobApplications connect(Configuration conf) {
    Configuration own = new Configuration(conf);
    own.setLong(
        YarnConfiguration.YARN_CLIENT_APPLICATION_CLIENT_PROTOCOL_POLL_TIMEOUT_MS, KILL_WAIT);
    return new JobApplications(YarnSubmitter.client(own));
  }

  /**
   * The application that runs, or ran, what {@code runner} names; none that YARN does not know, and
   * none for another job.
   */
  public List<Found> find(ClusterJob.Runner runner) throws IOException {
    try {
      return switch (runner.kind()) {
        case APPLICATION ->
            List.of(found(client.getApplicationReport(ApplicationId.fromString(runner.name()))));
        case TAG ->
            YarnApplications.firstOf(client.getApplications(null, null, Set.of(runner.name())))
                .map(JobApplications::found)
                .stream()
                .toList();
        case JOB -> List.of();
      };
    } catch (ApplicationNotFoundException | IllegalArgumentException e) {
      return List.of(); // Forgotten, or of something else than YARN.
    } catch (YarnException e) {
      throw new IOException("cannot ask YARN for " + runner.name(), e);
    }
  }

  private static Found found(ApplicationReport report) {
    return new Found(
        report.getApplicationId().toString(),
        report.getYarnApplicationState().name(),
        ClusterApplications.ALIVE.contains(report.getYarnApplicationState()));
  }

  /** Tells YARN to kill an application, which ends soon after; one that has ended stays so. */
  public void kill(String id) throws IOException {
    try {
      client.killApplication(ApplicationId.fromString(id), "by stele job kill");
    } catch (YarnException e) {
      if (!String.valueOf(e.getMessage()).startsWith(NOT_YET)) { // Else YARN was told.
        throw new IOException("cannot have YARN kill " + id, e);
      }
    }
  }

  @Override
  public void close() {
    client.stop();
  }
}
