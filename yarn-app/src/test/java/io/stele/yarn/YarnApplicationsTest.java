package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.master.Applications;
import io.stele.metadata.JobNodes;
import io.stele.model.SteleException;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.util.Records;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT) // They wait for ResourceManagers that do not answer.
class YarnApplicationsTest {
  private static final String APPLICATION = "application_1600000000000_0007";

  @Test
  void anApplicationIsAliveUntilYarnSaysThatItHasEnded() {
    for (YarnApplicationState state : YarnApplicationState.values()) {
      assertThat(YarnApplications.of(state))
          .as(state.toString())
          .isEqualTo(
              ClusterApplications.ALIVE.contains(state)
                  ? Applications.State.ALIVE
                  : Applications.State.ENDED);
    }
  }

  private static ApplicationReport report(int number, YarnApplicationState state) {
    ApplicationReport report = Records.newRecord(ApplicationReport.class);
    report.setApplicationId(ApplicationId.newInstance(1_600_000_000_000L, number));
    report.setYarnApplicationState(state);
    return report;
  }

  @Test
  void aJobThatHasTheTagOfAnotherDoesNotKeepThatAlive() {
    ApplicationReport failed = report(1, YarnApplicationState.FAILED);
    ApplicationReport copy = report(2, YarnApplicationState.RUNNING);
    assertThat(YarnApplications.of(List.of())).isEqualTo(Applications.State.UNKNOWN);
    assertThat(YarnApplications.of(List.of(copy))).isEqualTo(Applications.State.ALIVE);
    assertThat(YarnApplications.of(List.of(copy, failed))).isEqualTo(Applications.State.ENDED);
    assertThat(YarnApplications.firstOf(List.of(copy, failed))).contains(failed);
  }

  @Test
  void whereNoResourceManagerIsNamedNobodyIsAsked() {
    assertThat(Applications.find(new Configuration(), SystemRuntime.INSTANCE))
        .isSameAs(Applications.NONE);
  }

  /** It accepts connections, as far as clients can tell, and never answers. */
  @Test
  @Timeout(60)
  void aResourceManagerThatHangsIsGivenUpInTime() throws IOException {
    Configuration conf = new Configuration();
    try (ServerSocket hung = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      conf.set(YarnConfiguration.RM_ADDRESS, "localhost:" + hung.getLocalPort());
      try (Applications yarn = Applications.find(conf, SystemRuntime.INSTANCE)) {
        assertThat(yarn.state(APPLICATION)).isEqualTo(Applications.State.UNKNOWN);
      }
    }
  }

  @Test
  @Timeout(60)
  void aCommandSaysThatTheResourceManagerDoesNotAnswer() throws IOException {
    Configuration conf = new Configuration();
    try (ServerSocket hung = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      conf.set(YarnConfiguration.RM_ADDRESS, "localhost:" + hung.getLocalPort());
      try (YarnSubmitter submitter = YarnSubmitter.connect(conf)) {
        assertThatThrownBy(() -> submitter.status(ApplicationId.newInstance(1, 1)))
            .isInstanceOfSatisfying(
                SteleException.class,
                e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER))
            .hasMessageContaining("no YARN ResourceManager answers at localhost:");
      }
    }
  }

  @Test
  void anApplicationOfAResourceManagerThatCannotBeReachedIsUnknown() throws IOException {
    Configuration conf = new Configuration();
    try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      conf.set(YarnConfiguration.RM_ADDRESS, "localhost:" + closed.getLocalPort());
    }
    try (Applications yarn = Applications.find(conf, SystemRuntime.INSTANCE)) {
      assertThat(yarn).isInstanceOf(YarnApplications.class);
      assertThat(yarn.state(APPLICATION)).isEqualTo(Applications.State.UNKNOWN);
      assertThat(yarn.state(APPLICATION)).isEqualTo(Applications.State.UNKNOWN);
      assertThat(yarn.state(JobNodes.TAG + "stele-1")).isEqualTo(Applications.State.UNKNOWN);
      assertThat(yarn.state("no-application")).isEqualTo(Applications.State.UNKNOWN);
    }
  }
}
