package io.stele.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.sim.MemoryLockService;
import io.stele.sim.MemoryLockStore;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LeaseTest {
  private final MemoryLockService locks = new MemoryLockStore().connect();
  private long nanos = Long.MAX_VALUE - 1000; // Goes past the end, as nanoTime may.
  private Instant wall = Instant.ofEpochSecond(1000);
  private final Lease lease = new Lease(Duration.ofSeconds(8), () -> nanos, () -> wall);
  private Lock lock;

  @BeforeEach
  void takeLock() throws IOException {
    lock = locks.tryLock("x", Bytes.EMPTY).orElseThrow();
  }

  private void pass(Duration time) {
    nanos += time.toNanos();
    wall = wall.plus(time);
  }

  @Test
  void itIsValidFromTheFirstRenewalForItsLength() throws Exception {
    assertThat(lease.valid()).isFalse();
    assertThat(lease.remaining()).isZero();
    lease.renew(lock);
    assertThat(lease.valid()).isTrue();
    assertThat(lease.remaining()).isEqualTo(Duration.ofSeconds(8));
    pass(Duration.ofMillis(7999));
    assertThat(lease.valid()).isTrue();
    pass(Duration.ofMillis(1));
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
    wall = wall.plusSeconds(8); // The machine was suspended: its monotonic clock stood still.
    assertThat(lease.valid()).isFalse();
    lease.renew(lock);
    wall = wall.minusSeconds(100); // An operator set it back.
    assertThat(lease.valid()).isTrue();
    nanos += Duration.ofSeconds(8).toNanos();
    assertThat(lease.valid()).isFalse();
  }

  @Test
  void aRenewalThatFailsLeavesItWhereItStood() throws Exception {
    lease.renew(lock);
    pass(Duration.ofSeconds(4));
    locks.disconnect();
    assertThatThrownBy(() -> lease.renew(lock)).isInstanceOf(IOException.class);
    assertThat(lease.remaining()).isEqualTo(Duration.ofSeconds(4));
    locks.reconnect();
    locks.expire();
    assertThatThrownBy(() -> lease.renew(lock)).isInstanceOf(LockLostException.class);
    pass(Duration.ofSeconds(4));
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

  private Lock slow(Duration time) {
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
      public void renew() {
        pass(time);
      }

      @Override
      public void update(Bytes data) {
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
