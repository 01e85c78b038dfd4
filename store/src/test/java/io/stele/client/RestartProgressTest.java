package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.ServerId;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** When the restart of a server is over, or its draining. */
final class RestartProgressTest {
  private static final ServerId RESTARTED = new ServerId("host", 1, 99);

  private static ClusterStatus.Server server(ServerId id, boolean draining) {
    return new ClusterStatus.Server(id, Optional.empty(), 1, 0, 0, Optional.empty(), draining);
  }

  private static ClusterStatus status(
      int servers, int unassigned, ClusterStatus.Troubled... troubled) {
    return status(
        IntStream.range(0, servers)
            .mapToObj(i -> server(new ServerId("host", 1, i), false))
            .toList(),
        unassigned,
        troubled);
  }

  private static ClusterStatus status(
      List<ClusterStatus.Server> servers, int unassigned, ClusterStatus.Troubled... troubled) {
    return new ClusterStatus(
        "master:1",
        Optional.empty(),
        servers,
        1,
        9,
        unassigned,
        true,
        List.of(troubled),
        List.of(),
        List.of());
  }

  private static boolean isOver(ClusterStatus now) {
    return ClusterChangeRequests.left(RESTARTED, 2, now).done();
  }

  @Test
  void itWaitsForAsManyServersAndForEveryTabletThatCanBeServed() {
    assertThat(isOver(status(1, 0))).isFalse();
    assertThat(isOver(status(2, 1))).isFalse();
    assertThat(isOver(status(2, 0))).isTrue();
  }

  @Test
  void itDoesNotWaitForTabletsThatAnOperatorMustRelease() {
    var quarantined = new ClusterStatus.Troubled("t.1", false, true, "a file is gone");
    var retried = new ClusterStatus.Troubled("t.2", false, false, "HDFS is slow");
    assertThat(isOver(status(2, 1, quarantined))).isTrue();
    assertThat(isOver(status(2, 2, quarantined, retried))).isFalse();
  }

  @Test
  void aDrainOfAServerThatEndsWaitsUntilItsTabletsAreServed() {
    assertThat(ClusterChangeRequests.left(RESTARTED, status(2, 3)).done()).isFalse();
    assertThat(ClusterChangeRequests.left(RESTARTED, status(2, 3)).waitsFor())
        .isEqualTo("it has ended, and 3 tablets are not served yet");
    assertThat(ClusterChangeRequests.left(RESTARTED, status(2, 0)).done()).isTrue();
  }
}
