package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.ClusterStatus;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which servers {@code stele server restart} does not touch. */
class ServerCommandTest {
  private static final ServerId RESTARTED = new ServerId("host", 1, 1);
  private static final ServerId OTHER = new ServerId("host", 2, 1);

  private static ClusterStatus.Server server(ServerId id, boolean draining) {
    return new ClusterStatus.Server(id, Optional.empty(), 1, 0, 0, Optional.empty(), draining);
  }

  private static ClusterStatus status(ClusterStatus.Server... servers) {
    return new ClusterStatus(
        "host:9",
        Optional.empty(),
        List.of(servers),
        0,
        2,
        0,
        true,
        List.of(),
        List.of(),
        List.of());
  }

  @Test
  void theOnlyServerThatTakesTabletsIsNotRestarted() {
    for (boolean draining : List.of(true, false)) {
      assertThatThrownBy(
              () ->
                  ServerCommand.requireAnother(
                      RESTARTED, status(server(RESTARTED, draining), server(OTHER, true))))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("no other server takes the tablets of host:1");
    }
    assertThatCode(
            () ->
                ServerCommand.requireAnother(
                    RESTARTED, status(server(RESTARTED, false), server(OTHER, false))))
        .doesNotThrowAnyException();
  }

  @Test
  void aFailureNamesTheServersThatWereRestartedAndThoseThatWereNot() {
    SteleException failure = SteleException.retryLater("2 servers take tablets");
    assertThat(ServerCommand.withThoseDone(failure, List.of(RESTARTED, OTHER), 1))
        .hasMessage("2 servers take tablets. Restarted: host:1. Still to be restarted: host:2")
        .satisfies(told -> assertThat(told.code()).isEqualTo(SteleException.Code.RETRY_LATER));
    assertThat(ServerCommand.withThoseDone(failure, List.of(RESTARTED, OTHER), 0))
        .hasMessage("2 servers take tablets. Still to be restarted: host:1, host:2");
    assertThat(ServerCommand.withThoseDone(failure, List.of(RESTARTED), 0)).isSameAs(failure);
  }
}
