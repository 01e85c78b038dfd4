package io.stele.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.lock.LockPaths;
import io.stele.metadata.ServerInfo;
import io.stele.model.ServerId;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.MemoryLockService;
import io.stele.sim.MemoryLockStore;
import io.stele.wire.Address;
import io.stele.wire.ControlPlane;
import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Servers of which none answers before all are asked. */
class ServedTabletsTest {
  private static final int SERVERS = 20;

  @Test
  @Timeout(60) // Whoever asks one after the other never ends.
  void allServersAreAskedAtOnce() throws IOException {
    MemoryLockService locks = new MemoryLockStore().connect();
    for (int i = 1; i <= SERVERS; i++) {
      ServerId server = new ServerId("server", i, 1);
      Address address = new Address("server", i);
      locks.tryLock(
          LockPaths.server(server),
          new ServerInfo(address, address, Optional.empty(), Optional.empty()).encode());
    }
    assertThat(new ServedTablets(SystemRuntime.INSTANCE, locks, new AllOrNone()).read())
        .hasSize(SERVERS)
        .allSatisfy((server, answer) -> assertThat(answer).isEmpty());
  }

  /** Fails all calls once all servers were called. */
  private static final class AllOrNone implements ControlPlane {
    private final CountDownLatch unasked = new CountDownLatch(SERVERS);

    @Override
    public <P, R> R call(Address server, Class<P> protocol, Duration timeout, Call<P, R> call)
        throws IOException {
      unasked.countDown();
      try {
        unasked.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      throw new ConnectException("nobody is at " + server);
    }

    @Override
    public void retain(Set<Address> servers) {}
  }
}
