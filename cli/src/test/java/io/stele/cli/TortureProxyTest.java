package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.stele.cli.embedded.ConnectedProcess;
import io.stele.cli.embedded.EchoServer;
import io.stele.wire.Address;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Processes that reach each other through a relay that is a SOCKS proxy: two are connected to this
 * process, and one to the first of them.
 */
@Timeout(60)
class TortureProxyTest {
  private static final long SELF = ProcessHandle.current().pid();
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private EchoServer server;
  private TortureRelay relay;
  private ConnectedProcess one;
  private ConnectedProcess other;
  private ConnectedProcess caller;

  @BeforeEach
  void start() throws IOException {
    assumeTrue(ProcessSockets.areKnown());
    server = new EchoServer();
    relay = TortureRelay.socks();
    one = connected("one", server.address());
    other = connected("other", server.address());
    caller = connected("caller", "127.0.0.1:" + one.listeningPort());
  }

  private ConnectedProcess connected(String name, String to) throws IOException {
    return ConnectedProcess.startThrough(relay.address(), Path.of("proxied"), name, to);
  }

  @AfterEach
  void stop() throws IOException {
    if (server != null) {
      List.of(one, other, caller).forEach(ConnectedProcess::close);
      relay.close();
      server.close();
    }
  }

  private static void expectNewConnection(ConnectedProcess process) throws IOException {
    process.expect("closed");
    process.expect("connected");
  }

  @Test
  void aProcessThatIsCutOffFromAnotherReachesAllOthers() throws IOException {
    for (ConnectedProcess process : List.of(one, other, caller)) {
      process.expectEcho("before");
    }
    relay.cutApart(Set.of(one.pid()), Set.of(SELF), TortureRelay.Cut.ALL);
    one.sendMuch("lost");
    one.expect("sent");
    other.expectEcho("meanwhile");
    caller.expectEcho("meanwhile"); // It is connected to the one that is cut off from here.

    relay.reconnect();
    expectNewConnection(one);
    for (ConnectedProcess process : List.of(one, other, caller)) {
      process.expectEcho("after");
    }
    assertThat(server.heard()).containsExactly("before", "before", "meanwhile", "after", "after");
  }

  @Test
  void bothSidesAreCutOffWhicheverConnected() throws Exception {
    relay.cutApart(Set.of(one.pid()), Set.of(caller.pid()), TortureRelay.Cut.ALL);
    caller.send("lost");
    caller.expect("sent");
    one.expectEcho("meanwhile"); // It is also connected to this process.
    relay.reconnect();
    expectNewConnection(caller);
    caller.expectEcho("after");

    relay.cutApart(Set.of(caller.pid()), Set.of(one.pid()), TortureRelay.Cut.ALL);
    caller.connectAgain();
    caller.expect("closed");
    Await.until(PATIENCE, "the new connection is held", () -> relay.cutConnections() == 2);
    one.expectEcho("meanwhile");
    relay.reconnect();
    caller.expect("connected");
    caller.expectEcho("after");
  }

  @Test
  void answersMayBeLostOfNewConnectionsToo() throws Exception {
    relay.cutApart(Set.of(SELF), Set.of(one.pid()), TortureRelay.Cut.ANSWERS);
    one.send("asked");
    one.expect("sent");
    Await.until(PATIENCE, "it was heard", () -> server.heard().equals(List.of("asked")));
    one.connectAgain();
    expectNewConnection(one);
    one.send("asked again");
    one.expect("sent");
    Await.until(
        PATIENCE, "it was heard", () -> server.heard().equals(List.of("asked", "asked again")));

    relay.reconnect();
    expectNewConnection(one); // Without having heard an answer.
    one.expectEcho("after");
  }

  @Test
  void itIsToldWhereToGoByNameTooAndWhatIsNotThereIsRefused() throws IOException {
    Proxy proxy = new Proxy(Proxy.Type.SOCKS, address(relay.address()));
    int port = address(server.address()).getPort();
    try (Socket socket = new Socket(proxy)) {
      socket.connect(InetSocketAddress.createUnresolved("localhost", port));
      socket.getOutputStream().write("by name\n".getBytes());
      assertThat(socket.getInputStream().readNBytes(8)).asString().isEqualTo("by name\n");
    }
    server.close();
    try (Socket socket = new Socket(proxy)) {
      assertThatThrownBy(() -> socket.connect(address("127.0.0.1:" + port)))
          .isInstanceOf(SocketException.class)
          .hasMessageContaining("refused");
    }
  }

  private static InetSocketAddress address(String text) {
    Address address = Address.parse(text);
    return new InetSocketAddress(address.host(), address.port());
  }

  @Test
  void requestsHaveAddressesOfBothKindsAndNothingElseIsUnderstood() throws IOException {
    byte[] toIpv6 = {5, 1, 0, 5, 1, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2};
    assertThat(read(toIpv6)).isEqualTo(new Address("0:0:0:0:0:0:0:1", 258));
    byte[] toIpv4 = {5, 2, 0, 2, 5, 1, 0, 1, 10, 0, 0, 1, 1, 2};
    assertThat(read(toIpv4)).isEqualTo(new Address("10.0.0.1", 258));
    assertThatThrownBy(() -> read(new byte[] {4, 1, 0, 80, 10, 0, 0, 1, 0}))
        .hasMessage("only SOCKS version 5 is known, not 4");
    assertThatThrownBy(() -> read(new byte[] {5, 1, 0, 5, 2, 0, 1, 10, 0, 0, 1, 1, 2}))
        .hasMessage("only SOCKS command 1 is known, not 2");
  }

  private static Address read(byte[] said) throws IOException {
    try (ServerSocket door = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
        Socket client = new Socket(door.getInetAddress(), door.getLocalPort());
        Socket accepted = door.accept()) {
      client.getOutputStream().write(said);
      return SocksRequest.read(accepted);
    }
  }
}
