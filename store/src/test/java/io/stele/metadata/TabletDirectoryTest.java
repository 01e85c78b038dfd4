package io.stele.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.metadata.Attempts.Effect;
import io.stele.metadata.Attempts.Purpose;
import io.stele.metadata.TabletAccess.Answer;
import io.stele.metadata.TabletAccess.Call;
import io.stele.metadata.TabletAccess.Message;
import io.stele.metadata.TabletAccess.RowRequest;
import io.stele.model.Bytes;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.sim.MemoryLockService;
import io.stele.sim.MemoryLockStore;
import io.stele.sim.SimulatedProcess;
import io.stele.sim.Simulation;
import io.stele.wire.QueryCodec;
import io.stele.wire.data.DataProtos.ReadProto;
import io.stele.wire.data.DataProtos.RequestProto;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Who waits for tablets, and how often METADATA is read for them, on virtual time. */
class TabletDirectoryTest {
  private static final TableId TABLE = new TableId("t1");
  private static final ServerId ONE = new ServerId("one", 1, 1);
  private static final ServerId TWO = new ServerId("two", 2, 2);
  private static final Duration LATENCY = Duration.ofMillis(1);
  private static final int TABLETS = 10;
  private static final int ROWS = 50_000;
  private static final int READS_A_SECOND_MAX = 40;
  private static final int FIRST_READS_MAX = 80;
  private static final Duration HARDLY = Duration.ofMillis(40);

  private final Simulation simulation = new Simulation(1, Long.MAX_VALUE);
  private final SimulatedProcess runtime = simulation.outside();
  private final MemoryLockService locks = new MemoryLockStore().connect();
  private final FakeServers servers = new FakeServers(runtime, LATENCY);
  private final TabletAccess access =
      new TabletAccess(runtime, locks, servers, Duration.ofSeconds(15));
  private final TabletRecords records =
      new TabletRecords(runtime, locks, access, Duration.ofSeconds(10));
  private final List<TabletRecord> tablets = new ArrayList<>();

  private void start() throws IOException {
    servers.rows.put(TableId.ROOT, new MemoryRows());
    servers.rows.put(TableId.METADATA, new MemoryRows());
    servers.rows.put(TABLE, new MemoryRows());
    records.createRoot();
    records.loaded(records.assign(records.reader().readRoot().orElseThrow(), ONE));
    servers.serve(ONE, TabletId.ROOT);
    Bootstrap.finish(records);
    TabletRecord metadata = records.reader().readAll(TableId.METADATA).get(0);
    servers.serve(ONE, records.loaded(records.assign(metadata, ONE)).id());
    List<Bytes> splitRows = new ArrayList<>();
    for (int i = 1; i < TABLETS; i++) {
      splitRows.add(row(i * (ROWS / TABLETS)));
    }
    records.createTable(TABLE, splitRows);
    for (TabletRecord tablet : records.reader().readAll(TABLE)) {
      tablets.add(records.loaded(records.assign(tablet, ONE)));
      servers.serve(ONE, tablet.id());
    }
  }

  /** Takes all tablets from the server that has them. */
  private List<TabletRecord> unloadAll() throws IOException {
    List<TabletRecord> away = new ArrayList<>();
    for (TabletRecord tablet : tablets) {
      away.add(records.unloaded(tablet, "unloaded"));
      servers.stop(ONE, tablet.id());
    }
    return away;
  }

  private static Bytes row(int number) {
    return Bytes.of(String.format("%05d", number));
  }

  private CompletableFuture<TabletAccess.Rows> read(int row, Duration timeout) {
    RowQuery query = RowQuery.ALL.range(RowRange.single(row(row))).limit(1);
    return access.rows(TABLE, row(row), query, Deadline.after(runtime, timeout));
  }

  /** Reads a row as clients do, who wait for each answer for longer than servers do. */
  private CompletableFuture<Answer> readAsClientsDo(int row, Duration timeout) {
    Call call =
        location ->
            Message.of(
                RequestProto.newBuilder()
                    .setRead(
                        ReadProto.newBuilder()
                            .setTablet(QueryCodec.encode(location.tablet(), location.epoch()))
                            .setQuery(
                                QueryCodec.encode(
                                    RowQuery.ALL.range(RowRange.single(row(row))).limit(1)))));
    Purpose purpose = Purpose.of(Effect.READ, () -> "reading a row");
    return access.send(
        new RowRequest(TABLE, row(row), purpose, call), Deadline.after(runtime, timeout));
  }

  private List<CompletableFuture<TabletAccess.Rows>> readEvery(int distance, Duration timeout) {
    List<CompletableFuture<TabletAccess.Rows>> all = new ArrayList<>();
    for (int i = 0; i < ROWS; i += distance) {
      all.add(read(i, timeout));
    }
    return all;
  }

  private void await(CompletableFuture<?> future) throws IOException {
    Futures.await(runtime, future, "a read");
  }

  private long mostReadsInASecond(long fromNanos) {
    List<Long> reads =
        servers.reads.getOrDefault(TableId.METADATA, List.of()).stream()
            .filter(nanos -> nanos >= fromNanos)
            .toList();
    int most = 0;
    int first = 0;
    for (int last = 0; last < reads.size(); last++) {
      while (reads.get(last) - reads.get(first) >= TimeUnit.SECONDS.toNanos(1)) {
        first++;
      }
      most = Math.max(most, last - first + 1);
    }
    return most;
  }

  @Test
  void theTabletsOfANewTableAreWrittenManyAtOnce() throws Exception {
    simulation.run(
        () -> {
          start();
          List<Bytes> splitRows = new ArrayList<>();
          for (int i = 1; i < 1000; i++) {
            splitRows.add(row(i));
          }
          TableId wide = new TableId("t2");
          long begin = runtime.nanoTime();
          records.createTable(wide, splitRows);
          long roundTrips = (runtime.nanoTime() - begin) / LATENCY.toNanos();
          assertThat(records.reader().readAll(wide)).hasSize(1000);
          assertThat(roundTrips).isLessThan(50);
        });
  }

  @Test
  void callsThatWaitForAServerThatHasLostTheTabletGoToItsSuccessor() throws Exception {
    simulation.run(
        () -> {
          start();
          await(read(0, Duration.ofSeconds(60)));
          servers.silent = request -> request.hasRead() && isOf(tablets.get(0), request);
          List<CompletableFuture<TabletAccess.Rows>> all = new ArrayList<>();
          for (int i = 0; i < 100; i++) {
            all.add(read(i, Duration.ofSeconds(60)));
          }
          runtime.sleep(Duration.ofSeconds(1));
          servers.silent = request -> false;
          servers.stop(ONE, tablets.get(0).id());
          records.loaded(records.assign(records.unloaded(tablets.get(0), "unloaded"), TWO));
          servers.serve(TWO, tablets.get(0).id());
          servers.reads.clear();
          runtime.sleep(Duration.ofMillis(1100)); // After two seconds each call is looked at.
          assertThat(all).allMatch(read -> read.isDone() && !read.isCompletedExceptionally());
          assertThat(servers.reads.get(TableId.METADATA)).as("for all of them").hasSize(1);
        });
  }

  @Test
  void callsThatWaitForAServerThatHasLostTheTabletGoToItsSuccessorHoweverLateThatHasIt()
      throws Exception {
    simulation.run(
        () -> {
          start();
          await(read(0, Duration.ofSeconds(60)));
          servers.silent = request -> request.hasRead() && isOf(tablets.get(0), request);
          CompletableFuture<Answer> waits = readAsClientsDo(1, Duration.ofSeconds(60));
          runtime.sleep(Duration.ofSeconds(1));
          servers.silent = request -> false;
          servers.stop(ONE, tablets.get(0).id());
          TabletRecord away = records.unloaded(tablets.get(0), "unloaded");
          runtime.sleep(Duration.ofMillis(1500)); // The first look is made, and finds it away.
          records.loaded(records.assign(away, TWO));
          servers.serve(TWO, tablets.get(0).id());
          runtime.sleep(Duration.ofMillis(2500));
          assertThat(waits).isCompleted();
        });
  }

  @Test
  void callsThatWaitForAServerThatStillHasTheTabletAreNotSentAgain() throws Exception {
    simulation.run(
        () -> {
          start();
          await(read(0, Duration.ofSeconds(60)));
          servers.silent = request -> request.hasRead() && isOf(tablets.get(0), request);
          servers.calls.clear();
          servers.reads.clear();
          CompletableFuture<TabletAccess.Rows> waits = read(1, Duration.ofSeconds(60));
          runtime.sleep(
              Duration.ofSeconds(3)); // Less than a quarter of the lease: see TabletAccess.
          assertThat(waits).isNotDone();
          assertThat(servers.reads.get(TABLE)).hasSize(1);
          assertThat(servers.reads.get(TableId.METADATA)).hasSize(1);
        });
  }

  private static boolean isOf(TabletRecord tablet, RequestProto request) {
    return QueryCodec.decode(request.getRead().getTablet()).equals(tablet.id());
  }

  @Test
  void rowsOfTabletsThatNobodyServesCostFewReadsAndAreAnsweredOnceTheyAreServed() throws Exception {
    simulation.run(
        () -> {
          start();
          List<TabletRecord> away = unloadAll();
          servers.reads.clear();
          long start = runtime.nanoTime();
          List<CompletableFuture<TabletAccess.Rows>> all = readEvery(1, Duration.ofSeconds(60));
          runtime.sleep(Duration.ofSeconds(20));
          assertFewReads(start);
          for (TabletRecord tablet : away) {
            records.loaded(records.assign(tablet, TWO));
            servers.serve(TWO, tablet.id());
          }
          runtime.sleep(Duration.ofSeconds(3));
          assertThat(all).allMatch(read -> read.isDone() && !read.isCompletedExceptionally());
        });
  }

  private void assertFewReads(long startNanos) {
    assertThat(mostReadsInASecond(startNanos)).isPositive().isLessThanOrEqualTo(FIRST_READS_MAX);
    long later = startNanos + Duration.ofSeconds(2).toNanos();
    assertThat(mostReadsInASecond(later)).isPositive().isLessThanOrEqualTo(READS_A_SECOND_MAX);
  }

  @Test
  void callersWaitHardlyLongerThanTheirTabletsAreAwayHoweverManyTheseAre() throws Exception {
    simulation.run(
        () -> {
          start();
          List<TabletRecord> away = unloadAll();
          long start = runtime.nanoTime();
          List<Long> served = new ArrayList<>();
          List<CompletableFuture<Long>> answered = new ArrayList<>();
          for (CompletableFuture<TabletAccess.Rows> one :
              readEvery(ROWS / TABLETS, Duration.ofSeconds(60))) {
            answered.add(one.thenApply(rows -> runtime.nanoTime()));
          }
          for (TabletRecord tablet : away) {
            runtime.sleep(Duration.ofMillis(100));
            records.loaded(records.assign(tablet, TWO));
            servers.serve(TWO, tablet.id());
            served.add(runtime.nanoTime());
          }
          for (int i = 0; i < TABLETS; i++) {
            await(answered.get(i));
            long longer = answered.get(i).getNow(0L) - served.get(i);
            assertThat(longer)
                .as("tablet %d", i)
                .isLessThan((served.get(i) - start) / 4 + HARDLY.toNanos());
          }
        });
  }

  @Test
  void rowsOfTabletsThatAreNotWhereTheirRecordsSayCostFewReads() throws Exception {
    simulation.run(
        () -> {
          start();
          for (TabletRecord tablet : tablets) {
            servers.stop(ONE, tablet.id());
          }
          long start = runtime.nanoTime();
          List<CompletableFuture<TabletAccess.Rows>> all = readEvery(25, Duration.ofSeconds(5));
          runtime.sleep(Duration.ofMillis(5_100));
          assertFewReads(start);
          assertThat(all).allMatch(CompletableFuture::isCompletedExceptionally);
        });
  }

  @Test
  void whoeverWaitsDoesSoUntilItsOwnDeadline() throws Exception {
    simulation.run(
        () -> {
          start();
          TabletRecord away = records.unloaded(tablets.get(0), "unloaded");
          servers.stop(ONE, away.id());
          CompletableFuture<TabletAccess.Rows> patient = read(1, Duration.ofSeconds(30));
          runtime.sleep(Duration.ofSeconds(1));
          long begin = runtime.nanoTime();
          CompletableFuture<TabletAccess.Rows> hasty = read(2, Duration.ofMillis(300));
          SteleException failure = failure(hasty);
          assertThat(failure.code()).isEqualTo(Code.RETRY_LATER);
          assertThat(failure.getMessage())
              .contains("The last failure: no server serves the tablet of table " + TABLE)
              .containsOnlyOnce("Check that the servers run")
              .doesNotContain("epoch");
          assertThat(Duration.ofNanos(runtime.nanoTime() - begin))
              .isBetween(Duration.ofMillis(290), Duration.ofMillis(310));
          assertThat(patient.isDone()).isFalse();
          records.loaded(records.assign(away, TWO));
          servers.serve(TWO, away.id());
          await(patient);
        });
  }

  @Test
  void oneReadIsEnoughForAllWhoWaitForAMovedTablet() throws Exception {
    simulation.run(
        () -> {
          start();
          await(read(1, Duration.ofSeconds(1)));
          TabletRecord moved = records.unloaded(tablets.get(0), "unloaded");
          records.loaded(records.assign(moved, TWO));
          servers.stop(ONE, moved.id());
          servers.serve(TWO, moved.id());
          servers.reads.clear();
          List<CompletableFuture<TabletAccess.Rows>> all = new ArrayList<>();
          for (int i = 0; i < 1000; i++) {
            all.add(read(i, Duration.ofSeconds(10)));
          }
          for (CompletableFuture<TabletAccess.Rows> each : all) {
            await(each);
          }
          assertThat(servers.reads.get(TableId.METADATA)).hasSize(1);
        });
  }

  @Test
  void aClosedConnectionFailsWhoeverWaits() throws Exception {
    simulation.run(
        () -> {
          start();
          records.unloaded(tablets.get(0), "unloaded");
          servers.stop(ONE, tablets.get(0).id());
          CompletableFuture<TabletAccess.Rows> waiting = read(1, Duration.ofSeconds(30));
          runtime.sleep(Duration.ofSeconds(1));
          access.close();
          assertThat(waiting).isCompletedExceptionally();
          assertThat(read(2, Duration.ofSeconds(30))).isCompletedExceptionally();
        });
  }

  @Test
  void anErrorInMakingARequestEndsIt() throws Exception {
    simulation.run(
        () -> {
          start();
          CompletableFuture<?> broken =
              access.send(
                  new TabletAccess.RowRequest(
                      TABLE,
                      row(1),
                      Attempts.Purpose.of(Attempts.Effect.READ, () -> "a test"),
                      location -> {
                        throw new AssertionError("planted");
                      }),
                  Deadline.after(runtime, Duration.ofSeconds(1)));
          runtime.sleep(Duration.ofSeconds(2));
          assertThat(broken).isCompletedExceptionally();
        });
  }

  private SteleException failure(CompletableFuture<?> future) throws InterruptedException {
    try {
      runtime.await(future);
      throw new AssertionError("it did not fail");
    } catch (ExecutionException e) {
      return (SteleException) Futures.cause(e);
    }
  }
}
