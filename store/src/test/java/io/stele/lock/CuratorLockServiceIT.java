package io.stele.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.Ports;
import io.stele.model.Bytes;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.ZooKeeper;
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

  /** A leader that the others have left, and that has not noticed, shows an older state. */
  @Test
  void aChangeWhoseAnswerWasLostIsNotDeniedBecauseAnOldLeaderShowsTheNodeUnchanged()
      throws Exception {
    Bytes a = Bytes.of("a");
    Bytes b = Bytes.of("b");
    try (AnswerLosingProxy proxy = new AnswerLosingProxy(server.getPort());
        LockService locks =
            CuratorLockService.connect(
                SystemRuntime.INSTANCE, "localhost:" + proxy.port(), "test", SESSION);
        LockService other = connect()) {
      locks.create("x", a);
      assertThat(locks.read("x")).contains(new VersionedData(a, 0));
      proxy.loseNextAnswer();
      proxy.answerNextReadFromThePast();
      assertThat(locks.write("x", b, 0)).isEqualTo(OptionalInt.of(1));
      assertThat(proxy.hasAnsweredFromThePast()).isTrue();
      assertThat(other.read("x")).contains(new VersionedData(b, 1));

      assertThat(locks.read("x")).contains(new VersionedData(b, 1));
      proxy.loseNextAnswer();
      proxy.answerNextReadFromThePast();
      assertThat(locks.delete("x", 1)).isTrue();
      assertThat(proxy.hasAnsweredFromThePast()).isTrue();

      assertThat(locks.read("x")).isEmpty();
      proxy.loseNextAnswer();
      proxy.answerNextReadFromThePast();
      locks.create("x", b);
      assertThat(proxy.hasAnsweredFromThePast()).isTrue();
      assertThat(other.read("x")).contains(new VersionedData(b, 0));
      assertThat(proxy.lost()).isEqualTo(3);
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
