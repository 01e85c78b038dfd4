package io.stele.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.SteleException;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What every {@link LockService} does. */
@Timeout(120)
abstract class LockServiceContract {
  private static final Bytes A = Bytes.of("a");
  private static final Bytes B = Bytes.of("b");

  /** A connection of a new process to the same cluster. */
  abstract LockService connect() throws Exception;

  /** Ends the session of {@code service}, so that both it and the others know. */
  abstract void expire(LockService service) throws Exception;

  /** Breaks the connections of all processes. */
  abstract void interrupt() throws Exception;

  /** Brings them back. */
  abstract void resume() throws Exception;

  @Test
  void whatWasCreatedIsReadWithItsVersion() throws Exception {
    try (LockService locks = connect();
        LockService other = connect()) {
      assertThat(locks.read("x/y")).isEmpty();
      locks.create("x/y", A);
      assertThat(other.read("x/y")).contains(new VersionedData(A, 0));
      assertThat(other.read("x")).contains(new VersionedData(Bytes.EMPTY, 0));
      assertFails(() -> other.create("x/y", B), SteleException.Code.ALREADY_EXISTS, "exists");
      assertThat(locks.read("x/y")).contains(new VersionedData(A, 0));
    }
  }

  @Test
  void theNodesThatStayAreAllButLocks() throws Exception {
    try (LockService locks = connect();
        LockService other = connect()) {
      assertThat(locks.lasting()).isEmpty();
      locks.create("x/y", A);
      locks.create("x/y/z", B);
      assertThat(other.tryLock("lock", A)).isPresent();
      assertThat(other.tryLock("locks/one", A)).isPresent();
      assertThat(other.lasting()).containsExactly("locks", "x", "x/y", "x/y/z");
    }
  }

  @Test
  void changesOfAllNodesAreInOrder() throws Exception {
    try (LockService locks = connect();
        LockService other = connect()) {
      assertThat(locks.lastChange("x")).isEmpty();
      locks.create("x", A);
      other.create("y", A);
      long x = locks.lastChange("x").orElseThrow();
      long y = locks.lastChange("y").orElseThrow();
      assertThat(y).isGreaterThan(x);
      assertThat(other.write("x", B, 0)).isPresent();
      assertThat(locks.lastChange("x").orElseThrow()).isGreaterThan(y);
      assertThat(locks.lastChange("y")).hasValue(y);
      assertThat(locks.delete("x", 1)).isTrue();
      locks.create("x", A);
      assertThat(other.lastChange("x").orElseThrow()).isGreaterThan(y);
    }
  }

  @Test
  void aWriteHappensOnlyAtTheExpectedVersion() throws Exception {
    try (LockService locks = connect();
        LockService other = connect()) {
      assertThat(locks.write("x", A, 0)).isEmpty();
      locks.create("x", A);
      assertThat(locks.write("x", B, 0)).isEqualTo(OptionalInt.of(1));
      assertThat(other.write("x", A, 0)).isEmpty();
      assertThat(other.read("x")).contains(new VersionedData(B, 1));
      assertThat(other.write("x", A, 1)).isEqualTo(OptionalInt.of(2));
    }
  }

  @Test
  void ofManyWhoWriteAtOneVersionOneSucceeds() throws Exception {
    try (LockService locks = connect();
        LockService other = connect()) {
      locks.create("counter", Bytes.ofLong(0));
      List<Thread> threads = new ArrayList<>();
      List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
      for (LockService service : List.of(locks, other, locks, other)) {
        Thread thread =
            new Thread(
                () -> {
                  for (int done = 0; done < 25; ) {
                    try {
                      VersionedData now = service.read("counter").orElseThrow();
                      Bytes next = Bytes.ofLong(now.data().toLong() + 1);
                      if (service.write("counter", next, now.version()).isPresent()) {
                        done++;
                      }
                    } catch (IOException e) {
                      failures.add(e);
                      return;
                    }
                  }
                });
        thread.start();
        threads.add(thread);
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(failures).isEmpty();
      assertThat(locks.read("counter")).contains(new VersionedData(Bytes.ofLong(100), 100));
    }
  }

  @Test
  void aDeletionHappensOnlyAtTheExpectedVersionAndWithoutChildren() throws Exception {
    try (LockService locks = connect()) {
      locks.create("x/y", A);
      assertThat(locks.delete("x/y", 1)).isFalse();
      assertRefused(() -> locks.delete("x", 0), "children");
      assertThat(locks.delete("x/y", 0)).isTrue();
      assertThat(locks.delete("x/y", 0)).isFalse();
      assertThat(locks.read("x/y")).isEmpty();
    }
  }

  @Test
  void childrenAreListedByNameInOrder() throws Exception {
    try (LockService locks = connect()) {
      assertThat(locks.children("x")).isEmpty();
      locks.create("x/c", A);
      locks.create("x/a/deep", A);
      locks.create("xy", A);
      locks.create("x/b", A);
      assertThat(locks.children("x")).containsExactly("a", "b", "c");
    }
  }

  @Test
  void wrongPathsAndTooMuchDataAreRefused() throws Exception {
    try (LockService locks = connect()) {
      for (String path : List.of("", "/x", "x/", "x//y", "x/../y")) {
        assertThatThrownBy(() -> locks.create(path, A))
            .isInstanceOf(IllegalArgumentException.class);
      }
      Bytes large = Bytes.wrap(new byte[LockService.DATA_BYTES_MAX + 1]);
      assertRefused(() -> locks.create("x", large), "limit");
      locks.create("x", Bytes.wrap(new byte[LockService.DATA_BYTES_MAX]));
    }
  }

  @Test
  void aLockHasOneHolderUntilItIsReleased() throws Exception {
    try (LockService locks = connect();
        LockService other = connect()) {
      Lock lock = locks.tryLock("servers/a", A).orElseThrow();
      assertThat(lock.isHeld()).isTrue();
      assertThat(other.tryLock("servers/a", B)).isEmpty();
      assertThat(locks.tryLock("servers/a", B)).isEmpty();
      assertThat(other.read("servers/a").map(VersionedData::data)).contains(A);
      lock.release();
      assertThat(lock.isHeld()).isFalse();
      assertThatThrownBy(lock::renew).isInstanceOf(LockLostException.class);
      assertThat(other.tryLock("servers/a", B)).isPresent();
    }
  }

  @Test
  void aLockGoesWithItsProcessAndIsNotReportedAsLost() throws Exception {
    AtomicInteger lost = new AtomicInteger();
    try (LockService other = connect()) {
      LockService locks = connect();
      locks.tryLock("x", A).orElseThrow().onLost(lost::incrementAndGet);
      locks.close();
      assertThat(other.tryLock("x", B)).isPresent();
    }
    assertThat(lost).hasValue(0);
  }

  @Test
  void renewingWritesTheNodeAndKeepsTheLock() throws Exception {
    try (LockService locks = connect();
        LockService other = connect()) {
      Lock lock = locks.tryLock("x", A).orElseThrow();
      int before = other.read("x").orElseThrow().version();
      lock.renew();
      lock.renew();
      assertThat(other.read("x")).contains(new VersionedData(A, before + 2));
      lock.update(B);
      lock.renew();
      assertThat(other.read("x")).contains(new VersionedData(B, before + 4));
      // Somebody else wrote it, yet it is ours.
      assertThat(other.write("x", A, before + 4)).isPresent();
      lock.renew();
      assertThat(other.read("x")).contains(new VersionedData(B, before + 6));
    }
  }

  @Test
  void aLockIsLostWithItsSessionOnceAndForGood() throws Exception {
    try (LockService locks = connect();
        LockService other = connect()) {
      Lock lock = locks.tryLock("x", A).orElseThrow();
      BlockingQueue<String> lost = new LinkedBlockingQueue<>();
      lock.onLost(() -> lost.add("first"));
      expire(locks);
      assertThat(lost.poll(60, TimeUnit.SECONDS)).isEqualTo("first");
      assertThat(lock.isHeld()).isFalse();
      assertThatThrownBy(lock::renew).isInstanceOf(LockLostException.class);
      lock.onLost(() -> lost.add("late"));
      assertThat(lost.poll(60, TimeUnit.SECONDS)).isEqualTo("late");
      eventually(() -> other.tryLock("x", B).isPresent());
      // The process goes on in a new session, which has nothing of the old one.
      assertThat(locks.tryLock("x", A)).isEmpty();
      assertThat(locks.tryLock("y", A)).isPresent();
      assertThat(lock.isHeld()).isFalse();
      assertThat(lost).isEmpty();
    }
  }

  @Test
  void aLockWhoseNodeIsDeletedIsLostAtTheLatestWhenItIsRenewed() throws Exception {
    try (LockService locks = connect();
        LockService other = connect()) {
      Lock lock = locks.tryLock("x", A).orElseThrow();
      CompletableFuture<Boolean> lost = new CompletableFuture<>();
      lock.onLost(() -> lost.complete(true));
      assertThat(other.delete("x", other.read("x").orElseThrow().version())).isTrue();
      assertThat(other.tryLock("x", B)).isPresent();
      assertThatThrownBy(lock::renew).isInstanceOf(LockLostException.class);
      assertThat(lost.get(60, TimeUnit.SECONDS)).isTrue();
      assertThat(other.read("x").map(VersionedData::data)).contains(B);
    }
  }

  @Test
  void aLockOutlivesALostConnection() throws Exception {
    try (LockService locks = connect()) {
      Lock lock = locks.tryLock("x", A).orElseThrow();
      interrupt();
      assertThatThrownBy(lock::renew)
          .isInstanceOf(IOException.class)
          .isNotInstanceOf(LockLostException.class);
      assertThat(lock.isHeld()).isTrue();
      resume();
      awaitRenewal(lock);
      assertThat(lock.isHeld()).isTrue();
    }
  }

  @Test
  void aWatchTellsOfTheStateEveryChangeAndEveryChild() throws Exception {
    try (LockService locks = connect();
        LockService other = connect()) {
      BlockingQueue<Optional<VersionedData>> seen = new ArrayBlockingQueue<>(1000);
      BlockingQueue<List<String>> children = new ArrayBlockingQueue<>(1000);
      LockService.Watch watch =
          locks.watch(
              "x",
              () -> {
                try {
                  seen.add(locks.read("x"));
                  children.add(locks.children("x"));
                } catch (IOException e) {
                  throw new java.io.UncheckedIOException(e);
                }
              });
      awaitElement(seen, Optional.empty());
      other.create("x", A);
      awaitElement(seen, Optional.of(new VersionedData(A, 0)));
      other.write("x", B, 0);
      awaitElement(seen, Optional.of(new VersionedData(B, 1)));
      other.create("x/child", A);
      awaitElement(children, List.of("child"));
      other.delete("x/child", 0);
      awaitElement(children, List.of());
      other.delete("x", 1);
      awaitElement(seen, Optional.empty());
      watch.close();
    }
  }

  @Test
  void aWatchIsToldWhenTheConnectionIsBackAndStaysInANewSession() throws Exception {
    try (LockService locks = connect();
        LockService other = connect()) {
      BlockingQueue<Optional<Bytes>> seen = new ArrayBlockingQueue<>(1000);
      locks.watch(
          "x",
          () -> {
            try {
              seen.add(locks.read("x").map(VersionedData::data));
            } catch (IOException e) {
              seen.add(Optional.of(Bytes.of("unreachable")));
            }
          });
      awaitElement(seen, Optional.empty());
      interrupt();
      resume();
      awaitElement(seen, Optional.empty());
      expire(locks);
      other.create("x", A);
      awaitElement(seen, Optional.of(A));
      other.write("x", B, 0);
      awaitElement(seen, Optional.of(B));
    }
  }

  @Test
  void anElectionHasOneLeaderAndAnotherAfterIt() throws Exception {
    try (LockService locks = connect();
        LockService other = connect()) {
      Recorder first = new Recorder();
      Recorder second = new Recorder();
      Election one = Election.stand(SystemRuntime.INSTANCE, locks, LockPaths.MASTER, A, first);
      assertThat(first.events.poll(60, TimeUnit.SECONDS)).isEqualTo("elected");
      Election two = Election.stand(SystemRuntime.INSTANCE, other, LockPaths.MASTER, B, second);
      assertThat(second.events).isEmpty();
      expire(locks);
      assertThat(first.events.poll(60, TimeUnit.SECONDS)).isEqualTo("lost");
      assertThat(second.events.poll(60, TimeUnit.SECONDS)).isEqualTo("elected");
      two.close();
      Recorder third = new Recorder();
      Election last = Election.stand(SystemRuntime.INSTANCE, locks, LockPaths.MASTER, A, third);
      assertThat(third.events.poll(60, TimeUnit.SECONDS)).isEqualTo("elected");
      last.close();
      one.close();
      assertThat(first.events).isEmpty();
      assertThat(second.events).isEmpty();
      assertThat(third.events).isEmpty();
    }
  }

  /** Remembers what a candidate is told. */
  private static final class Recorder implements Election.Candidate {
    final BlockingQueue<String> events = new LinkedBlockingQueue<>();

    @Override
    public void elected(Lock lock) {
      events.add("elected");
    }

    @Override
    public void lost() {
      events.add("lost");
    }
  }

  /** A condition that may throw. */
  interface Condition {
    boolean holds() throws Exception;
  }

  /** Renews {@code lock} once the lock service is reached again. */
  static void awaitRenewal(Lock lock) throws Exception {
    eventually(
        () -> {
          try {
            lock.renew();
            return true;
          } catch (LockLostException e) {
            throw e;
          } catch (IOException e) {
            return false; // Not connected yet.
          }
        });
  }

  static void eventually(Condition condition) throws Exception {
    Instant deadline = Instant.now().plus(Duration.ofSeconds(60));
    while (!condition.holds()) {
      assertThat(Instant.now()).as("deadline for the condition").isBefore(deadline);
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  static <T> void awaitElement(BlockingQueue<T> queue, T expected) throws Exception {
    T last = null;
    while (!expected.equals(last)) {
      last = queue.poll(60, TimeUnit.SECONDS);
      assertThat(last).as("something before the deadline, at last %s", expected).isNotNull();
    }
  }

  private static void assertRefused(
      org.assertj.core.api.ThrowableAssert.ThrowingCallable call, String message) {
    assertFails(call, SteleException.Code.REFUSED, message);
  }

  private static void assertFails(
      org.assertj.core.api.ThrowableAssert.ThrowingCallable call,
      SteleException.Code code,
      String message) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(SteleException.class, e -> assertThat(e.code()).isEqualTo(code))
        .hasMessageContaining(message);
  }
}
