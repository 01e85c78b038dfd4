package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.config.Keys;
import io.stele.lock.LockPaths;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.sim.MemoryLockService;
import io.stele.sim.MemoryLockStore;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class ServerLocksTest {
  private static final ServerId SERVER = new ServerId("one", 1, 1);

  private final MemoryLockService locks = new MemoryLockStore().connect();
  private final ServerLocks servers = new ServerLocks(locks);

  @Test
  void aServerWhoseLockCannotBeReadMayHaveTheLongestLease() throws IOException {
    locks.create(LockPaths.server(SERVER), Bytes.of("damaged"));
    servers.suspect(SERVER);
    assertThat(servers.suspectsLease(SERVER)).isEqualTo(Keys.LEASE_MAX);
  }

  @Test
  void aServerWithoutALockHasNoLeaseToNote() throws IOException {
    servers.suspect(SERVER);
    assertThat(servers.suspectsLease(SERVER)).isZero();
  }
}
