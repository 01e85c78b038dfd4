package io.stele.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.runtime.IoRunnable;
import io.stele.runtime.ManualClocks;
import io.stele.sim.MemoryLockService;
import io.stele.sim.MemoryLockStore;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LeaseTest {
  private final MemoryLockService locks = new MemoryLockStore().connect();
  // Past the end of the monotonic clock's range, as nanoTime may go.
  private final ManualClocks clocks =
      new ManualClocks(Long.MAX_VALUE - 1000, Instant.ofEpochSecond(1000));
  private final Lease lease = new Lease(clocks, Duration.ofSeconds(8));
  private Lock lock;
  private Duration sessionTimeout = Duration.ofDays(1);

  @BeforeEach
  void takeLock() throws IOException {
    lock = locks.tryLock("x", Bytes.EMPTY).orElseThrow();
  }

  @Test
  void itIsValidFromTheFirstRenewalForItsLength() throws Exception {
    assertThat(lease.valid()).isFalse();
    assertThat(lease.remaining()).isZero();
    lease.renew(lock);
    assertThat(lease.valid()).isTrue();
    assertThat(lease.remaining()).isEqualTo(Duration.ofSeconds(8));
    clocks.pass(Duration.ofMillis(7999));
    assertThat(lease.valid()).isTrue();
    clocks.pass(Duration.ofMillis(1));
    assertThat(lease.valid()).isFalse();
    lease.renew(lock);
    assertThat(lease.valid()).isTrue();
  }

  @Test
  void itCountsFromWhenTheRenewalWasSent() throws Exception {
    lease.renew(slow(Duration.ofSeconds(5)));
    assertThat(lease.remaining()).isEqualTo(Duration.ofSeconds(3));
    lease.renew(slow(Duration.ofSeconds(9)));
    assertThat(lease.valid()).isFalse();
  }

  @Test
  void eitherClockEndsIt() throws Exception {
    lease.renew(lock);
    clocks.passWall(
        Duration.ofSeconds(8)); // The machine was suspended: its monotonic clock stood still.
    assertThat(lease.valid()).isFalse();
    lease.renew(lock);
    clocks.passWall(Duration.ofSeconds(-100)); // An operator set it back.
    assertThat(lease.valid()).isTrue();
    clocks.passMonotonic(Duration.ofSeconds(8));
    assertThat(lease.valid()).isFalse();
  }

  @Test
  void aRenewalThatFailsLeavesItWhereItStood() throws Exception {
    lease.renew(lock);
    clocks.pass(Duration.ofSeconds(4));
    locks.disconnect();
    assertThatThrownBy(() -> lease.renew(lock)).isInstanceOf(IOException.class);
    assertThat(lease.remaining()).isEqualTo(Duration.ofSeconds(4));
    locks.reconnect();
    locks.expire();
    assertThatThrownBy(() -> lease.renew(lock)).isInstanceOf(LockLostException.class);
    clocks.pass(Duration.ofSeconds(4));
    assertThat(lease.valid()).isFalse();
  }

  @Test
  void onceRevokedItIsNeverValidAgain() throws Exception {
    lease.renew(lock);
    lease.revoke();
    assertThat(lease.valid()).isFalse();
    lease.renew(lock);
    assertThat(lease.valid()).isFalse();
  }

  @Test
  void aRenewalSentEarlierThatComesBackLaterDoesNotShortenIt() throws Exception {
    Lock overtaken =
        renewedBy(
            () -> {
              clocks.pass(Duration.ofSeconds(2));
              lease.renew(lock);
            });
    lease.renew(overtaken);
    assertThat(lease.remaining()).isEqualTo(Duration.ofSeconds(8));
  }

  @Test
  void itIsOverBeforeTheSessionEndsForSilence() throws Exception {
    sessionTimeout = Duration.ofSeconds(10);
    lease.renew(renewedBy(() -> {}));
    assertThat(lease.remaining()).isEqualTo(Duration.ofSeconds(6));
    sessionTimeout = Duration.ofSeconds(30);
    lease.renew(renewedBy(() -> {}));
    assertThat(lease.remaining()).isEqualTo(Duration.ofSeconds(8));
  }

  /** The service may know of no sign of life between two renewals: the process stood still. */
  @Test
  void itEndsEarlierIfTheRenewalBeforeWasLongAgo() throws Exception {
    sessionTimeout = Duration.ofSeconds(10);
    lease.renew(renewedBy(() -> {}));
    clocks.pass(Duration.ofSeconds(2));
    lease.renew(renewedBy(() -> {}));
    assertThat(lease.remaining()).isEqualTo(Duration.ofSeconds(6));
    clocks.pass(Duration.ofSeconds(7));
    lease.renew(renewedBy(() -> {}));
    assertThat(lease.remaining()).isEqualTo(Duration.ofSeconds(2));
    clocks.pass(Duration.ofSeconds(10));
    lease.renew(renewedBy(() -> {}));
    assertThat(lease.valid()).isFalse();
    clocks.pass(Duration.ofSeconds(1));
    lease.renew(renewedBy(() -> {}));
    assertThat(lease.remaining()).isEqualTo(Duration.ofSeconds(6));
    clocks.passWall(Duration.ofSeconds(7)); // The machine was suspended.
    lease.renew(renewedBy(() -> {}));
    assertThat(lease.remaining()).isLessThanOrEqualTo(Duration.ofSeconds(2));
  }

  private Lock slow(Duration time) {
    return renewedBy(() -> clocks.pass(time));
  }

  private Lock renewedBy(IoRunnable renewal) {
    return new Lock() {
      @Override
      public String path() {
        return lock.path();
      }

      @Override
      public boolean isHeld() {
        return lock.isHeld();
      }

      @Override
      public Duration sessionTimeout() {
        return sessionTimeout;
      }

      @Override
      public Instant renew() throws IOException {
        renewal.run();
        return clocks.wallClock().instant();
      }

      @Override
      public void update(Bytes data) throws IOException {
        renew();
      }

      @Override
      public void onLost(Runnable action) {
        lock.onLost(action);
      }

      @Override
      public void release() {
        lock.release();
      }
    };
  }
}
