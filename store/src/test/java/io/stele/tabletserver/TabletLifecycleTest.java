package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.format.Crc32c;
import io.stele.metadata.Assignment;
import io.stele.metadata.LoadTrouble;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.sim.FaultInjector;
import io.stele.sim.Operation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TabletLifecycleTest {
  private static final TableSchema SCHEMA = TableSchema.of("t", "f");

  private final TestServer.World world = new TestServer.World();

  /** A new tablet, assigned to the server, which has not heard of it. */
  private static TabletRecord assignedNew(TestServer server) throws IOException {
    return server.records().assign(server.createTable(SCHEMA), server.context.id());
  }

  /** The server is asked to load a tablet, and has done what it will about it. */
  private static void load(TestServer server, TabletRecord assigned) {
    load(server, assigned, assigned.assignment().epoch());
  }

  private static void load(TestServer server, TabletRecord assigned, long epoch) {
    server.lifecycle.load(assigned.id(), assigned.row(), epoch);
    server.work();
  }

  @Test
  void whatIsAskedForTwiceIsDoneOnce() throws Exception {
    try (TestServer server = new TestServer(world)) {
      TabletRecord assigned = assignedNew(server);
      long epoch = assigned.assignment().epoch();
      server.lifecycle.load(assigned.id(), assigned.row(), epoch);
      server.lifecycle.load(assigned.id(), assigned.row(), epoch);
      assertThat(server.loaders.size()).isEqualTo(1);
      server.work();
      assertThat(server.context.tablets().count()).isEqualTo(1);
      load(server, assigned);
      assertThat(server.context.tablets().count()).isEqualTo(1);
      assertThat(server.aborts).isEmpty();
    }
  }

  /** It is asked for before the unload of the same tablet has ended: it is not asked for again. */
  @Test
  void aLoadWaitsForTheEndOfAnUnload() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      long epoch = hosted.tablet().epoch();
      server.lifecycle.unload(hosted.id(), epoch, false);
      server.lifecycle.load(hosted.id(), hosted.record().row(), epoch + 1);
      server.loaders.work();
      TabletRecord free = server.stored(hosted.id());
      assertThat(free.assignment().state()).isEqualTo(Assignment.State.NONE);
      TabletRecord assigned = server.records().assign(free, server.context.id());
      assertThat(assigned.assignment().epoch()).isEqualTo(epoch + 1);
      server.work();
      assertThat(server.context.tablets().find(hosted.id()).orElseThrow().tablet().epoch())
          .isEqualTo(epoch + 1);
      assertThat(server.lifecycle.isBusy()).isFalse();
    }
  }

  @Test
  void anUnloadedTabletHasAllInFilesAndNamesNoLogOfItsServer() throws Exception {
    try (TestServer first = new TestServer(world);
        TestServer second = new TestServer(world)) {
      HostedTablet hosted = first.takeNew(SCHEMA);
      TestServer.put(hosted, "row", "value");
      first.lifecycle.unload(hosted.id(), hosted.tablet().epoch(), false);
      first.work();
      assertThat(first.context.tablets().count()).isZero();
      TabletRecord free = first.stored(hosted.id());
      assertThat(free.assignment().state()).isEqualTo(Assignment.State.NONE);
      assertThat(free.logs()).isEmpty();
      HostedTablet moved = second.take(free);
      assertThat(TestServer.rows(moved)).isEqualTo(1);
      assertThat(moved.tablet().replayedRecords()).isZero();
    }
  }

  @Test
  void aTabletLeavesInTheMiddleOfALongCompaction() throws Exception {
    try (TestServer first = new TestServer(world);
        TestServer second = new TestServer(world)) {
      HostedTablet hosted = first.takeNew(SCHEMA);
      TestServer.put(hosted, "row", "value".repeat(100_000));
      hosted.tablet().minorCompact();
      CountDownLatch compacting = new CountDownLatch(1);
      CompletableFuture<Void> endless =
          CompletableFuture.runAsync(() -> compactForEver(hosted, compacting));
      compacting.await();
      first.lifecycle.unload(hosted.id(), hosted.tablet().epoch(), false);
      first.work();
      assertThat(first.context.tablets().count()).isZero();
      assertThatThrownBy(endless::get)
          .hasMessageContaining("is about to leave this server or to be split");
      assertThat(TestServer.rows(second.take(first.stored(hosted.id())))).isEqualTo(1);
    }
  }

  @Test
  void aTabletIsSplitInTheMiddleOfALongCompaction() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      TestServer.put(hosted, "a", "value".repeat(100_000));
      TestServer.put(hosted, "z", "value".repeat(100_000));
      hosted.tablet().minorCompact();
      CountDownLatch compacting = new CountDownLatch(1);
      CompletableFuture<Void> endless =
          CompletableFuture.runAsync(() -> compactForEver(hosted, compacting));
      compacting.await();
      server.lifecycle.split(hosted.id(), hosted.tablet().epoch(), Optional.of(Bytes.of("m")));
      server.work();
      assertThat(server.context.tablets().count()).isEqualTo(2);
      assertThatThrownBy(endless::get).hasMessageContaining("or to be split");
    }
  }

  @Test
  void aCompactionOfATableLeavesOutTabletsThatLeave() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      TestServer.put(hosted, "row", "value".repeat(100_000));
      hosted.tablet().minorCompact();
      hosted.tablet().abortRewrites();
      assertThatThrownBy(hosted.tablet()::majorCompact).isInstanceOf(SteleException.class);
      server.compactions.compact(hosted.id().table());
      assertThat(hosted.rewrites().free()).isEqualTo(HostedTablet.REWRITES_MAX);
    }
  }

  private static void compactForEver(HostedTablet hosted, CountDownLatch compacting) {
    try {
      hosted.awaitRewrite();
      try {
        while (true) {
          hosted.tablet().majorCompact();
          compacting.countDown();
        }
      } finally {
        hosted.rewrites().release(1);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aTabletUnloadedRightAfterItWasReplayedNamesNoLogEither() throws Exception {
    TestServer first = new TestServer(world);
    HostedTablet hosted = first.takeNew(SCHEMA);
    TestServer.put(hosted, "row", "value");
    TabletRecord loaded = first.stored(hosted.id());
    first.dieAndBeFenced();
    try (TestServer second = new TestServer(world);
        TestServer third = new TestServer(world)) {
      HostedTablet replayed = second.takeOver(loaded);
      second.lifecycle.unload(replayed.id(), replayed.tablet().epoch(), false);
      second.work();
      TabletRecord free = second.stored(hosted.id());
      assertThat(free.logs()).isEmpty();
      assertThat(TestServer.rows(third.take(free))).isEqualTo(1);
    }
  }

  @Test
  void aStaleEpochUnloadsNothing() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      server.lifecycle.unload(hosted.id(), hosted.tablet().epoch() - 1, false);
      server.work();
      assertThat(server.context.tablets().has(hosted)).isTrue();
    }
  }

  @Test
  void aDiscardedTabletWritesNothing() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      TestServer.put(hosted, "row", "value");
      StoredTable table = server.schemas.table(hosted.id().table()).orElseThrow();
      server.schemas.advance(table, StoredTable.State.DROPPING);
      server.lifecycle.unload(hosted.id(), hosted.tablet().epoch(), true);
      server.work();
      TabletRecord free = server.stored(hosted.id());
      assertThat(free.assignment().state()).isEqualTo(Assignment.State.NONE);
      assertThat(free.files()).isEmpty();
      assertThat(server.context.resources().of(hosted.id()).log().oldestNeeded()).isEmpty();
    }
  }

  @Test
  void aTabletOfATableThatIsNotBeingDroppedKeepsAllWhateverTheMasterSays() throws Exception {
    try (TestServer first = new TestServer(world);
        TestServer second = new TestServer(world)) {
      HostedTablet hosted = first.takeNew(SCHEMA);
      TestServer.put(hosted, "row", "value");
      first.lifecycle.unload(hosted.id(), hosted.tablet().epoch(), true);
      first.work();
      TabletRecord free = first.stored(hosted.id());
      assertThat(free.assignment().state()).isEqualTo(Assignment.State.NONE);
      assertThat(TestServer.rows(second.take(free))).isEqualTo(1);
    }
  }

  @Test
  void aTabletOfATableWhoseNodeIsGoneIsDiscarded() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      TestServer.put(hosted, "row", "value");
      assertThat(server.schemas.delete(server.schemas.table(hosted.id().table()).orElseThrow()))
          .isTrue();
      server.lifecycle.unload(hosted.id(), hosted.tablet().epoch(), true);
      server.work();
      assertThat(server.stored(hosted.id()).files()).isEmpty();
      assertThat(server.context.tablets().count()).isZero();
    }
  }

  @Test
  void aTabletWhoseUnloadingFailsIsServedAsBefore() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      TestServer.put(hosted, "row", "value");
      world.disk.inject(
          FaultInjector.always(
              Operation.CREATE,
              path -> path.getName().endsWith(".sst"),
              new FaultInjector.Effect.Fail()));
      assertThatThrownBy(() -> server.evacuation.unloadAll(() -> true))
          .isInstanceOf(IOException.class);
      world.disk.heal();
      assertThat(server.context.tablets().has(hosted)).isTrue();
      TestServer.put(hosted, "row2", "value");
      assertThat(TestServer.rows(hosted)).isEqualTo(2);
      server.evacuation.unloadAll(() -> true);
      assertThat(server.context.tablets().count()).isZero();
      assertThat(server.aborts).isEmpty();
    }
  }

  @Test
  void oneTabletThatCannotBeUnloadedDoesNotHoldUpOthers() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet stuck = server.takeNew(SCHEMA);
      TestServer.put(stuck, "row", "value");
      HostedTablet other = server.takeNew(TableSchema.of("other", "f"));
      TestServer.put(other, "row", "value");
      world.disk.inject(
          FaultInjector.always(
              Operation.CREATE,
              path -> path.toString().contains("/" + stuck.id().table() + "/"),
              new FaultInjector.Effect.Fail()));
      assertThatThrownBy(() -> server.evacuation.unloadAll(() -> true))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(stuck.id().toString());
      world.disk.heal();
      assertThat(server.context.tablets().all()).containsExactly(stuck);
    }
  }

  @Test
  void aServerThatHasUnloadedForGoodLoadsNothingWhoeverDrainsItOrTakesThatBack() throws Exception {
    try (TestServer server = new TestServer(world)) {
      TabletRecord assigned = assignedNew(server);
      server.evacuation.unloadForShutdown(() -> true);
      server.lifecycle.setDraining(true);
      server.lifecycle.setDraining(false);
      load(server, assigned);
      assertThat(server.context.tablets().count()).isZero();
    }
  }

  @Test
  void whileDrainingNoUserTabletIsLoaded() throws Exception {
    try (TestServer server = new TestServer(world)) {
      TabletRecord assigned = assignedNew(server);
      server.lifecycle.setDraining(true);
      load(server, assigned);
      assertThat(server.context.tablets().count()).isZero();
      server.lifecycle.setDraining(false);
      load(server, assigned);
      assertThat(server.context.tablets().count()).isEqualTo(1);
    }
  }

  @Test
  void aFailedLoadLeavesTheServerAliveAndMayBeAskedForAgain() throws Exception {
    try (TestServer server = new TestServer(world)) {
      TabletRecord free = server.createTable(SCHEMA);
      TabletRecord assigned = server.records().assign(free, server.context.id());
      long epoch = assigned.assignment().epoch();
      load(server, assigned, epoch + 1);
      assertThat(server.context.tablets().count()).isZero();
      assertThat(server.aborts).isEmpty();
      load(server, assigned);
      assertThat(server.context.tablets().count()).isEqualTo(1);
    }
  }

  @Test
  void theMasterIsToldAtOnceOfATabletThatCannotBeLoadedButNotOfALateRequest() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      TestServer.put(hosted, "row", "value");
      server.lifecycle.unload(hosted, false);
      TabletRecord assigned =
          server.records().assign(server.stored(hosted.id()), server.context.id());
      long epoch = assigned.assignment().epoch();
      load(server, assigned, epoch + 1);
      assertThat(server.notLoaded).isEmpty();
      world.disk.inject(TestServer.openingAnSSTableThrows("a fault"));
      load(server, assigned);
      assertThat(server.notLoaded).containsExactly(assigned.id() + " TABLET");
      world.disk.heal();
      world.disk.inject(TestServer.openingAnSSTableFails());
      load(server, assigned);
      assertThat(server.notLoaded).endsWith(assigned.id() + " CIRCUMSTANCES").hasSize(2);
      assertThat(server.aborts).isEmpty();
    }
  }

  @Test
  void theMasterIsToldOfATabletThatOnlyANewerVersionCanLoad() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      TestServer.put(hosted, "row", "value");
      server.lifecycle.unload(hosted, false);
      TabletRecord assigned =
          server.records().assign(server.stored(hosted.id()), server.context.id());
      world.metadata.require(assigned.row(), "x");
      load(server, assigned);
      assertThat(server.notLoaded).containsExactly(assigned.id() + " CIRCUMSTANCES");

      world.metadata.require(assigned.row(), "");
      String path = assigned.files().get(0).path();
      raiseFormatVersion(server, new Path(server.layout.root(), path));
      load(server, assigned);
      assertThat(server.notLoaded).endsWith(assigned.id() + " CIRCUMSTANCES").hasSize(2);
      assertThat(server.context.tablets().count()).isZero();
      assertThat(server.aborts).isEmpty();
    }
  }

  /** Makes an SSTable one of the next version: the end of its footer is version, CRC and magic. */
  private static void raiseFormatVersion(TestServer server, Path path) throws IOException {
    byte[] bytes;
    try (FSDataInputStream in = server.fs.open(path)) {
      bytes = in.readAllBytes();
    }
    ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int crcAt = bytes.length - Long.BYTES - Integer.BYTES;
    int versionAt = crcAt - Integer.BYTES;
    int footerAt = bytes.length - file.getInt(versionAt - Integer.BYTES);
    file.putInt(versionAt, file.getInt(versionAt) + 1);
    file.putInt(crcAt, Crc32c.of(bytes, footerAt, crcAt - footerAt));
    try (FSDataOutputStream out = server.fs.create(path, true)) {
      out.write(bytes);
    }
  }

  @Test
  void aTabletThatTheMasterTookAwayWhileItWasLoadedDoesNotEndTheServer() throws Exception {
    try (TestServer server = new TestServer(world)) {
      TabletRecord assigned = assignedNew(server);
      world.metadata.before(
          update -> {
            world.metadata.before(other -> {});
            server
                .records()
                .notLoaded(
                    assigned, new LoadTrouble("it took long", server.context.id(), 0, 0, false));
          });
      load(server, assigned);
      assertThat(server.context.tablets().count()).isZero();
      assertThat(server.aborts).isEmpty();
      assertThat(server.stored(assigned.id()).assignment().server()).isEmpty();
    }
  }

  @Test
  void compactingATableCompactsEachOfItsTablets() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      for (int i = 0; i < 3; i++) {
        TestServer.put(hosted, "row" + i, "value");
        hosted.tablet().minorCompact();
      }
      TestServer.put(hosted, "row", "value");
      server.compactions.compact(hosted.id().table());
      assertThat(hosted.tablet().statistics().files()).isEqualTo(1);
      assertThat(hosted.tablet().statistics().memtableBytes()).isZero();
      assertThat(hosted.rewrites().free()).isEqualTo(HostedTablet.REWRITES_MAX);
    }
  }
}
