package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.metadata.Assignment;
import io.stele.metadata.Bootstrap;
import io.stele.metadata.Layout;
import io.stele.metadata.LockServiceRestore;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.Mutation;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.runtime.SystemRuntime;
import io.stele.wire.NetworkTransport;
import io.stele.wire.Transport;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The lock service loses its data, or is put back to an earlier state. */
@Timeout(120)
class LostLockServiceTest {
  private static final Configuration CONF = MiniStele.quick(new Configuration(false));
  private static final Path ROOT = new Path("/stele");
  private static final int ROWS = 60;

  private final CrashableDisk disk = new CrashableDisk();
  private final MemoryLockStore store = new MemoryLockStore();

  @Test
  void aLockServiceThatLostEverythingIsRestored() throws IOException {
    try (MiniStele cluster = start(store)) {
      Stele stele = cluster.client();
      stele
          .admin()
          .createTable(TableSchema.of("web", "f"), List.of(Bytes.of("r3"), Bytes.of("r6")));
      write(stele.table("web"), 0, ROWS / 3);
      moveRoot(cluster);
      cluster.startServer();
      write(stele.table("web"), ROWS / 3, 2 * ROWS / 3);
      stele.admin().alterTable("web", schema -> schema.with(ColumnFamily.of("g")));
      stele.admin().createTable(TableSchema.of("links", "to"));
      stele.table("links").mutate(Mutation.of("a").put("to", "b", "1"));
      MiniStele.await("the new tables are copied", () -> tablesCopied(store) == 2);
      // The records of METADATA and of root change once more.
      stele.admin().compactTable("web");
      write(stele.table("web"), 2 * ROWS / 3, ROWS);
      killAll(cluster);
    }

    MemoryLockStore empty = new MemoryLockStore();
    assertThatThrownBy(() -> begin(empty)).hasMessageContaining("stele restore-zookeeper");
    restore(empty);
    try (MiniStele cluster = start(empty)) {
      Stele stele = cluster.client();
      assertThat(stele.admin().listTables())
          .extracting(TableSchema::name)
          .containsExactlyInAnyOrder("web", "links");
      Table web = stele.table("web");
      for (int i = 0; i < ROWS; i++) {
        assertThat(web.readRow(row(i)).orElseThrow().value("f", "q"))
            .contains(Bytes.of(String.valueOf(i)));
      }
      assertThat(stele.table("links").readRow("a")).isPresent();
      web.mutate(Mutation.of("new").put("f", "q", "1"));
      assertThat(web.tablets()).hasSize(3);
      assertThat(cluster.aborts()).isEmpty();
    }
  }

  @Test
  void anEarlierStateOfTheLockServiceIsRefused() throws IOException {
    Bytes earlier;
    try (MiniStele cluster = start(store)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("web", "f"));
      write(stele.table("web"), 0, 1);
      earlier = cluster.locks().read(LockPaths.ROOT).orElseThrow().data();
      moveRoot(cluster);
      write(stele.table("web"), 1, 2);
      killAll(cluster);
    }
    try (LockService locks = store.connect()) {
      VersionedData latest = locks.read(LockPaths.ROOT).orElseThrow();
      locks.write(LockPaths.ROOT, earlier, latest.version());
      assertThatThrownBy(() -> begin(store)).hasMessageContaining("put back to an earlier state");
      assertThatThrownBy(() -> restore(store)).hasMessageContaining("delete the cluster's node");
      locks.write(
          LockPaths.ROOT, latest.data(), locks.read(LockPaths.ROOT).orElseThrow().version());
    }
    try (MiniStele cluster = start(store)) {
      assertThat(cluster.client().table("web").readRow(row(1))).isPresent();
    }
  }

  @Test
  void aClusterThatRunsIsNotRestored() throws IOException {
    try (MiniStele cluster = start(store)) {
      cluster.client().admin().createTable(TableSchema.of("web", "f"));
      MiniStele.await("the table is copied", () -> tablesCopied(store) == 1);
      assertThatThrownBy(() -> restore(store))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("end all masters and tablet servers first");
    }
  }

  private Site site(MemoryLockStore locks) {
    return Site.inMemory(disk, locks);
  }

  private MiniStele start(MemoryLockStore locks) throws IOException {
    return MiniStele.start(CONF, site(locks), 2, 1);
  }

  /** What a master does first. */
  private void begin(MemoryLockStore from) throws IOException {
    try (LockService locks = from.connect();
        Transport transport = new NetworkTransport(CONF, SystemRuntime.INSTANCE, "localhost");
        TabletAccess access =
            new TabletAccess(
                SystemRuntime.INSTANCE, locks, transport.dataPlane(), Duration.ofSeconds(1))) {
      TabletRecords records =
          new TabletRecords(SystemRuntime.INSTANCE, locks, access, Duration.ofSeconds(5));
      Bootstrap.begin(SystemRuntime.INSTANCE, disk.mount(), ROOT, locks, records);
    }
  }

  private void killAll(MiniStele cluster) {
    List.copyOf(cluster.servers()).forEach(cluster::killServer);
    cluster.killMaster();
  }

  /** Kills the server of the root tablet, which another one serves then. */
  private static void moveRoot(MiniStele cluster) throws IOException {
    Assignment before = cluster.records().readRoot().orElseThrow().assignment();
    cluster.killServer(before.server().orElseThrow());
    MiniStele.await(
        "another server serves the root tablet",
        () -> {
          Assignment now = cluster.records().readRoot().orElseThrow().assignment();
          return now.epoch() > before.epoch() && now.state() == Assignment.State.LOADED;
        });
  }

  private LockServiceRestore restoring(LockService locks) throws IOException {
    FileSystem fs = disk.mount();
    return new LockServiceRestore(SystemRuntime.INSTANCE, fs, Layout.open(fs, ROOT), locks);
  }

  private long tablesCopied(MemoryLockStore from) throws IOException {
    try (LockService locks = from.connect()) {
      return restoring(locks).tables();
    } catch (SteleException e) {
      return 0; // No copy yet.
    }
  }

  private void restore(MemoryLockStore into) throws IOException {
    try (LockService locks = into.connect()) {
      restoring(locks).restore();
    }
  }

  private static void write(Table table, int from, int to) throws IOException {
    for (int i = from; i < to; i++) {
      table.mutate(Mutation.of(row(i)).put("f", "q", String.valueOf(i)));
    }
  }

  private static String row(int number) {
    return "r" + (number % 10) + "-" + number;
  }
}
