package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.config.Keys;
import io.stele.lock.LockService;
import io.stele.model.Mutation;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import io.stele.wire.NetworkTransport;
import io.stele.wire.Transport;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients of a lock service that does not answer. */
@Timeout(120)
final class LockReadsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(1);

  private final CompletableFuture<Void> answering = new CompletableFuture<>();
  private volatile boolean hanging;

  /** What a test does with a client, whose lock service hangs when the test wants it. */
  private interface Story {
    void happens(Stele stele) throws Exception;
  }

  /** Runs it with a client of a cluster that has the table {@code t}. */
  private void withClient(Story story) throws Exception {
    Configuration conf = MiniStele.quick(new Configuration(false));
    try (MiniStele cluster = MiniStele.start(conf, Site.inMemory(), 1, 1);
        Transport transport = new NetworkTransport(conf, SystemRuntime.INSTANCE, "localhost")) {
      cluster.client().admin().createTable(TableSchema.of("t", "f"));
      Configuration hasty = new Configuration(conf);
      hasty.set(Keys.CLIENT_TIMEOUT.name(), TIMEOUT.toMillis() + "ms");
      LockService locks = hangable(cluster.locks());
      try (Stele stele = Stele.over(hasty, SystemRuntime.INSTANCE, locks, transport)) {
        story.happens(stele);
      } finally {
        answering.complete(null);
      }
    }
  }

  @Test
  void everyCallEndsInTimeWhileTheLockServiceHangs() throws Exception {
    withClient(
        stele -> {
          Table table = stele.table("t");
          hanging = true;
          Map<String, ThrowingCallable> calls = new LinkedHashMap<>();
          calls.put("table", () -> stele.table("t"));
          calls.put("schema", () -> table.mutate(Mutation.of("r").put("unknown", "q", "v")));
          calls.put("location", () -> table.readRow("r"));
          calls.put("tables", () -> stele.admin().listTables());
          calls.put("describe", () -> stele.admin().describeTable("t"));
          calls.put("drop", () -> stele.admin().dropTable("t"));
          calls.put("compact", () -> stele.admin().compactTable("t"));
          calls.put("master", () -> stele.admin().clusterStatus());
          calls.forEach(LockReadsTest::assertEndsInTime);
          hanging = false;
          answering.complete(null);
          assertThat(stele.table("t").readRow("r")).isEmpty();
        });
  }

  private static void assertEndsInTime(String name, ThrowingCallable call) {
    long start = System.nanoTime();
    assertThatThrownBy(call)
        .as(name)
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER));
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .as(name)
        .isLessThan(TIMEOUT.plusSeconds(20));
  }

  @Test
  void tabletsAreListedWithoutTheLockService() throws Exception {
    withClient(
        stele -> {
          Table table = stele.table("t");
          assertThat(table.tablets()).hasSize(1);
          hanging = true;
          assertThat(table.tablets()).hasSize(1);
        });
  }

  /** The same service, whose calls do not return while this hangs. */
  private LockService hangable(LockService locks) {
    return (LockService)
        Proxy.newProxyInstance(
            LockService.class.getClassLoader(),
            new Class<?>[] {LockService.class},
            (proxy, method, arguments) -> {
              if (hanging) {
                answering.join();
              }
              try {
                return method.invoke(locks, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }
}
