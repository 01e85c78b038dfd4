package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Table;
import io.stele.config.ProcessMemory;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.metadata.ServerInfo;
import io.stele.model.Mutation;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableDisk;
import io.stele.sim.FaultInjector;
import io.stele.sim.MemoryLockStore;
import io.stele.sim.MiniStele;
import io.stele.sim.Operation;
import io.stele.sim.Site;
import io.stele.wire.NetworkTransport;
import io.stele.wire.Transport;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class TabletServerTest {
  private final CrashableDisk disk = new CrashableDisk();
  private final MemoryLockStore lockStore = new MemoryLockStore();
  private final Site site = Site.inMemory(disk, lockStore);
  private final Configuration conf = MiniStele.quick(new Configuration(false));

  @Test
  void aDrainThatFailsLeavesTheServerServingAndOpenForTablets() throws Exception {
    try (MiniStele cluster = MiniStele.start(conf, site, 0, 1)) {
      TabletServer server = cluster.startServer();
      cluster.awaitServed(TableId.METADATA);
      cluster.client().admin().createTable(TableSchema.of("t", "f"));
      Table table = cluster.client().table("t");
      table.mutate(Mutation.of("row").put("f", "q", "value"));
      disk.inject(
          FaultInjector.always(
              Operation.CREATE,
              path -> path.getName().endsWith(".sst"),
              new FaultInjector.Effect.Fail()));
      assertThatThrownBy(server::drainAndEnd).isInstanceOf(IOException.class);
      disk.heal();

      assertThat(server.isOver()).isFalse();
      MiniStele.await(
          "the server takes tablets again",
          () -> !ServerInfo.all(cluster.locks()).get(server.id()).draining());
      assertThat(table.readRow("row")).isPresent();
      table.mutate(Mutation.of("row2").put("f", "q", "value"));
      cluster.client().admin().createTable(TableSchema.of("u", "f"));
      cluster.client().table("u").mutate(Mutation.of("row").put("f", "q", "value"));

      server.drainAndEnd();
      assertThat(server.isOver()).isTrue();
      assertThat(server.tablets().count()).isZero();
    }
  }

  @Test
  void aServerIsDrainedAndTakesTabletsAgainAsOftenAsThatIsAskedFor() throws Exception {
    try (MiniStele cluster = MiniStele.start(conf, site, 0, 1)) {
      TabletServer server = cluster.startServer();
      cluster.awaitServed(TableId.METADATA);
      for (int i = 0; i < 3; i++) {
        server.drain();
        server.drain();
        MiniStele.await("the server is drained", server::isDraining);
        server.undrain();
        server.drain();
        server.undrain();
        MiniStele.await("the server takes tablets", () -> !server.isDraining());
        cluster.client().admin().createTable(TableSchema.of("t" + i, "f"));
        Table table = cluster.client().table("t" + i);
        table.mutate(Mutation.of("row").put("f", "q", "value"));
      }
    }
  }

  /** A cluster of one server, with a row on disk. */
  private MiniStele withFile() throws Exception {
    MiniStele cluster = MiniStele.start(conf, site, 1, 1);
    cluster.awaitServed(TableId.METADATA);
    cluster.client().admin().setBalanced(false);
    cluster.client().admin().createTable(TableSchema.of("t", "f"));
    cluster.client().table("t").mutate(Mutation.of("row").put("f", "q", "value"));
    cluster.client().admin().compactTable("t");
    return cluster;
  }

  /** Starts a server; returns which of SSTables it opened, or others meanwhile. */
  private List<String> openedAtStart(MiniStele cluster, Optional<FaultInjector.Effect> effect)
      throws Exception {
    List<String> opened = new CopyOnWriteArrayList<>();
    disk.inject(
        (operation, path) -> {
          if (operation != Operation.OPEN || !path.getName().endsWith(".sst")) {
            return Optional.empty();
          }
          opened.add(path.toString());
          return effect;
        });
    TabletServer server = cluster.startServer();
    disk.heal();
    assertThat(ServerInfo.all(cluster.locks())).containsKey(server.id());
    assertThat(server.tablets().count()).isZero();
    return opened;
  }

  @Test
  void aServerWarmsUpWithATabletOfAnotherBeforeItGetsOne() throws Exception {
    try (MiniStele cluster = withFile()) {
      assertThat(openedAtStart(cluster, Optional.empty()))
          .anyMatch(file -> file.contains("/tables/t1/"));
      Table table = cluster.client().table("t");
      assertThat(table.readRow("row")).isPresent();
      table.mutate(Mutation.of("row2").put("f", "q", "value"));
    }
  }

  @Test
  void aServerStartsThoughItCannotWarmUp() throws Exception {
    try (MiniStele cluster = withFile()) {
      assertThat(openedAtStart(cluster, Optional.of(new FaultInjector.Effect.Fail()))).isNotEmpty();
      assertThat(cluster.client().table("t").readRow("row")).isPresent();
    }
  }

  @Test
  void aServerStartsThoughItsWarmUpNeverEnds() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    try (MiniStele cluster = withFile()) {
      Runnable waits =
          () -> {
            try {
              never.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          };
      openedAtStart(cluster, Optional.of(new FaultInjector.Effect.Delay(waits)));
      assertThat(cluster.client().table("t").readRow("row")).isPresent();
    } finally {
      never.countDown();
    }
  }

  @Test
  void aServerWhoseLogDirectoryWasFencedAndIsThereAgainDoesNotStart() throws Exception {
    assertFencedAtItsLock(
        (fs, name) -> {
          fs.rename(new Path("/stele/logs" + name), new Path("/stele/recovery" + name));
          fs.create(new Path("/stele/logs" + name, "user-1.log")).close();
        });
  }

  @Test
  void aServerThatWasFencedBeforeItHadItsLockDoesNotStart() throws Exception {
    assertFencedAtItsLock(
        (fs, name) ->
            fs.rename(new Path("/stele/logs" + name), new Path("/stele/recovery" + name)));
  }

  /** What somebody does to the log directory of a server. */
  @FunctionalInterface
  private interface Fencing {
    void take(FileSystem fs, String name) throws IOException;
  }

  private void assertFencedAtItsLock(Fencing fence) throws Exception {
    try (MiniStele cluster = MiniStele.start(conf, site, 1, 1);
        Transport transport = new NetworkTransport(conf, SystemRuntime.INSTANCE, "localhost");
        LockService locks = lockStore.connect()) {
      FileSystem fs = disk.mount();
      List<String> aborts = new ArrayList<>();
      List<Path> logs = new ArrayList<>();
      LockService fencing =
          (LockService)
              Proxy.newProxyInstance(
                  LockService.class.getClassLoader(),
                  new Class<?>[] {LockService.class},
                  (proxy, method, arguments) -> {
                    if (method.getName().equals("tryLock")) {
                      String name = ((String) arguments[0]).substring(LockPaths.SERVERS.length());
                      fence.take(fs, name);
                      logs.add(new Path("/stele/logs" + name));
                    }
                    try {
                      return method.invoke(locks, arguments);
                    } catch (InvocationTargetException e) {
                      throw e.getCause();
                    }
                  });
      List<ServerId> before = cluster.servers();
      fs.mkdirs(new Path("/stele/recovery"));
      assertThatThrownBy(
              () ->
                  TabletServer.start(
                      new TabletServer.Environment(
                          conf,
                          SystemRuntime.INSTANCE,
                          fs,
                          fencing,
                          transport,
                          new ProcessMemory(1L << 30, 1L << 30),
                          Optional.empty(),
                          aborts::add)))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("as dead");
      assertThat(cluster.servers()).isEqualTo(before);
      assertThat(fs.exists(logs.get(0))).as("logs that its fence would meet twice").isFalse();
    }
  }
}
