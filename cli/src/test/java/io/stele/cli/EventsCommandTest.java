package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.ClusterStatus;
import io.stele.client.TabletEvent;
import io.stele.model.ServerId;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class EventsCommandTest {
  private static final Instant TIME = Instant.parse("2026-11-23T12:00:00Z");
  private static final ServerId DEAD = new ServerId("node7", 41231, 1);
  private static final ServerId OTHER = new ServerId("node8", 41231, 1);

  private static ClusterStatus.Recovery recovery(ServerId server) {
    return new ClusterStatus.Recovery(
        server.toString(),
        new ClusterStatus.Recovery.Loss(TIME.plusSeconds(60), Optional.of(Duration.ofMillis(900))),
        2,
        List.of(
            new ClusterStatus.Recovery.Stage("closing its log", Duration.ofMillis(300)),
            new ClusterStatus.Recovery.Stage("sorting its log", Duration.ofMillis(1200))),
        Optional.of(Duration.ofMillis(1100)),
        true);
  }

  private static TabletEvent event(ServerId server) {
    return new TabletEvent(TIME, "t1/a1", "loaded", 3, Optional.of(server));
  }

  @Test
  void whatTheTimeOfARecoveryWentIntoIsShownBelowTheEventsOfItsServer() {
    StringWriter text = new StringWriter();
    EventsCommand.print(
        List.of(event(DEAD)), List.of(recovery(DEAD), recovery(OTHER)), new PrintWriter(text));
    assertThat(text.toString())
        .contains(
            "t1/a1   3      node7:41231  loaded",
            "server node7_41231_1 was lost at 2026-11-23T12:01:00Z, at most 0.9 s after its end; its 2 tablets were served again"
                + " after 1.5 s, the first after 1.1 s (closing its log 0.3 s, sorting its log 1.2 s)")
        .doesNotContain("node8");
  }
}
