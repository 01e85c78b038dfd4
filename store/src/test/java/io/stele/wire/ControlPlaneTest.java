package io.stele.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.CorruptionException;
import io.stele.model.SteleException;
import io.stele.wire.control.ControlProtos.ChangeIdProto;
import io.stele.wire.control.ControlProtos.CreateTableRequestProto;
import io.stele.wire.control.ControlProtos.MasterService;
import io.stele.wire.control.ControlProtos.TableChangeProto;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.net.ConnectTimeoutException;
import org.apache.hadoop.net.SocksSocketFactory;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The control plane over loopback. */
final class ControlPlaneTest {
  private static final CreateTableRequestProto REQUEST =
      CreateTableRequestProto.newBuilder()
          .setSchema(ByteString.copyFromUtf8("schema"))
          .setChange(ChangeIdProto.newBuilder().setId("change").setSeen(0))
          .build();

  private final Configuration conf = new Configuration();
  private Callable<TableChangeProto> behaviour = TableChangeProto::getDefaultInstance;
  private ControlServer server;

  @BeforeEach
  void start() throws IOException {
    // Whatever methods the service has: all do the one thing the test asks for.
    MasterService.BlockingInterface master =
        (MasterService.BlockingInterface)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {MasterService.BlockingInterface.class},
                (proxy, method, arguments) -> behaviour.call());
    server =
        ControlServer.start(
            conf,
            new Address("127.0.0.1", 0),
            2,
            MasterProtocol.class,
            MasterService.newReflectiveBlockingService(master));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void answersCrossTheWire() throws IOException {
    behaviour = () -> TableChangeProto.newBuilder().setTableId("t7").setDone(true).build();
    assertThat(create(Duration.ofSeconds(10)).getTableId()).isEqualTo("t7");
  }

  @ParameterizedTest
  @EnumSource
  void ourExceptionsArriveAsTheyWereThrown(SteleException.Code code) {
    String message = "table \"web: page\" is\n not there; create it";
    behaviour =
        () -> {
          throw new SteleException(code, message);
        };
    assertThatThrownBy(() -> create(Duration.ofSeconds(10)))
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> {
              assertThat(e.code()).isEqualTo(code);
              assertThat(e).hasMessage(message);
            });
    behaviour =
        () -> {
          throw new ServiceException(new SteleException(code, message));
        };
    assertThatThrownBy(() -> create(Duration.ofSeconds(10)))
        .isInstanceOf(SteleException.class)
        .hasMessage(message);
  }

  @Test
  void damageArrivesAsCorruption() {
    behaviour =
        () -> {
          throw new ServiceException(new CorruptionException("/stele/x.sst", 42, "a bit"));
        };
    assertThatThrownBy(() -> create(Duration.ofSeconds(10)))
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.CORRUPTION))
        .hasMessageContaining("/stele/x.sst")
        .hasMessageContaining("42");
  }

  @Test
  void otherFailuresArriveAsRemoteExceptions() {
    behaviour =
        () -> {
          throw new ServiceException(new IOException("the disk is full"));
        };
    assertThatThrownBy(() -> create(Duration.ofSeconds(10)))
        .isInstanceOf(RemoteException.class)
        .hasMessageContaining("the disk is full");
    behaviour =
        () -> {
          throw new IllegalStateException("a bug");
        };
    assertThatThrownBy(() -> create(Duration.ofSeconds(10)))
        .isInstanceOf(RemoteException.class)
        .hasMessageContaining("a bug");
  }

  @Test
  void aServerThatIsNotThereFailsTheCallAtOnce() throws IOException {
    int port;
    try (ServerSocket socket = new ServerSocket(0)) {
      port = socket.getLocalPort();
    }
    long begin = System.nanoTime();
    try (var client = client(port, Duration.ofSeconds(60))) {
      assertThatThrownBy(() -> client.call(m -> m.createTable(null, REQUEST)))
          .isInstanceOf(ConnectException.class);
    }
    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(50));
  }

  @Test
  void aCallThatTakesTooLongFails() {
    CountDownLatch done = new CountDownLatch(1);
    behaviour =
        () -> {
          done.await();
          return TableChangeProto.newBuilder().setTableId("late").setDone(true).build();
        };
    assertThatThrownBy(() -> create(Duration.ofMillis(300)))
        .isInstanceOf(SocketTimeoutException.class);
    done.countDown();
  }

  @Test
  void aSocketFactoryMayBeSetForOneProtocol() throws IOException {
    behaviour = () -> TableChangeProto.newBuilder().setTableId("t7").setDone(true).build();
    try (ServerSocket socket = new ServerSocket(0)) {
      conf.set("hadoop.socks.server", "127.0.0.1:" + socket.getLocalPort());
    }
    conf.set(
        "hadoop.rpc.socket.factory.class.TabletServerProtocol", SocksSocketFactory.class.getName());
    create(Duration.ofSeconds(10));
    conf.set("hadoop.rpc.socket.factory.class.MasterProtocol", SocksSocketFactory.class.getName());
    assertThatThrownBy(() -> create(Duration.ofSeconds(10))).isInstanceOf(SocketException.class);
  }

  @Test
  void aHostThatIsSilentFailsTheCallAfterOurTimeToConnectWhoeverElseConnects() throws Exception {
    // Hadoop RPC has a client with its own, longer time limit by then, as that of HDFS is.
    Configuration others = new Configuration(conf);
    RPC.setProtocolEngine(others, MasterProtocol.class, ProtobufRpcEngine2.class);
    MasterProtocol first =
        RPC.getProxy(
            MasterProtocol.class, 1, new InetSocketAddress("127.0.0.1", server.port()), others);
    List<Socket> waiting = new ArrayList<>();
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      while (isConnected(silent, waiting)) {} // Until its queue is full, and it hears no more.
      long begin = System.nanoTime();
      try (var client = client(silent.getLocalPort(), Duration.ofSeconds(60))) {
        assertThatThrownBy(() -> client.call(m -> m.createTable(null, REQUEST)))
            .isInstanceOf(ConnectTimeoutException.class);
      }
      assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(15));
    } finally {
      RPC.stopProxy(first);
      for (Socket socket : waiting) {
        socket.close();
      }
    }
  }

  private static boolean isConnected(ServerSocket to, List<Socket> sockets) throws IOException {
    Socket socket = new Socket();
    sockets.add(socket);
    try {
      socket.connect(to.getLocalSocketAddress(), 300);
      return true;
    } catch (SocketTimeoutException e) {
      return false;
    }
  }

  private TableChangeProto create(Duration timeout) throws IOException {
    try (var client = client(server.port(), timeout)) {
      return client.call(m -> m.createTable(null, REQUEST));
    }
  }

  private ControlClient<MasterProtocol> client(int port, Duration timeout) throws IOException {
    return ControlClient.connect(
        conf, new Address("127.0.0.1", port), MasterProtocol.class, timeout);
  }
}
