package io.stele.lock;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** What a ZooKeeper that is away for longer than a session does to locks: nothing of itself. */
@Timeout(120)
@Isolated("it counts what new threads take of the processors")
class LocksInOutageIT {
  private static final Duration SESSION = Duration.ofSeconds(5);
  private static final Duration OUTAGE = Duration.ofSeconds(14);
  private static final Duration BACK_MAX = Duration.ofSeconds(60);
  private static final Bytes DATA = Bytes.of("data");

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  @TempDir Path scratch;
  private final Set<Long> before = new HashSet<>();
  private ZooKeeperProcess server;

  @BeforeEach
  void start() throws Exception {
    LongStream.of(THREADS.getAllThreadIds()).forEach(before::add);
    server = ZooKeeperProcess.start(scratch, Duration.ofMillis(500));
  }

  @AfterEach
  void end() {
    server.close();
  }

  private LockService connect() throws IOException {
    return CuratorLockService.connect(SystemRuntime.INSTANCE, server.quorum(), "test", SESSION);
  }

  @Test
  void aServerKilledAndStartedAgainAfterManySessionsFindsEveryLockHeld() throws Exception {
    try (LockService locks = connect()) {
      Lock lock = locks.tryLock("x", DATA).orElseThrow();
      BlockingQueue<String> lost = new LinkedBlockingQueue<>();
      lock.onLost(() -> lost.add("lost"));
      BlockingQueue<Optional<VersionedData>> seen = new LinkedBlockingQueue<>();
      locks.watch("y", () -> tell(locks, seen));
      LockServiceContract.awaitElement(seen, Optional.empty());
      server.kill();
      long cpuBefore = cpuNanos();
      TimeUnit.NANOSECONDS.sleep(OUTAGE.toNanos());
      long cpu = cpuNanos() - cpuBefore;
      assertThat(lost).isEmpty();
      assertThat(lock.isHeld()).isTrue();
      server.start();
      awaitRenewal(lock);
      assertThat(lost).isEmpty();
      assertThat(Duration.ofNanos(cpu))
          .as("CPU time used while nothing could be done")
          .isLessThan(OUTAGE.dividedBy(2));
      try (LockService other = connect()) {
        assertThat(other.tryLock("x", DATA)).isEmpty();
        other.create("y", DATA);
        LockServiceContract.awaitElement(seen, Optional.of(new VersionedData(DATA, 0)));
      }
      lock.release();
    }
  }

  @Test
  void aServerThatStoodStillTellsItselfWhichLocksAreLost() throws Exception {
    try (LockService locks = connect()) {
      Lock lock = locks.tryLock("x", DATA).orElseThrow();
      AtomicBoolean lost = new AtomicBoolean();
      lock.onLost(() -> lost.set(true));
      server.stop();
      TimeUnit.NANOSECONDS.sleep(OUTAGE.toNanos());
      assertThat(lost).as("lost while the server has said nothing").isFalse();
      server.goOn();
      try (LockService other = connect()) {
        // The server counted its own silence: whether it has ended the session is its word.
        LockServiceContract.eventually(
            () -> {
              try {
                lock.renew();
                return true;
              } catch (LockLostException e) {
                return other.read("x").isEmpty();
              } catch (IOException e) {
                return false; // Not connected yet.
              }
            });
        System.out.println("After it stood still for " + OUTAGE + " the lock is lost: " + lost);
        LockServiceContract.eventually(() -> lock.isHeld() == other.read("x").isPresent());
      }
    }
  }

  private static void tell(LockService locks, BlockingQueue<Optional<VersionedData>> seen) {
    try {
      seen.add(locks.read("y"));
    } catch (IOException e) {
      seen.add(Optional.of(new VersionedData(Bytes.of("unreachable"), -1)));
    }
  }

  private static void awaitRenewal(Lock lock) throws Exception {
    long start = System.nanoTime();
    LockServiceContract.awaitRenewal(lock);
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(BACK_MAX);
  }

  /** The CPU time of the threads that began since this test did. */
  private long cpuNanos() {
    return LongStream.of(THREADS.getAllThreadIds())
        .filter(id -> !before.contains(id))
        .map(THREADS::getThreadCpuTime)
        .filter(nanos -> nanos > 0)
        .sum();
  }
}
