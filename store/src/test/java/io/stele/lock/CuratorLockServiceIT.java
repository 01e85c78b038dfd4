package io.stele.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.Ports;
import io.stele.model.Bytes;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The lock service on a real ZooKeeper server. */
@Execution(ExecutionMode.CONCURRENT) // They wait for sessions to end.
class CuratorLockServiceIT extends LockServiceContract {
  private static final Duration SESSION = Duration.ofSeconds(8);

  private TestingServer server;

  @BeforeEach
  void start() throws Exception {
    server = new TestingServer(Ports.free(), true);
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  @Override
  LockService connect() throws IOException {
    return CuratorLockService.connect(
        SystemRuntime.INSTANCE, server.getConnectString(), "test", SESSION);
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
    assertThatThrownBy(
            () ->
                CuratorLockService.connect(
                    SystemRuntime.INSTANCE, "localhost:1", "test", Duration.ofSeconds(1)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("stele.zookeeper.quorum");
  }

  @Test
  void aChangeWhoseAnswerWasLostIsResolvedByReadingAgain() throws Exception {
    Bytes a = Bytes.of("a");
    Bytes b = Bytes.of("b");
    try (AnswerLosingProxy proxy = new AnswerLosingProxy(server.getPort());
        LockService locks =
            CuratorLockService.connect(
                SystemRuntime.INSTANCE, "localhost:" + proxy.port(), "test", SESSION);
        LockService other = connect()) {
      locks.create("warm/up", a); // The nodes above are there.
      proxy.loseNextAnswer();
      locks.create("x", a);
      assertThat(other.read("x")).contains(new VersionedData(a, 0));
      proxy.loseNextAnswer();
      assertThat(locks.write("x", b, 0)).isEqualTo(OptionalInt.of(1));
      assertThat(other.read("x")).contains(new VersionedData(b, 1));
      proxy.loseNextAnswer();
      assertThat(locks.write("x", a, 0)).isEmpty();
      proxy.loseNextAnswer();
      assertThat(locks.delete("x", 1)).isTrue();
      assertThat(other.read("x")).isEmpty();
      proxy.loseNextAnswer();
      Lock lock = locks.tryLock("lock", a).orElseThrow();
      assertThat(other.tryLock("lock", b)).isEmpty();
      proxy.loseNextAnswer();
      assertThatThrownBy(lock::renew)
          .isInstanceOf(IOException.class)
          .isNotInstanceOf(LockLostException.class);
      awaitRenewal(lock);
      assertThat(lock.isHeld()).isTrue();
      assertThat(proxy.lost()).isEqualTo(6);
    }
  }

  /** The first attempt may be applied after the node was read. */
  @Test
  void aChangeIsNotSaidToBeRefusedWhenItsFirstAttemptWasApplied() throws Exception {
    try (LockService locks = connect();
        ZooKeeperConnection connection =
            new ZooKeeperConnection(
                SystemRuntime.INSTANCE, server.getConnectString(), "/stele/test", SESSION)) {
      locks.create("x", Bytes.of("a"));
      connection.start(SESSION, () -> {});
      AtomicInteger attempts = new AtomicInteger();
      AtomicInteger reads = new AtomicInteger();
      int version =
          connection.change(
              "x",
              zk -> {
                zk.setData(connection.full("x"), new byte[] {'b'}, 0);
                if (attempts.incrementAndGet() == 1) {
                  throw new KeeperException.ConnectionLossException();
                }
                return -1;
              },
              refusal -> -1,
              node ->
                  reads.incrementAndGet() == 1
                      ? Optional.empty()
                      : node.map(VersionedData::version));
      assertThat(version).isEqualTo(1);
      assertThat(reads).hasValue(2);
    }
  }

  @Test
  void aPathOfTheQuorumThatIsNotThereIsNotTakenForANodeThatIs() throws Exception {
    try (LockService locks =
        CuratorLockService.connect(
            SystemRuntime.INSTANCE, server.getConnectString() + "/absent", "test", SESSION)) {
      assertThat(locks.read("x")).isEmpty();
      assertThatThrownBy(() -> locks.create("x", Bytes.of("a")))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("ZooKeeper refuses");
    }
  }

  @Test
  void nodesAreReadWhoeverMayReadTheRoot() throws Exception {
    try (LockService locks = connect()) {
      locks.create("x", Bytes.of("a"));
      ((CuratorLockService) locks)
          .handle()
          .setACL(
              "/",
              new ArrayList<>(List.of(new ACL(ZooDefs.Perms.CREATE, ZooDefs.Ids.ANYONE_ID_UNSAFE))),
              -1);
      assertThat(locks.read("x")).isPresent();
    }
  }

  /** Until it notices, it also answers {@code sync}. */
  @Test
  void aLeaderThatTheOthersHaveLeftAnswersNoRead() throws Exception {
    Bytes a = Bytes.of("a");
    Bytes b = Bytes.of("b");
    try (AnswerLosingProxy proxy = new AnswerLosingProxy(server.getPort());
        LockService locks =
            CuratorLockService.connect(
                SystemRuntime.INSTANCE, "localhost:" + proxy.port(), "test", SESSION);
        LockService other = connect()) {
      locks.create("x", a);
      assertThat(locks.read("x")).contains(new VersionedData(a, 0));
      other.write("x", b, 0);
      proxy.depose();
      assertThat(locks.read("x")).contains(new VersionedData(b, 1));
      assertThat(proxy.wasFoundDeposed()).isTrue();
    }
  }

  /** As a server does that is just starting, now and then. */
  @Test
  void aServerThatDoesNotAnswerOneConnectionEndsNoSession() throws Exception {
    try (AnswerLosingProxy proxy = new AnswerLosingProxy(server.getPort());
        LockService locks =
            CuratorLockService.connect(
                SystemRuntime.INSTANCE, "localhost:" + proxy.port(), "test", SESSION)) {
      Lock lock = locks.tryLock("lock", Bytes.of("a")).orElseThrow();
      proxy.ignoreNextConnection();
      proxy.loseNextAnswer();
      assertThatThrownBy(lock::renew).isInstanceOf(IOException.class);
      awaitRenewal(lock);
      assertThat(proxy.ignored()).isEqualTo(1);
      assertThat(lock.isHeld()).isTrue();
    }
  }
}
