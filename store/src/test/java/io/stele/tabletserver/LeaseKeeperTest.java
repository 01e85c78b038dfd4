package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.lock.Lease;
import io.stele.lock.Lock;
import io.stele.lock.LockLostException;
import io.stele.model.Bytes;
import io.stele.model.SteleException;
import io.stele.runtime.AgreedClock;
import io.stele.runtime.IoRunnable;
import io.stele.runtime.ManualRuntime;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class LeaseKeeperTest {
  private static final Duration LENGTH = Duration.ofSeconds(8);

  /**
   * A lock whose renewals go as the test says; after the last it is lost, which ends the keeper.
   */
  private final class ScriptedLock implements Lock {
    final Deque<IoRunnable> renewals = new ArrayDeque<>();
    final List<Runnable> lost = new ArrayList<>();

    @Override
    public String path() {
      return "servers/one";
    }

    @Override
    public boolean isHeld() {
      return true;
    }

    @Override
    public Duration sessionTimeout() {
      return session;
    }

    @Override
    public Instant renew() throws IOException {
      if (renewals.isEmpty()) {
        throw new LockLostException(path(), "the test is over");
      }
      renewals.remove().run();
      return serviceClock.get();
    }

    @Override
    public void update(Bytes data) {}

    @Override
    public void onLost(Runnable action) {
      lost.add(action);
    }

    @Override
    public void release() {}
  }

  private Duration session = Duration.ofDays(1);
  private final ManualRuntime runtime = new ManualRuntime();
  private final Lease lease = new Lease(runtime, LENGTH);
  private final AgreedClock clock = new AgreedClock(runtime, Duration.ofSeconds(30));
  private Supplier<Instant> serviceClock = () -> runtime.wallClock().instant();
  private final ScriptedLock lock = new ScriptedLock();
  private final List<String> aborts = new ArrayList<>();

  @Test
  void theLeaseIsRenewedFourTimesInItsLength() throws IOException {
    List<Long> times = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      lock.renewals.add(() -> times.add(Duration.ofNanos(runtime.nanoTime()).toSeconds()));
    }
    LeaseKeeper.start(runtime, lease, lock, clock, aborts::add);
    runtime.work();
    assertThat(times).containsExactly(0L, 2L, 4L, 6L, 8L, 10L);
  }

  @Test
  void theLeaseIsRenewedAsOftenAsAShortSessionNeedsIt() throws IOException {
    session = Duration.ofSeconds(3); // The longest that ZooKeeper gives here.
    List<Boolean> valid = new ArrayList<>();
    lock.renewals.add(() -> {});
    for (int i = 0; i < 5; i++) {
      lock.renewals.add(() -> valid.add(lease.valid()));
    }
    LeaseKeeper.start(runtime, lease, lock, clock, aborts::add);
    runtime.work();
    assertThat(valid).hasSize(5).containsOnly(true);
  }

  @Test
  void aServerWhoseFirstRenewalFailsLivesWithoutALeaseUntilOneSucceeds() throws IOException {
    lock.renewals.add(
        () -> {
          throw new IOException("away");
        });
    List<Boolean> valid = new ArrayList<>();
    lock.renewals.add(() -> valid.add(lease.valid()));
    lock.renewals.add(() -> valid.add(lease.valid()));
    LeaseKeeper.start(runtime, lease, lock, clock, aborts::add);
    List<String> before = new ArrayList<>(aborts);
    runtime.work();
    assertThat(before).isEmpty();
    assertThat(valid).containsExactly(false, true);
  }

  @Test
  void aServerWhoseLockIsLostBeforeItsFirstRenewalDoesNotStart() {
    assertThatThrownBy(() -> LeaseKeeper.start(runtime, lease, lock, clock, aborts::add))
        .isInstanceOf(LockLostException.class);
    assertThat(lease.valid()).isFalse();
  }

  @Test
  void aMistakeInARenewalEndsTheServer() throws IOException {
    lock.renewals.add(() -> {});
    lock.renewals.add(
        () -> {
          throw new IllegalStateException("a mistake");
        });
    LeaseKeeper.start(runtime, lease, lock, clock, aborts::add);
    assertThatThrownBy(runtime::work).hasMessage("a mistake");
    assertThat(aborts).singleElement().asString().contains("a mistake");
    assertThat(lease.valid()).isFalse();
  }

  @Test
  void whileTheLockServiceIsAwayTheLeaseRunsOutAndTheServerLives() throws IOException {
    List<Boolean> valid = new ArrayList<>();
    List<Long> times = new ArrayList<>();
    lock.renewals.add(() -> {});
    for (int i = 0; i < 3; i++) {
      lock.renewals.add(
          () -> {
            valid.add(lease.valid());
            times.add(Duration.ofNanos(runtime.nanoTime()).toMillis());
            runtime.pass(Duration.ofSeconds(4)); // So long it waits for an answer.
            throw new IOException("away");
          });
    }
    lock.renewals.add(() -> times.add(Duration.ofNanos(runtime.nanoTime()).toMillis()));
    lock.renewals.add(() -> valid.add(lease.valid()));
    LeaseKeeper.start(runtime, lease, lock, clock, aborts::add);
    List<String> before = new ArrayList<>(aborts);
    runtime.work();
    assertThat(before).isEmpty();
    assertThat(valid).containsExactly(true, true, false, true);
    assertThat(times).containsExactly(2000L, 6100L, 10_200L, 14_300L);
    assertThat(aborts).hasSize(1); // By the end of the script only.
  }

  @Test
  void aServerWhoseClockIsNotTheLockServicesDoesNotStart() {
    lock.renewals.add(() -> {});
    serviceClock = () -> runtime.wallClock().instant().minusSeconds(31);
    assertThatThrownBy(() -> LeaseKeeper.start(runtime, lease, lock, clock, aborts::add))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("stele.clock.skew.max")
        .hasMessageContaining("1969-12-31T23:59:29Z");
    assertThat(lease.valid()).isFalse();
  }

  @Test
  void aServerWhoseClockTurnsOutWrongAtALaterFirstRenewalEnds() throws IOException {
    lock.renewals.add(
        () -> {
          throw new IOException("away");
        });
    lock.renewals.add(() -> {});
    serviceClock = () -> runtime.wallClock().instant().plusSeconds(31);
    LeaseKeeper.start(runtime, lease, lock, clock, aborts::add);
    runtime.work();
    assertThat(aborts).singleElement().asString().contains("stele.clock.skew.max");
    assertThat(lease.valid()).isFalse();
  }

  @Test
  void aServerWhoseClockComesApartFromTheLockServicesGoesOnAndTrustsItNoMore() throws IOException {
    List<Boolean> trusted = new ArrayList<>();
    lock.renewals.add(() -> {});
    lock.renewals.add(
        () -> serviceClock = () -> runtime.wallClock().instant().minus(Duration.ofHours(1)));
    lock.renewals.add(
        () -> {
          trusted.add(clock.isTrusted());
          serviceClock = () -> runtime.wallClock().instant();
        });
    lock.renewals.add(() -> trusted.add(clock.isTrusted()));
    LeaseKeeper.start(runtime, lease, lock, clock, aborts::add);
    runtime.work();
    assertThat(trusted).containsExactly(false, true);
  }

  @Test
  void aLostLockEndsTheServerAndItsLease() throws IOException {
    lock.renewals.add(() -> {});
    LeaseKeeper.start(runtime, lease, lock, clock, aborts::add);
    assertThat(lease.valid()).isTrue();
    lock.lost.forEach(Runnable::run);
    assertThat(lease.valid()).isFalse();
    assertThat(aborts).singleElement().asString().contains("servers/one");
  }

  @Test
  void aClosedKeeperAbortsNothing() throws IOException {
    lock.renewals.add(() -> {});
    LeaseKeeper keeper = LeaseKeeper.start(runtime, lease, lock, clock, aborts::add);
    keeper.close();
    runtime.work();
    lock.lost.forEach(Runnable::run);
    assertThat(aborts).isEmpty();
  }
}
