package io.stele.yarn;

import io.stele.metadata.Attempts;
import io.stele.model.SteleException;
import io.stele.wire.Address;
import io.stele.wire.ControlClient;
import io.stele.wire.ControlPlane;
import io.stele.wire.application.ApplicationProtos.StatusRequestProto;
import io.stele.wire.application.ApplicationProtos.StatusResponseProto;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks YARN and ApplicationMasters about our applications, and makes requests of the latter.
 *
 * <p>Calls block. For use by one thread.
 */
final class ApplicationAsker {
  private static final Logger LOG = LoggerFactory.getLogger(ApplicationAsker.class);
  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(5);

  private final Configuration conf;
  private final String applicationName;
  private final YarnClient client;

  /**
   * @param applicationName what our application is called where YARN does not say
   */
  ApplicationAsker(Configuration conf, String applicationName, YarnClient client) {
    this.conf = conf;
    this.applicationName = applicationName;
    this.client = client;
  }

  <T> T call(ApplicationReport report, ControlPlane.Call<ApplicationProtocol, T> call)
      throws IOException {
    try (ControlClient<ApplicationProtocol> master = masterOf(report)) {
      return master.call(call);
    }
  }

  ControlClient<ApplicationProtocol> masterOf(ApplicationReport report) throws IOException {
    if (report.getHost() == null || report.getRpcPort() <= 0) {
      throw SteleException.retryLater(
          report.getApplicationId()
              + " has no ApplicationMaster now: YARN starts another one; the servers keep running");
    }
    Address address = new Address(report.getHost(), report.getRpcPort());
    return ControlClient.connect(conf, address, ApplicationProtocol.class, CALL_TIMEOUT);
  }

  ApplicationReport report(ApplicationId id) throws IOException {
    try {
      return client.getApplicationReport(id);
    } catch (ApplicationNotFoundException e) {
      throw new SteleException(SteleException.Code.NOT_FOUND, "YARN knows no application " + id, e);
    } catch (YarnException e) {
      throw new IOException("cannot get a report on " + id + " from YARN", e);
    }
  }

  /** Empty if no ResourceManager answers now, unless it is asked for the last time. */
  Optional<ApplicationReport> reportIfKnown(ApplicationId id, boolean isLast) throws IOException {
    try {
      return Optional.of(report(id));
    } catch (SteleException e) {
      if (isLast || e.code() != SteleException.Code.RETRY_LATER) {
        throw e;
      }
      LOG.info("Nothing is known of {} now: {}", id, e.getMessage());
      return Optional.empty();
    }
  }

  /** The same for a loop that has a deadline: if no ResourceManager answers, nothing is known. */
  ApplicationStatus statusIfKnown(ApplicationId id) throws IOException {
    try {
      return statusOf(report(id));
    } catch (SteleException e) {
      if (e.code() != SteleException.Code.RETRY_LATER) {
        throw e;
      }
      return new ApplicationStatus(
          id,
          applicationName,
          YarnApplicationState.RUNNING.name(),
          "",
          String.valueOf(e.getMessage()),
          false,
          false,
          0,
          "",
          List.of());
    }
  }

  ApplicationStatus statusOf(ApplicationReport report) {
    List<ComponentStatus> components = List.of();
    boolean reachable = false;
    boolean stopping = false;
    int notDrained = 0;
    String deployment = "";
    if (report.getYarnApplicationState() == YarnApplicationState.RUNNING) {
      try {
        StatusResponseProto status =
            call(report, service -> service.status(null, StatusRequestProto.getDefaultInstance()));
        stopping = status.getStopping();
        notDrained = status.getNotDrained();
        deployment =
            status.hasDeployment() ? Deployment.of(status.getDeployment()).files() : deployment;
        components =
            status.getComponentsList().stream()
                .map(
                    c ->
                        new ComponentStatus(
                            c.getId(),
                            c.getState(),
                            c.getContainer(),
                            c.getNode(),
                            c.getRestarts(),
                            c.getNote(),
                            c.getOutdated(),
                            c.getFailures(),
                            c.getLastExit()))
                .toList();
        reachable = true;
      } catch (IOException | SteleException e) {
        // Between two attempts nobody answers; the status says so.
        reachable = false;
      }
    }
    return new ApplicationStatus(
        report.getApplicationId(),
        report.getName(),
        stateOf(report),
        pageOf(report),
        Optional.ofNullable(report.getDiagnostics()).orElse(""),
        reachable,
        stopping,
        notDrained,
        deployment,
        components);
  }

  /** YARN calls an application that unregistered finished, even if it unregistered as failed. */
  private static String stateOf(ApplicationReport report) {
    return report.getYarnApplicationState() == YarnApplicationState.FINISHED
            && report.getFinalApplicationStatus() == FinalApplicationStatus.FAILED
        ? YarnApplicationState.FAILED.name()
        : report.getYarnApplicationState().name();
  }

  /** YARN's proxy, or the page itself where the proxy has no port, as in an embedded YARN. */
  private static String pageOf(ApplicationReport report) {
    return Stream.of(report.getTrackingUrl(), report.getOriginalTrackingUrl())
        .filter(url -> url != null && !url.equals("N/A") && !url.contains(":0/"))
        .findFirst()
        .orElse("");
  }

  /** What is known of a request to the ApplicationMaster that failed: it may have reached it. */
  static IOException unanswered(ApplicationReport report, IOException failure) {
    if (failure instanceof RemoteException) {
      return failure;
    }
    throw Attempts.wasNotReached(failure)
        ? new SteleException(
            SteleException.Code.RETRY_LATER,
            "the ApplicationMaster of " + report.getApplicationId() + " does not answer",
            failure)
        : SteleException.outcomeUnknown(
            "the ApplicationMaster of "
                + report.getApplicationId()
                + " did not answer in time: ask again, which changes nothing if it was done",
            failure);
  }
}
