package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.stele.cli.embedded.ConnectedProcess;
import io.stele.cli.embedded.EchoServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two processes, a relay and what it stands before. */
@Timeout(60)
class TortureRelayTest {
  private EchoServer server;
  private TortureRelay relay;
  private ConnectedProcess one;
  private ConnectedProcess other;

  @BeforeEach
  void start() throws IOException {
    assumeTrue(ProcessSockets.areKnown());
    server = new EchoServer();
    relay = TortureRelay.to(server.address());
    one = ConnectedProcess.start(Path.of("relayed"), "one", relay.address());
    other = ConnectedProcess.start(Path.of("relayed"), "other", relay.address());
  }

  @AfterEach
  void stop() throws IOException {
    if (server != null) {
      one.close();
      other.close();
      relay.close();
      server.close();
    }
  }

  @Test
  void aProcessThatIsCutOffIsNotHeardNorHearsAndAllOthersAre() throws IOException {
    one.expectEcho("before");
    relay.cutOff(Set.of(one.pid()));
    one.sendMuch("lost"); // To the end only if somebody reads it.
    one.expect("sent");
    other.expectEcho("meanwhile");
    server.hangUp(); // Which only the other one hears of.
    other.expect("closed");
    other.expect("connected");
    other.expectEcho("again");

    relay.reconnect();
    one.expect("closed");
    one.expect("connected");
    one.expectEcho("after");
    assertThat(server.heard()).containsExactly("before", "meanwhile", "again", "after");
  }

  @Test
  void aNewConnectionOfAProcessThatIsCutOffIsHeldUntilTheEnd() throws IOException {
    one.expectEcho("before");
    other.expectEcho("before");
    relay.cutOff(Set.of(one.pid()));
    one.connectAgain();
    one.expect("closed");
    one.expect("connected");
    one.send("lost");
    one.expect("sent");
    // Connections are accepted in turn: once this one is forwarded the one before it is held.
    other.connectAgain();
    other.expect("closed");
    other.expect("connected");
    other.expectEcho("meanwhile");
    assertThat(server.connections()).isEqualTo(3);

    relay.reconnect();
    one.expect("closed");
    one.expect("connected");
    one.expectEcho("after");
    assertThat(server.heard()).containsExactly("before", "before", "meanwhile", "after");
    assertThat(server.connections()).isEqualTo(4);
  }

  @Test
  void everybodyMayBeCutOff() throws Exception {
    one.expectEcho("before");
    relay.cutEverybody(TortureRelay.Cut.ALL);
    one.sendMuch("lost");
    one.expect("sent");
    other.connectAgain();
    other.expect("closed");
    other.expect("connected");
    other.send("lost");
    other.expect("sent");
    Await.until(
        Duration.ofSeconds(30), "the new connection is held", () -> relay.connections() == 3);

    relay.reconnect();
    for (ConnectedProcess process : List.of(one, other)) {
      process.expect("closed");
      process.expect("connected");
      process.expectEcho("after");
    }
    assertThat(server.heard()).containsExactly("before", "after", "after");
  }

  @Test
  void answersMayBeLost() throws Exception {
    one.expectEcho("before");
    relay.cutEverybody(TortureRelay.Cut.ANSWERS);
    one.send("asked");
    one.expect("sent");
    Await.until(
        Duration.ofSeconds(30),
        "the service heard it",
        () -> server.heard().equals(List.of("before", "asked")));

    relay.reconnect();
    one.expect("closed"); // Without having heard an answer.
    one.expect("connected");
    one.expectEcho("after");
    assertThat(server.heard()).containsExactly("before", "asked", "after");
  }

  @Test
  void aServiceThatIsAwayClosesConnectionsOfTheRelayToo() throws IOException {
    one.expectEcho("before");
    server.hangUp();
    one.expect("closed");
    one.expect("connected");
    one.expectEcho("after");
  }

  @Test
  void socketsOfAProcessAreKnown() throws IOException {
    int port = Integer.parseInt(relay.address().split(":")[1]);
    assertThat(ProcessSockets.of(one.pid()))
        .contains(ProcessSockets.TcpSocket.listening(one.listeningPort()))
        .anyMatch(socket -> socket.remotePort() == port);
    assertThat(ProcessSockets.of(other.pid()))
        .doesNotContain(ProcessSockets.TcpSocket.listening(one.listeningPort()));
    assertThat(ProcessSockets.of(Long.MAX_VALUE)).isEmpty();
  }
}
