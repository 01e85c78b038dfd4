package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.config.Keys;
import io.stele.log.CommitLog;
import io.stele.metadata.Assignment;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecord;
import io.stele.model.ColumnFamily;
import io.stele.model.LocalityGroup;
import io.stele.model.Mutation;
import io.stele.model.TableSchema;
import io.stele.model.TabletKind;
import io.stele.runtime.ForwardingRuntime;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.FaultInjector;
import io.stele.sim.Operation;
import io.stele.tablet.OperationRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class MaintenanceTest {
  private static final TableSchema SCHEMA = TableSchema.of("t", "f");

  private final TestServer.World world = new TestServer.World();
  private final Configuration conf = new Configuration(false);

  private TestServer server() throws IOException {
    return new TestServer(world, SystemRuntime.INSTANCE, conf);
  }

  @Test
  void aLargeMemtableIsWrittenOutOnce() throws Exception {
    conf.set(Keys.MEMTABLE_BYTES.name(), "1m");
    try (TestServer server = server()) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      Maintenance maintenance = server.maintenance();
      TestServer.put(hosted, "small", "value");
      maintenance.round();
      assertThat(server.minor.size()).isZero();
      TestServer.put(hosted, "large", "x".repeat(2 << 20));
      maintenance.round();
      maintenance.round();
      assertThat(server.minor.size()).isEqualTo(1);
      server.work();
      assertThat(hosted.tablet().statistics().files()).isEqualTo(1);
      assertThat(hosted.minor().free()).isEqualTo(1);
    }
  }

  @Test
  void aTabletThatCannotBeLookedAfterEndsNoServerAndHoldsUpNoOther() throws Exception {
    conf.set(Keys.MEMTABLE_BYTES.name(), "1m");
    try (TestServer server = server()) {
      HostedTablet first = server.takeNew(TableSchema.of("first", "f"));
      HostedTablet second = server.takeNew(TableSchema.of("second", "f"));
      TestServer.put(first, "large", "x".repeat(2 << 20));
      TestServer.put(second, "large", "x".repeat(2 << 20));
      server.minor.failOnce(new IllegalStateException("for the test"));
      server.maintenance().round();
      assertThat(server.minor.size()).isEqualTo(1);
      assertThat(server.aborts).isEmpty();
      assertThat(first.work().troubles()).hasSize(1);
      assertThat(second.work().troubles()).isEmpty();
    }
  }

  @Test
  void whatWasReplayedIsWrittenOutOnceNothingWaitsToBeLoaded() throws Exception {
    TestServer first = server();
    HostedTablet hosted = first.takeNew(SCHEMA);
    TestServer.put(hosted, "in the log", "value");
    TabletRecord loaded = first.stored(hosted.id());
    first.dieAndBeFenced();
    try (TestServer second = server()) {
      HostedTablet again = second.takeOver(loaded);
      TabletRecord other = second.createTable(TableSchema.of("other", "f"));
      second.lifecycle.load(other.id(), other.row(), 1);
      Maintenance maintenance = second.maintenance();
      maintenance.round();
      assertThat(second.minor.size()).isZero();
      second.work();
      maintenance.round();
      assertThat(second.minor.size()).isEqualTo(1);
      second.work();
      assertThat(second.loader.hasReplayToCover(again)).isFalse();
    }
  }

  @Test
  void ofAThousandTabletsARoundWritesOutAsManyAsTheDeficitNeeds() throws Exception {
    int tablets = 1000;
    conf.set(Keys.MEMTABLE_TOTAL_BYTES.name(), "64m");
    try (TestServer server = server()) {
      for (int i = 0; i < tablets; i++) {
        // Larger and larger, so that it is known which go first.
        TestServer.put(
            server.takeNew(TableSchema.of("t" + i, "f")), "row", "x".repeat(40_000 + 10 * i));
      }
      MemtableBudget memtables = server.context.resources().of(TabletKind.USER).memtables();
      long deficit = memtables.excess();
      List<Long> largestFirst =
          server.context.tablets().all().stream()
              .map(hosted -> hosted.tablet().statistics().memtableBytes())
              .sorted(Comparator.reverseOrder())
              .toList();
      int needed = 0;
      for (long left = deficit; left > 0; needed++) {
        left -= largestFirst.get(needed);
      }
      assertThat(needed).isBetween(20, tablets / 2);
      Maintenance maintenance = server.maintenance();
      maintenance.round();
      assertThat(server.minor.size()).isEqualTo(needed);
      maintenance.round();
      assertThat(server.minor.size()).as("they are under way").isEqualTo(needed);
      server.work();
      assertThat(memtables.excess()).isNotPositive();
      maintenance.round();
      assertThat(server.minor.size()).isZero();
    }
  }

  @Test
  void aTabletThatCannotBeWrittenOutNowKeepsNoOtherFromIt() throws Exception {
    conf.set(Keys.MEMTABLE_TOTAL_BYTES.name(), "64m");
    try (TestServer server = server()) {
      HostedTablet larger = server.takeNew(TableSchema.of("larger", "f"));
      HostedTablet smaller = server.takeNew(TableSchema.of("smaller", "f"));
      for (int i = 0; i < 50; i++) {
        TestServer.put(larger, "row" + i, "x".repeat(1_000_000));
      }
      TestServer.put(smaller, "row", "x".repeat(1_000_000));
      assertThat(larger.minor().tryAcquire(1)).as("other work excludes it").isTrue();
      Maintenance maintenance = server.maintenance();
      maintenance.round();
      server.work();
      assertThat(smaller.tablet().memtableBytes()).isLessThan(1_000_000);
      assertThat(larger.tablet().memtableBytes()).isGreaterThan(1_000_000);
      larger.minor().release(1);
      maintenance.round();
      server.work();
      assertThat(larger.tablet().memtableBytes()).isLessThan(1_000_000);
    }
  }

  @Test
  void aTabletAboveItsSplitSizeIsSplitByTheThreadsOfSplits() throws Exception {
    try (TestServer server = server()) {
      aboveItsSplitSize(server);
      server.lifecycle.setDraining(true);
      server.maintenance().round();
      assertThat(server.splits.size()).as("a server that drains splits nothing").isZero();
      server.lifecycle.setDraining(false);
      server.maintenance().round();
      assertThat(server.splits.size()).isEqualTo(1);
      server.work();
      assertThat(server.context.tablets().count()).isEqualTo(2);
    }
  }

  private static HostedTablet aboveItsSplitSize(TestServer server) throws Exception {
    HostedTablet hosted = server.takeNew(SCHEMA.withSplitBytes(1 << 20));
    Random random = new Random(1);
    for (int i = 0; i < 20; i++) {
      byte[] bytes = new byte[100_000];
      random.nextBytes(bytes);
      TestServer.put(
          hosted, "row" + (char) ('a' + i), new String(bytes, StandardCharsets.ISO_8859_1));
    }
    hosted.tablet().minorCompact();
    return hosted;
  }

  @Test
  void filesAreMergedThoughTheirTabletCannotBeSplit() throws Exception {
    try (TestServer server = server()) {
      HostedTablet hosted = aboveItsSplitSize(server);
      for (int i = 0; !hosted.tablet().wantsMergingCompaction(); i++) {
        TestServer.put(hosted, "row" + i, "value");
        hosted.tablet().minorCompact();
      }
      hosted.work().failed(Work.of(WorkKind.SPLIT), "the index of a file is damaged", false);
      server.maintenance().round();
      assertThat(server.splits.size()).isZero();
      assertThat(server.rewrites.size()).isEqualTo(1);
    }
  }

  @Test
  void aSplitThatHasTheOnlyThreadDoesNotWaitForOneThatIsQueued() throws Exception {
    try (TestServer server = server()) {
      HostedTablet hosted = aboveItsSplitSize(server);
      Maintenance maintenance = server.maintenance();
      server.lifecycle.split(hosted.id(), hosted.record().assignment().epoch(), Optional.empty());
      maintenance.round();
      maintenance.round();
      assertThat(server.splits.size()).as("one was requested, one is due").isEqualTo(2);
      server.work();
      assertThat(server.context.tablets().count()).isEqualTo(2);
      assertThat(server.aborts).isEmpty();
    }
  }

  @Test
  void aTabletIsUnloadedThoughWorkOnItIsQueued() throws Exception {
    conf.set(Keys.MEMTABLE_BYTES.name(), "1m");
    try (TestServer server = server()) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      for (int i = 0; i < 20; i++) {
        TestServer.put(hosted, "row" + i, "value");
        hosted.tablet().minorCompact();
      }
      TestServer.put(hosted, "large", "x".repeat(2 << 20));
      server.maintenance().round();
      assertThat(server.minor.size()).isEqualTo(1);
      assertThat(server.rewrites.size()).isPositive();
      server.evacuation.unloadAll(() -> true);
      assertThat(server.context.tablets().count()).isZero();
      server.work();
      assertThat(server.aborts).isEmpty();
    }
  }

  @Test
  void localityGroupsOfATabletAreMergedSideBySide() throws Exception {
    try (TestServer server = server()) {
      HostedTablet hosted =
          server.takeNew(
              TableSchema.of(
                  SCHEMA.name(),
                  List.of(ColumnFamily.of("f"), ColumnFamily.of("g").in("apart")),
                  LocalityGroup.of("apart")));
      for (int i = 0; i < 20; i++) {
        Mutation both = Mutation.of("row" + i).put("f", "q", "v").put("g", "q", "v");
        hosted.tablet().apply(OperationRequest.of(both)).join();
        hosted.tablet().minorCompact();
      }
      Maintenance maintenance = server.maintenance();
      maintenance.round();
      maintenance.round();
      assertThat(server.rewrites.size()).as("each work is queued once").isEqualTo(1);
      List<Integer> queuedMeanwhile = new ArrayList<>();
      world.disk.inject(
          FaultInjector.at(
              Operation.CREATE,
              path -> true,
              1,
              new FaultInjector.Effect.Delay(
                  () -> { // While the first is being merged.
                    maintenance.round();
                    queuedMeanwhile.add(server.rewrites.size());
                  })));
      server.work();
      assertThat(queuedMeanwhile).as("the other group's").containsExactly(1);
    }
  }

  @Test
  void workThatFailsRestsAWhileAndIsThenTriedAgain() throws Exception {
    conf.set(Keys.MEMTABLE_BYTES.name(), "1m");
    AtomicLong skipped = new AtomicLong();
    ProcessRuntime runtime = ForwardingRuntime.ahead(skipped::get);
    try (TestServer server = new TestServer(world, runtime, conf)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      TestServer.put(hosted, "large", "x".repeat(2 << 20));
      Maintenance maintenance = server.maintenance();
      world.disk.inject(
          FaultInjector.always(
              Operation.CREATE,
              path -> path.getName().endsWith(".sst"),
              new FaultInjector.Effect.Fail()));
      maintenance.round();
      server.work();
      world.disk.heal();
      maintenance.round();
      assertThat(server.minor.size()).isZero();
      skipped.set(Duration.ofMinutes(1).toNanos());
      maintenance.round();
      assertThat(server.minor.size()).isEqualTo(1);
      server.work();
      assertThat(hosted.tablet().statistics().files()).isEqualTo(1);
      assertThat(server.aborts).isEmpty();
    }
  }

  @Test
  void aTabletThatNeedsNoCompactionIsLookedAtAgainWhenItChangesOrAfterAWhile() throws Exception {
    conf.set(Keys.GARBAGE_INTERVAL.name(), "1h");
    AtomicLong skipped = new AtomicLong();
    AtomicLong wall = new AtomicLong();
    ProcessRuntime runtime =
        new ForwardingRuntime() {
          @Override
          public long nanoTime() {
            return super.nanoTime() + skipped.get();
          }

          @Override
          public InstantSource wallClock() {
            return () -> super.wallClock().instant().plusMillis(wall.get());
          }
        };
    try (TestServer server = new TestServer(world, runtime, conf)) {
      HostedTablet hosted = server.takeNew(TableSchema.of(SCHEMA.name(), "f", "g"));
      Maintenance maintenance = server.maintenance();
      for (int file = 0; server.rewrites.size() == 0; file++) {
        assertThat(file).as("files that nothing merges").isLessThan(20);
        Mutation both = Mutation.of("row" + file).put("f", "q", "v").put("g", "q", "v");
        hosted.tablet().apply(OperationRequest.of(both)).join();
        hosted.tablet().minorCompact();
        maintenance.round();
      }
      assertThat(hosted.tablet().wantsMergingCompaction()).isTrue();
      server.work();
      maintenance.round();
      assertThat(server.rewrites.size()).isZero();

      wall.set(Duration.ofDays(30).toMillis());
      maintenance.round();
      assertThat(server.rewrites.size()).as("nothing has changed but the clock").isZero();
      skipped.set(Duration.ofSeconds(5).toNanos());
      maintenance.round();
      assertThat(server.rewrites.size()).isEqualTo(1);

      server.work();
      maintenance.round();
      assertThat(server.rewrites.size()).isZero();
      TestServer.alter(
          hosted,
          TableSchema.of(
              SCHEMA.name(),
              List.of(ColumnFamily.of("f"), ColumnFamily.of("g").in("apart")),
              LocalityGroup.of("apart")));
      maintenance.round();
      assertThat(server.rewrites.size()).as("the schema has changed").isEqualTo(1);
    }
  }

  /** A lock that fails where the commit log takes a record, while it is to. */
  private static Lock failingInLog(AtomicBoolean failing) {
    return new ReentrantLock() {
      private static final long serialVersionUID = 1;

      @Override
      public void lock() {
        boolean appends =
            failing.get()
                && StackWalker.getInstance()
                    .walk(
                        frames ->
                            frames.anyMatch(
                                frame ->
                                    frame.getClassName().endsWith(".CommitPipeline")
                                        && frame.getMethodName().equals("add")));
        if (appends) {
          throw new IllegalStateException("a bug");
        }
        super.lock();
      }
    };
  }

  private TestServer serverFailingInLog(AtomicBoolean failing) throws IOException {
    ProcessRuntime runtime =
        new ForwardingRuntime() {
          @Override
          public Lock newLock() {
            return failingInLog(failing);
          }
        };
    return new TestServer(world, runtime, conf);
  }

  /** Stops a tablet by a bug of its own. */
  private static void stop(HostedTablet tablet, AtomicBoolean failing) {
    failing.set(true);
    assertThatThrownBy(() -> TestServer.put(tablet, "row", "value")).hasRootCauseMessage("a bug");
    failing.set(false);
  }

  @Test
  void aTabletThatABugStopsIsNotServedAndItsServerGoesOn() throws Exception {
    AtomicBoolean failing = new AtomicBoolean();
    try (TestServer server = serverFailingInLog(failing)) {
      HostedTablet bad = server.takeNew(SCHEMA);
      HostedTablet good = server.takeNew(TableSchema.of("u", "f"));
      Maintenance maintenance = server.maintenance();
      stop(bad, failing);
      maintenance.round();
      maintenance.round();
      assertThat(server.aborts).isEmpty();
      assertThat(bad.work().troubles())
          .singleElement()
          .satisfies(trouble -> assertThat(trouble.reason()).contains("a bug"));
      assertThat(AdminService.describe(bad).getStopped()).isTrue();
      assertThat(AdminService.describe(good).getStopped()).isFalse();
      assertThatThrownBy(() -> TestServer.put(bad, "row", "value"))
          .hasMessageContaining("has stopped");
      TestServer.put(good, "row", "value");
      assertThat(TestServer.rows(good)).isEqualTo(1);
    }
  }

  @Test
  void aStoppedTabletIsGoneWhenItsTableIsDropped() throws Exception {
    AtomicBoolean failing = new AtomicBoolean();
    try (TestServer server = serverFailingInLog(failing)) {
      HostedTablet bad = server.takeNew(SCHEMA);
      stop(bad, failing);
      server.lifecycle.unload(bad.id(), bad.tablet().epoch(), false);
      server.work();
      assertThat(server.context.tablets().count()).as("its last writes may be lost").isEqualTo(1);
      StoredTable table = server.schemas.table(bad.id().table()).orElseThrow();
      server.schemas.advance(table, StoredTable.State.DROPPING);
      server.lifecycle.unload(bad.id(), bad.tablet().epoch(), true);
      server.work();
      assertThat(server.context.tablets().count()).isZero();
      assertThat(server.stored(bad.id()).assignment().state()).isEqualTo(Assignment.State.NONE);
      assertThat(server.aborts).isEmpty();
    }
  }

  @Test
  void aServerEndsBeforeAStoppedTabletFillsTheDiskWithLog() throws Exception {
    conf.set(Keys.LOG_SEGMENTS_MAX.name(), "2");
    conf.set(Keys.LOG_SEGMENT_BYTES.name(), "4k");
    AtomicBoolean failing = new AtomicBoolean();
    try (TestServer server = serverFailingInLog(failing)) {
      HostedTablet bad = server.takeNew(SCHEMA);
      HostedTablet good = server.takeNew(TableSchema.of("u", "f"));
      Maintenance maintenance = server.maintenance();
      TestServer.put(bad, "row", "in the log alone");
      stop(bad, failing);
      CommitLog log = server.context.resources().of(TabletKind.USER).log();
      while (log.oldestNeeded().orElseThrow().segments() <= 16) {
        assertThat(server.aborts).isEmpty();
        TestServer.put(good, "row", "x".repeat(5000));
        maintenance.round();
        server.work();
      }
      maintenance.round();
      assertThat(server.aborts).singleElement().asString().contains(bad.id().toString());
    }
  }

  @Test
  void aCompactionThatThrowsSetsItsTabletAsideAndOthersGoOn() throws Exception {
    conf.set(Keys.MEMTABLE_BYTES.name(), "1m");
    AtomicLong skipped = new AtomicLong();
    ProcessRuntime runtime = ForwardingRuntime.ahead(skipped::get);
    try (TestServer server = new TestServer(world, runtime, conf)) {
      HostedTablet bad = server.takeNew(SCHEMA);
      HostedTablet good = server.takeNew(TableSchema.of("u", "f"));
      Maintenance maintenance = server.maintenance();
      world.disk.inject(
          FaultInjector.always(
              Operation.CREATE,
              path -> path.toString().contains("/" + bad.id().table() + "/"),
              new FaultInjector.Effect.Delay(
                  () -> {
                    throw new IllegalStateException("a fault of the code");
                  })));
      for (HostedTablet one : List.of(bad, good)) {
        TestServer.put(one, "large", "x".repeat(3 << 20));
      }
      for (int i = 0; i < 3; i++) {
        skipped.addAndGet(Duration.ofMinutes(1).toNanos());
        maintenance.round();
        server.work();
      }
      assertThat(server.aborts).isEmpty();
      assertThat(good.tablet().statistics().files()).isEqualTo(1);
      assertThat(good.work().troubles()).isEmpty();
      assertThat(bad.work().troubles())
          .singleElement()
          .satisfies(
              trouble -> {
                assertThat(trouble.failures()).isEqualTo(3);
                assertThat(trouble.reason()).contains("a fault of the code");
              });
      assertThat(TestServer.rows(bad)).as("it is read").isEqualTo(1);
      assertThatThrownBy(bad::requireRoom).as("and grows no more").hasMessageContaining("a fault");
      good.requireRoom();
      world.disk.heal();
      skipped.addAndGet(Duration.ofHours(1).toNanos());
      maintenance.round();
      server.work();
      assertThat(bad.work().troubles()).isEmpty();
      assertThat(bad.tablet().statistics().files()).isEqualTo(1);
      bad.requireRoom();
    }
  }

  @Test
  void whatWasReplayedIsWrittenOutSoThatTheLogsCanGo() throws Exception {
    TestServer first = server();
    HostedTablet hosted = first.takeNew(SCHEMA);
    TestServer.put(hosted, "row", "value");
    TabletRecord loaded = first.stored(hosted.id());
    first.dieAndBeFenced();
    try (TestServer second = server()) {
      HostedTablet again = second.takeOver(loaded);
      second.maintenance().round();
      second.work();
      assertThat(second.stored(again.id()).logs()).containsExactly(second.context.id());
    }
  }

  @Test
  void whatIsInASegmentThatFailedIsWrittenOut() throws Exception {
    try (TestServer server = server()) {
      HostedTablet early = server.takeNew(SCHEMA);
      HostedTablet late = server.takeNew(TableSchema.of("late", "f"));
      TestServer.put(early, "row", "value");
      Maintenance maintenance = server.maintenance();
      maintenance.round();
      assertThat(server.minor.size()).isZero();
      world.disk.inject( // Not another segment, which may be made just now.
          FaultInjector.at(
              Operation.FLUSH,
              path -> path.getName().equals("user-1.log"),
              1,
              new FaultInjector.Effect.Fail()));
      TestServer.put(early, "another row", "value"); // Acknowledged by the next segment.
      TestServer.put(late, "row", "value");
      while (server.minor.size() == 0) { // The segment's thread says that it failed.
        assertThat(Thread.interrupted()).as("it took too long").isFalse();
        maintenance.round();
        Thread.onSpinWait();
      }
      server.work();
      assertThat(early.tablet().statistics().files()).isEqualTo(1);
      assertThat(late.tablet().statistics().files()).isZero();
      maintenance.round();
      assertThat(server.minor.size()).isZero();
    }
  }

  @Test
  void roundsGoOnUntilTheServerEndsAndEndItWhereTheyFail() throws Exception {
    Thread test = Thread.currentThread();
    AtomicBoolean rounds = new AtomicBoolean();
    AtomicLong asked = new AtomicLong();
    ProcessRuntime runtime =
        ForwardingRuntime.ahead(
            () -> {
              boolean inRound = rounds.get() && Thread.currentThread() == test;
              if (inRound && asked.incrementAndGet() >= 100) { // Not in the first round.
                throw new IllegalStateException("a fault");
              }
              return 0;
            });
    try (TestServer server = new TestServer(world, runtime, conf)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      TestServer.put(hosted, "row", "value");
      Maintenance maintenance = server.maintenance();
      maintenance.round();
      rounds.set(true);
      maintenance.round();
      assertThat(asked).hasValueBetween(1, 99);
      assertThatThrownBy(() -> maintenance.run(Duration.ofMillis(1))).hasMessage("a fault");
      assertThat(server.aborts).singleElement().asString().contains("a fault");
      long before = asked.get();
      maintenance.run(Duration.ofMillis(1)); // It is over: no more rounds.
      assertThat(asked).hasValue(before);
      rounds.set(false);
    }
  }
}
