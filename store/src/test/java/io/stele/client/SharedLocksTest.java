package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.config.ClusterConfig;
import io.stele.lock.LockService;
import io.stele.runtime.ForwardingRuntime;
import io.stele.runtime.SystemRuntime;
import io.stele.runtime.Task;
import io.stele.runtime.Timer;
import io.stele.sim.MemoryLockStore;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

class SharedLocksTest {
  private final ClusterConfig cluster = ClusterConfig.of(new Configuration(false));
  private final AtomicInteger opened = new AtomicInteger();
  private final Timers timers = new Timers();

  /** Timers that a test runs; what they start has ended when they return. */
  private static final class Timers extends ForwardingRuntime {
    private final Queue<Runnable> due = new ArrayDeque<>();

    @Override
    public Timer after(Duration delay, Runnable work) {
      due.add(work);
      return () -> {};
    }

    @Override
    public Task start(String name, Runnable work) {
      Task task = super.start(name, work);
      task.ended().join();
      return task;
    }

    void runNext() {
      due.remove().run();
    }

    void runDue() {
      while (!due.isEmpty()) {
        runNext();
      }
    }
  }

  @Test
  void allConnectionsOfAProcessShareOneSessionWhichIsClosedAWhileAfterTheLast() throws IOException {
    List<LockService> sessions = new ArrayList<>();
    SharedLocks shared =
        new SharedLocks(
            timers,
            to -> {
              sessions.add(new MemoryLockStore().connect());
              return sessions.get(sessions.size() - 1);
            });
    SharedLocks.Hold reader = shared.hold(cluster);
    SharedLocks.Hold writer = shared.hold(cluster);
    assertThat(sessions).hasSize(1);
    assertThat(writer.locks()).isSameAs(reader.locks());
    reader.release().run();
    assertThat(writer.locks().read("masters")).isEmpty(); // It is open.
    writer.release().run();

    SharedLocks.Hold again = shared.hold(cluster);
    assertThat(again.locks()).as("not closed yet").isSameAs(reader.locks());
    timers.runDue();
    assertThat(again.locks().read("masters")).as("used again").isEmpty();
    again.release().run();
    shared.hold(cluster).release().run();
    timers.runNext();
    assertThat(again.locks().read("masters")).as("used since").isEmpty();
    timers.runNext();
    assertThatThrownBy(() -> again.locks().read("masters")).isInstanceOf(Exception.class);
    assertThat(shared.hold(cluster).locks()).isNotSameAs(again.locks());
    assertThat(sessions).hasSize(2);
  }

  @Test
  void aConnectionThatIsClosedTwiceGivesBackOnlyItsOwnHold() throws IOException {
    SharedLocks shared = new SharedLocks(timers, to -> new MemoryLockStore().connect());
    SharedLocks.Hold twice = shared.hold(cluster);
    SharedLocks.Hold other = shared.hold(cluster);
    twice.release().run();
    twice.release().run();
    timers.runDue();
    assertThat(other.locks().read("masters")).as("it is still held").isEmpty();
    other.release().run();
    timers.runDue();
    assertThatThrownBy(() -> other.locks().read("masters")).isInstanceOf(Exception.class);
  }

  @Test
  void aSessionThatCouldNotBeOpenedIsTriedAgainByTheNext() throws IOException {
    SharedLocks shared =
        new SharedLocks(
            SystemRuntime.INSTANCE,
            to -> {
              if (opened.getAndIncrement() == 0) {
                throw new IOException("nobody answers");
              }
              return new MemoryLockStore().connect();
            });
    assertThatThrownBy(() -> shared.hold(cluster)).hasMessage("nobody answers");
    assertThat(shared.hold(cluster).locks()).isNotNull();
  }

  @Test
  void aConnectionThatIsInterruptedHoldsNothing() throws IOException {
    SharedLocks[] shared = new SharedLocks[1];
    shared[0] =
        new SharedLocks(
            timers,
            to -> {
              if (opened.getAndIncrement() == 0) {
                inAnotherThread(
                    () -> {
                      Thread.currentThread().interrupt();
                      assertThatThrownBy(() -> shared[0].hold(cluster))
                          .isInstanceOf(InterruptedIOException.class);
                    });
              }
              return new MemoryLockStore().connect();
            });
    SharedLocks.Hold first = shared[0].hold(cluster);
    first.release().run();
    timers.runDue();
    assertThat(shared[0].hold(cluster).locks()).isNotSameAs(first.locks());
    assertThat(opened).hasValue(2);
  }

  private static void inAnotherThread(Runnable work) {
    CompletableFuture.runAsync(work, command -> new Thread(command).start()).join();
  }
}
