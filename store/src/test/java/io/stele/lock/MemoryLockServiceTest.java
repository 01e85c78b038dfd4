package io.stele.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.SteleException;
import io.stele.sim.MemoryLockService;
import io.stele.sim.MemoryLockStore;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The fake does what the real one does. */
class MemoryLockServiceTest extends LockServiceContract {
  private final MemoryLockStore store = new MemoryLockStore();
  private final List<MemoryLockService> connected = new ArrayList<>();

  @Override
  LockService connect() {
    MemoryLockService service = store.connect();
    connected.add(service);
    return service;
  }

  @Override
  void expire(LockService service) {
    ((MemoryLockService) service).expire();
  }

  @Override
  void interrupt() {
    connected.forEach(MemoryLockService::disconnect);
  }

  @Override
  void resume() {
    connected.forEach(MemoryLockService::reconnect);
  }

  @Test
  void anUnknownOutcomeIsSaidToBeUnknownWhetherItWasAppliedOrNot() throws Exception {
    try (MemoryLockService locks = store.connect()) {
      locks.create("x", Bytes.of("a"));
      for (boolean applied : List.of(false, true)) {
        locks.loseNextAnswer(applied);
        assertThatThrownBy(() -> locks.write("x", Bytes.of("b"), 0))
            .isInstanceOfSatisfying(
                SteleException.class,
                e -> assertThat(e.code()).isEqualTo(SteleException.Code.OUTCOME_UNKNOWN));
        assertThat(locks.read("x").orElseThrow().version()).isEqualTo(applied ? 1 : 0);
      }
    }
  }

  @Test
  void aStoppedProcessDoesNotKnowThatItsLockIsGoneUntilItRenews() throws Exception {
    try (MemoryLockService locks = store.connect();
        MemoryLockService other = store.connect()) {
      Lock lock = locks.tryLock("x", Bytes.EMPTY).orElseThrow();
      locks.expireUnnoticed();
      assertThat(lock.isHeld()).isTrue();
      assertThat(other.tryLock("x", Bytes.EMPTY)).isPresent();
      assertThatThrownBy(lock::renew).isInstanceOf(LockLostException.class);
      assertThat(lock.isHeld()).isFalse();
    }
  }
}
