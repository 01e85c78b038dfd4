package io.stele.lock;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The lock service on a real ZooKeeper server. */
class CuratorLockServiceTest extends LockServiceContract {
  private static final Duration SESSION = Duration.ofSeconds(8);

  private TestingServer server;

  @BeforeEach
  void start() throws Exception {
    server = new TestingServer(true);
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  @Override
  LockService connect() throws IOException {
    return CuratorLockService.connect(server.getConnectString(), "test", SESSION);
  }

  // A second connection to the same session, closed: the servers end the session.
  @Override
  void expire(LockService service) throws Exception {
    ZooKeeper handle = ((CuratorLockService) service).handle();
    CountDownLatch connected = new CountDownLatch(1);
    ZooKeeper twin =
        new ZooKeeper(
            server.getConnectString(),
            (int) SESSION.toMillis(),
            event -> connected.countDown(),
            handle.getSessionId(),
            handle.getSessionPasswd());
    connected.await();
    twin.close();
  }

  @Override
  void interrupt() throws Exception {
    server.stop();
  }

  @Override
  void resume() throws Exception {
    server.restart();
  }

  @Test
  void nobodyThereIsSaidInTime() {
    int port = 1 + new Random().nextInt(1023);
    assertThatThrownBy(
            () -> CuratorLockService.connect("localhost:" + port, "test", Duration.ofSeconds(1)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("stele.zookeeper.quorum");
  }
}
