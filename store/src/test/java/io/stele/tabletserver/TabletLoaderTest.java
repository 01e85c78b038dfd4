package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import io.stele.config.Keys;
import io.stele.log.LogRepair;
import io.stele.metadata.Assignment;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecord;
import io.stele.model.ColumnFamily;
import io.stele.model.CorruptionException;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.model.TabletKind;
import io.stele.runtime.ForwardingRuntime;
import io.stele.runtime.IoRunnable;
import io.stele.runtime.SystemRuntime;
import io.stele.tablet.OperationBudget;
import io.stele.tablet.OperationRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TabletLoaderTest {
  private static final TableSchema SCHEMA = TableSchema.of("t", "f");

  private final TestServer.World world = new TestServer.World();

  @Test
  void aTabletIsServedWhenItsRecordSaysLoaded() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      assertThat(server.stored(hosted.id()).assignment().state())
          .isEqualTo(Assignment.State.LOADED);
      assertThat(server.context.tablets().has(hosted)).isTrue();
    }
  }

  @Test
  void whatADeadServerLoggedIsReplayed() throws Exception {
    TestServer first = new TestServer(world);
    HostedTablet hosted = first.takeNew(SCHEMA);
    TestServer.put(hosted, "in a file", "1");
    hosted.tablet().minorCompact();
    TestServer.put(hosted, "in the log", "2");
    TabletRecord loaded = first.stored(hosted.id());
    first.dieAndBeFenced();

    try (TestServer second = new TestServer(world)) {
      HostedTablet again = second.takeOver(loaded);
      assertThat(TestServer.rows(again)).isEqualTo(2);
      assertThat(again.tablet().replayedRecords()).isEqualTo(1);
      assertThat(second.loader.hasReplayToCover(again)).isTrue();
      second.loader.coverReplay(again);
      assertThat(second.loader.hasReplayToCover(again)).isFalse();
      assertThat(second.stored(again.id()).logs()).containsExactly(second.context.id());
    }
  }

  /** A tablet with so many rows of 100 KiB in the log of a server that is fenced. */
  private TabletRecord diedWithLargeRows(int rows) throws Exception {
    TestServer first = new TestServer(world);
    HostedTablet hosted = first.takeNew(SCHEMA);
    putLarge(hosted, rows);
    TabletRecord loaded = first.stored(hosted.id());
    first.dieAndBeFenced();
    return loaded;
  }

  private static void putLarge(HostedTablet hosted, int rows) throws Exception {
    for (int i = 0; i < rows; i++) {
      TestServer.put(hosted, "row" + i, "x".repeat(100 << 10));
    }
  }

  @Test
  void aReplayWaitsForRoomInTheMemtables() throws Exception {
    TabletRecord loaded = diedWithLargeRows(7);

    Configuration conf = new Configuration(false);
    conf.set(Keys.MEMTABLE_TOTAL_BYTES.name(), "1m");
    try (TestServer second = new TestServer(world, SystemRuntime.INSTANCE, conf)) {
      HostedTablet busy = second.takeNew(TableSchema.of("busy", "f"));
      putLarge(busy, 6);
      MemtableBudget memtables = second.context.resources().of(loaded.id()).memtables();
      TabletRecord free = second.records().release(loaded, "its server died");
      CompletableFuture<HostedTablet> again =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return second.take(free);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
      while (memtables.excess() <= 0) { // As it is once the replay has met no room.
        Thread.onSpinWait();
      }
      while (memtables.bytes() < 800 << 10) { // It has begun anew, and waits.
        Thread.onSpinWait();
      }
      assertThat(again).isNotDone();
      assertThat(memtables.bytes()).isLessThanOrEqualTo(1 << 20);
      busy.tablet().minorCompact();
      assertThat(TestServer.rows(again.get(30, TimeUnit.SECONDS))).isEqualTo(7);
      assertThat(memtables.bytes()).isLessThanOrEqualTo(1 << 20);
    }
  }

  @Test
  void aTabletWithMoreToReplayThanMemtablesMayHaveIsLoadedWhereNothingElseIs() throws Exception {
    TabletRecord loaded = diedWithLargeRows(15);
    Configuration conf = new Configuration(false);
    conf.set(Keys.MEMTABLE_TOTAL_BYTES.name(), "1m");
    try (TestServer second = new TestServer(world, SystemRuntime.INSTANCE, conf)) {
      HostedTablet again = second.takeOver(loaded);
      assertThat(TestServer.rows(again)).isEqualTo(15);
    }
  }

  /** Has one client write rows until a server's tablets remember more than {@code bytes}. */
  private static int putUntilRemembered(TestServer server, HostedTablet hosted, long bytes)
      throws Exception {
    OperationBudget operations = server.context.resources().of(hosted.id()).operations();
    int rows = 0;
    while (operations.bytes() <= bytes) {
      rows++;
      OperationId id = new OperationId(1, 1, rows);
      Mutation put = Mutation.of("row" + rows).put("f", "q", "v");
      hosted.tablet().apply(OperationRequest.of(put, id, 1)).get(30, TimeUnit.SECONDS);
    }
    return rows;
  }

  /** Remembers 64 KiB of operations; {@code sleeps} runs whenever a thread would sleep. */
  private TestServer forgetful(Runnable sleeps) throws IOException {
    Configuration conf = new Configuration(false);
    conf.set(Keys.OPERATIONS_BYTES.name(), "64k");
    return new TestServer(
        world,
        new ForwardingRuntime() {
          @Override
          public void sleep(Duration time) {
            sleeps.run();
          }
        },
        conf);
  }

  @Test
  void aReplayWaitsUntilTheOperationsOfOthersAreWritten() throws Exception {
    TestServer first = new TestServer(world);
    HostedTablet hosted = first.takeNew(SCHEMA);
    int rows = putUntilRemembered(first, hosted, 48 << 10);
    TabletRecord loaded = first.stored(hosted.id());
    first.dieAndBeFenced();

    AtomicReference<TestServer> self = new AtomicReference<>();
    AtomicLong most = new AtomicLong();
    Runnable compaction =
        () -> {
          OperationBudget operations = self.get().context.resources().of(loaded.id()).operations();
          most.accumulateAndGet(operations.bytes(), Math::max);
          self.get().maintenance().round();
          self.get().work();
        };
    try (TestServer second = forgetful(compaction)) {
      self.set(second);
      HostedTablet busy = second.takeNew(TableSchema.of("busy", "f"));
      putUntilRemembered(second, busy, 64 << 10);
      OperationBudget operations = second.context.resources().of(loaded.id()).operations();
      long before = operations.bytes();
      HostedTablet again = second.takeOver(loaded);
      assertThat(TestServer.rows(again)).isEqualTo(rows);
      assertThat(most.get()).as("nothing was replayed meanwhile").isBetween(before, before + 1000);
      assertThat(operations.isFull()).isFalse();
    }
  }

  @Test
  void aTabletThatRemembersMoreThanItMayIsLoadedWhereNothingElseIs() throws Exception {
    TestServer first = new TestServer(world);
    HostedTablet hosted = first.takeNew(SCHEMA);
    int rows = putUntilRemembered(first, hosted, 96 << 10);
    TabletRecord loaded = first.stored(hosted.id());
    first.dieAndBeFenced();
    Runnable never = () -> fail("nobody makes room: waiting is in vain");
    try (TestServer second = forgetful(never)) {
      HostedTablet again = second.takeOver(loaded);
      assertThat(TestServer.rows(again)).isEqualTo(rows);
    }
  }

  @Test
  void aLogThatTheRecordNamesAndThatIsGoneFailsTheLoad() throws Exception {
    TestServer first = new TestServer(world);
    TabletRecord loaded = first.stored(first.takeNew(SCHEMA).id());
    first.dieAndBeFenced();
    try (TestServer second = new TestServer(world)) {
      second.fs.delete(second.layout.recovery(first.context.id()), true);
      TabletRecord free = second.records().release(loaded, "its server died");
      assertThatThrownBy(() -> second.take(free)).isInstanceOf(CorruptionException.class);
      assertThat(second.context.tablets().count()).isZero();
      assertThat(second.stored(loaded.id()).assignment().state())
          .isEqualTo(Assignment.State.ASSIGNED);
    }
  }

  @Test
  void aTabletWhoseLogLostASegmentIsLoadedOnceThatLossIsAccepted() throws Exception {
    TestServer first = new TestServer(world);
    HostedTablet hosted = first.takeNew(SCHEMA);
    TestServer.put(hosted, "in a file", "1");
    hosted.tablet().minorCompact();
    TestServer.put(hosted, "lost", "2");
    TabletRecord loaded = first.stored(hosted.id());
    first.dieAndBeFenced();
    try (TestServer second = new TestServer(world)) {
      Path log = second.layout.recovery(first.context.id());
      for (FileStatus file : second.fs.listStatus(log)) {
        if (file.getPath().getName().startsWith("user-")) {
          second.fs.delete(file.getPath(), false);
        }
      }
      TabletRecord free = second.records().release(loaded, "its server died");
      assertThatThrownBy(() -> second.take(free))
          .isInstanceOf(CorruptionException.class)
          .hasMessageContaining("stele log check");
      for (LogRepair.Damaged damaged : LogRepair.check(second.fs, log)) {
        LogRepair.accept(second.fs, log, damaged.segment().path().getName());
      }
      HostedTablet again =
          second.take(second.records().release(second.stored(loaded.id()), "could not load"));
      assertThat(TestServer.rows(again)).isEqualTo(1);
      TestServer.put(again, "after", "3");
      second.loader.coverReplay(again);
      second.lifecycle.unload(again, false);
      assertThat(TestServer.rows(second.take(second.stored(loaded.id())))).isEqualTo(2);
    }
  }

  @Test
  void afterALossThatWasAcceptedTheNextCrashLosesNothing() throws Exception {
    TestServer first = new TestServer(world);
    HostedTablet hosted = first.takeNew(SCHEMA);
    HostedTablet other = first.takeNew(TableSchema.of("other", "f"));
    TestServer.put(hosted, "in a file", "1");
    hosted.tablet().minorCompact();
    TestServer.put(hosted, "lost", "2");
    String written = rollLog(first);
    TestServer.put(other, "names the segment before", "3");
    TabletRecord loaded = first.stored(hosted.id());
    first.dieAndBeFenced();
    TestServer second = new TestServer(world);
    Path log = second.layout.recovery(first.context.id());
    second.fs.delete(new Path(log, written), false);
    for (LogRepair.Damaged damaged : LogRepair.check(second.fs, log)) {
      LogRepair.accept(second.fs, log, damaged.segment().path().getName());
    }
    HostedTablet again = second.takeOver(loaded);
    assertThat(again.tablet().replayedRecords()).isZero();
    second.loader.coverReplay(again);
    assertThat(second.loader.hasReplayToCover(again)).isFalse();
    TestServer.put(again, "after", "4");
    TabletRecord reloaded = second.stored(loaded.id());
    second.dieAndBeFenced();
    try (TestServer third = new TestServer(world)) {
      HostedTablet last = third.takeOver(reloaded);
      assertThat(TestServer.rows(last)).isEqualTo(2);
    }
  }

  @Test
  void aTabletGoesOnWithoutALogThatWasGivenUpAfterItWasWrittenToInALaterOne() throws Exception {
    TestServer first = new TestServer(world);
    HostedTablet hosted = first.takeNew(SCHEMA);
    TestServer.put(hosted, "in the first log", "1");
    TestServer.put(hosted, "there too", "2");
    TabletRecord loaded = first.stored(hosted.id());
    first.dieAndBeFenced();
    TestServer second = new TestServer(world);
    HostedTablet again = second.takeOver(loaded);
    TestServer.put(again, "in the second log", "3");
    loaded = second.stored(hosted.id()); // Before its replay is covered.
    second.dieAndBeFenced();
    TestServer third = new TestServer(world);
    Path logs = third.layout.logs(first.context.id());
    Path gone = third.layout.recovery(first.context.id());
    third.fs.delete(gone, true);
    LogRepair.giveUp(SystemRuntime.INSTANCE, third.fs, logs, gone);
    again = third.takeOver(loaded);
    assertThat(TestServer.rows(again)).isEqualTo(1);
    TestServer.put(again, "after", "4");
    loaded = third.stored(hosted.id());
    third.dieAndBeFenced();
    try (TestServer fourth = new TestServer(world)) {
      HostedTablet last = fourth.takeOver(loaded);
      assertThat(TestServer.rows(last)).isEqualTo(2);
      fourth.loader.coverReplay(last);
      assertThat(fourth.stored(hosted.id()).logs()).containsExactly(fourth.context.id());
    }
  }

  /** Has the log of user tablets begin a segment; returns the name of the one before. */
  private static String rollLog(TestServer server) throws IOException {
    SortedSet<String> before = segments(server);
    server.context.resources().of(TabletKind.USER).log().roll();
    while (before.containsAll(segments(server))) { // The next one stands by when it is done.
      Thread.onSpinWait();
    }
    return before.first();
  }

  private static SortedSet<String> segments(TestServer server) throws IOException {
    SortedSet<String> names = new TreeSet<>();
    for (FileStatus file : server.fs.listStatus(server.layout.logs(server.context.id()))) {
      if (file.getPath().getName().startsWith("user-")) {
        names.add(file.getPath().getName());
      }
    }
    return names;
  }

  @Test
  void onlyTheServerAndTheEpochOfTheAssignmentLoad() throws Exception {
    try (TestServer server = new TestServer(world);
        TestServer other = new TestServer(world)) {
      TabletRecord assigned =
          server.records().assign(server.createTable(SCHEMA), server.context.id());
      long epoch = assigned.assignment().epoch();
      for (IoRunnable wrong :
          List.<IoRunnable>of(
              () -> other.load(assigned, epoch), () -> server.load(assigned, epoch + 1))) {
        assertThatThrownBy(wrong::run)
            .isInstanceOfSatisfying(
                SteleException.class,
                e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED));
      }
      server.load(assigned, epoch);
      assertThatThrownBy(() -> server.load(assigned, epoch)).isInstanceOf(SteleException.class);
    }
  }

  @Test
  void aServerThatCannotTellWhetherItsTabletIsLoadedEnds() throws Exception {
    try (TestServer server = new TestServer(world)) {
      TabletRecord free = server.createTable(SCHEMA);
      TabletRecord assigned = server.records().assign(free, server.context.id());
      world.metadata.after(
          update -> {
            throw SteleException.outcomeUnknown("no answer", new IOException());
          });
      assertThatThrownBy(() -> server.load(assigned)).isInstanceOf(SteleException.class);
      assertThat(server.aborts).hasSize(1);
    }
  }

  @Test
  void aSchemaThatCameWhileTheTabletWasBeingLoadedIsInForce() throws Exception {
    try (TestServer server = new TestServer(world)) {
      TabletRecord free = server.createTable(SCHEMA);
      TableSchema wider = TableSchema.of("t", List.of(ColumnFamily.of("f"), ColumnFamily.of("g")));
      TabletRecord assigned = server.records().assign(free, server.context.id());
      world.metadata.before(
          update -> {
            world.metadata.before(other -> {});
            StoredTable altered = server.schemas.alter(server.schemas.require("t"), wider);
            server.context.tablets().alter(altered);
          });
      server.load(assigned);
      HostedTablet hosted = server.context.tablets().find(assigned.id()).orElseThrow();
      assertThat(hosted.tablet().schema().families()).hasSize(2);
    }
  }

  @Test
  void aSchemaIsForgottenWhenNoTabletNeedsIt() throws Exception {
    try (TestServer server = new TestServer(world)) {
      TabletRecord free = server.createTable(SCHEMA);
      StoredTable table = server.schemas.require("t");
      HostedTablets tablets = server.context.tablets();
      tablets.alter(table);
      assertThat(tablets.schemasKnown()).as("nothing of it is here").isZero();
      HostedTablet hosted = server.take(free);
      tablets.alter(server.schemas.require("t"));
      assertThat(tablets.schemasKnown()).isEqualTo(1);
      server.lifecycle.unload(hosted, false);
      assertThat(tablets.schemasKnown()).isZero();
    }
  }

  /** One load may use what another has read, but not if the schema was altered in between. */
  @Test
  void aSchemaThatCameBetweenTwoLoadsIsInForce() throws Exception {
    try (TestServer server = new TestServer(world)) {
      long requested = server.context.runtime().nanoTime();
      TabletRecord first = server.createTable(SCHEMA);
      TableSchema wider = TableSchema.of("t", List.of(ColumnFamily.of("f"), ColumnFamily.of("g")));
      TabletRecord assigned = server.records().assign(first, server.context.id());
      world.metadata.before(
          update -> {
            throw SteleException.refused("for the test");
          });
      assertThatThrownBy(() -> load(server, assigned, requested)).isInstanceOf(IOException.class);
      world.metadata.before(update -> {});
      server.lifecycle.alter(server.schemas.alter(server.schemas.require("t"), wider));
      load(server, assigned, requested);
      HostedTablet hosted = server.context.tablets().find(assigned.id()).orElseThrow();
      assertThat(hosted.tablet().schema().families()).hasSize(2);
    }
  }

  private static void load(TestServer server, TabletRecord assigned, long requested)
      throws IOException {
    server.loader.load(assigned.id(), assigned.row(), assigned.assignment().epoch(), requested);
  }
}
