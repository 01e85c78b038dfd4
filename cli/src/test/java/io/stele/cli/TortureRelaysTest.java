package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.cli.embedded.EchoServer;
import io.stele.config.Keys;
import io.stele.wire.Address;
import io.stele.wire.ControlClient;
import io.stele.wire.ControlServer;
import io.stele.wire.MasterProtocol;
import io.stele.wire.control.ControlProtos.ClusterStatusResponseProto;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.MasterService;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls of a cluster's control plane through the relay. */
@Timeout(60)
class TortureRelaysTest {
  private final AtomicInteger executed = new AtomicInteger();
  private Configuration conf;
  private EchoServer service; // In the place of ZooKeeper and the NameNode.
  private TortureRelays relays;
  private ControlServer server;
  private Address address;

  @BeforeEach
  void start() throws IOException {
    service = new EchoServer();
    Configuration all = new Configuration();
    all.set("fs.defaultFS", "hdfs://" + service.address());
    all.set(Keys.ZOOKEEPER_QUORUM.name(), service.address());
    relays = TortureRelays.before(all);
    conf = relays.ofCluster(all);
    MasterService.BlockingInterface master =
        (MasterService.BlockingInterface)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {MasterService.BlockingInterface.class},
                (proxy, method, arguments) -> {
                  executed.incrementAndGet();
                  return ClusterStatusResponseProto.newBuilder().setMaster("m").build();
                });
    server =
        ControlServer.start(
            conf,
            new Address("127.0.0.1", 0),
            2,
            MasterProtocol.class,
            MasterService.newReflectiveBlockingService(master));
    address = new Address("127.0.0.1", server.port());
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
    relays.control().close();
    relays.nameNode().close();
    relays.zookeeper().close();
    service.close();
  }

  private void call(Duration timeout) throws IOException {
    try (var client = ControlClient.connect(conf, address, MasterProtocol.class, timeout)) {
      client.call(m -> m.clusterStatus(null, EmptyProto.getDefaultInstance()));
    }
  }

  @Test
  void callsGoThroughTheRelayAndAreCutByIt() throws Exception {
    call(Duration.ofSeconds(30));
    assertThat(executed).hasValue(1);
    relays.control().cutEverybody(TortureRelay.Cut.ANSWERS);
    assertThatThrownBy(() -> call(Duration.ofSeconds(1)))
        .isInstanceOf(SocketTimeoutException.class);
    Await.until(Duration.ofSeconds(30), "it is executed", () -> executed.get() == 2);
    relays.control().reconnect();

    relays.control().cutEverybody(TortureRelay.Cut.ALL);
    assertThatThrownBy(() -> call(Duration.ofSeconds(1)))
        .isInstanceOf(SocketTimeoutException.class); // It gives up to connect after 5 s.
    relays.control().reconnect();
    call(Duration.ofSeconds(30));
    assertThat(executed).hasValue(3);
  }

  @Test
  void aServerThatIsNotThereFailsTheCall() {
    server.close();
    assertThatThrownBy(() -> call(Duration.ofSeconds(30)))
        .isInstanceOf(SocketException.class)
        .hasMessageContaining("refused");
  }
}
