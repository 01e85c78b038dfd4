package io.stele.lock;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.MemoryLockStore;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ElectionTest {
  @Test
  void aCandidateWhoseRequestFailedTriesAgainThoughNothingElseHappens() throws Exception {
    AtomicInteger failures = new AtomicInteger(2);
    CompletableFuture<String> told = new CompletableFuture<>();
    try (LockService locks = new MemoryLockStore().connect()) {
      Election election =
          Election.stand(
              SystemRuntime.INSTANCE,
              failing(locks, failures),
              LockPaths.MASTER,
              Bytes.of("a"),
              new Election.Candidate() {
                @Override
                public void elected(Lock lock) {
                  told.complete("elected");
                }

                @Override
                public void lost() {}
              });
      assertThat(told.get(50, TimeUnit.SECONDS)).isEqualTo("elected");
      assertThat(failures).hasNonPositiveValue();
      election.close();
    }
  }

  /** Fails to take locks as often as {@code failures} says, and stays connected. */
  private static LockService failing(LockService locks, AtomicInteger failures) {
    return (LockService)
        Proxy.newProxyInstance(
            LockService.class.getClassLoader(),
            new Class<?>[] {LockService.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("tryLock") && failures.getAndDecrement() > 0) {
                throw new IOException("injected: no answer in time");
              }
              try {
                return method.invoke(locks, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }
}
