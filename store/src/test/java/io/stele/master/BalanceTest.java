package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.lock.LockPaths;
import io.stele.metadata.Assignment;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.wire.control.ControlProtos.BalanceRequestProto;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Balancing by a master's loop. */
class BalanceTest {
  private static final ServerId A = new ServerId("a", 1, 1);
  private static final ServerId B = new ServerId("b", 1, 1);

  private final MasterFixture master = new MasterFixture();

  /** A has a table of eight tablets, and B is new. */
  private TableId started() throws Exception {
    master.bootstrap();
    master.start(A);
    TableId table =
        master.table(
            "t",
            Bytes.of("b"),
            Bytes.of("c"),
            Bytes.of("d"),
            Bytes.of("e"),
            Bytes.of("f"),
            Bytes.of("g"),
            Bytes.of("h"));
    master.stepUntilIdle();
    master.start(B);
    master.signal.rereadAllSoon();
    master.stepUntilIdle();
    return table;
  }

  private long on(ServerId server, TableId table) throws Exception {
    return master.records.reader().readAll(table).stream()
        .map(TabletRecord::assignment)
        .filter(assignment -> assignment.isTo(server))
        .count();
  }

  private void stepFor(Duration time) throws Exception {
    for (long i = 0; i < time.toMillis() / 100; i++) {
      master.loop.step();
      master.sleep(Duration.ofMillis(100));
    }
  }

  @Test
  void aNewServerHasItsShareWithinAMinute() throws Exception {
    master.run(
        () -> {
          TableId table = started();
          assertThat(on(A, table)).isEqualTo(8);
          master.parts.rebalancing().balanceBy(master.balance);
          stepFor(Duration.ofSeconds(60));
          assertThat(on(B, table)).isEqualTo(4);
          assertThat(master.isServed(table)).isTrue();
        });
  }

  @Test
  void tabletsThatWereJustAssignedForAnotherReasonAreLeftAloneForAWhile() throws Exception {
    master.run(
        () -> {
          master.parts.rebalancing().balanceBy(master.balance);
          TableId table = started();
          stepFor(Duration.ofSeconds(8));
          assertThat(on(A, table)).isEqualTo(8);
          stepFor(Duration.ofSeconds(60));
          assertThat(on(A, table)).isEqualTo(4);
        });
  }

  @Test
  void whereItIsOffTabletsThatWereAssignedAreNotRememberedForEver() throws Exception {
    master.run(
        () -> {
          master.balance.set(false);
          master.parts.rebalancing().balanceBy(master.balance);
          started();
          assertThat(master.balance.resting()).isPositive();
          stepFor(Duration.ofSeconds(30));
          assertThat(master.balance.resting()).isZero();
        });
  }

  @Test
  void whereItIsOffNothingMovesWhoeverIsTheMaster() throws Exception {
    master.run(
        () -> {
          TableId table = started();
          master.parts.rebalancing().balanceBy(master.balance);
          request(BalanceRequestProto.newBuilder().setOn(false));
          stepFor(Duration.ofSeconds(30));
          master
              .parts
              .rebalancing()
              .balanceBy(new BalanceSchedule(master.process, master.locks)); // Of the next master.
          stepFor(Duration.ofSeconds(30));
          assertThat(on(A, table)).isEqualTo(8);
          request(BalanceRequestProto.newBuilder().setOn(true));
          assertThat(master.locks.read(LockPaths.BALANCE).orElseThrow().data())
              .isEqualTo(Bytes.of("on"));
          assertThat(request(BalanceRequestProto.newBuilder())).isTrue();
        });
  }

  @Test
  void nothingMovesWhileAServerMayHaveFallenSilent() throws Exception {
    master.run(
        () -> {
          TableId table = started();
          master.plane.silent.add(B.host());
          stepFor(Duration.ofSeconds(6)); // It is asked in this time, and not known to be silent.
          master.parts.rebalancing().balanceBy(master.balance);
          request(BalanceRequestProto.newBuilder().setNow(true));
          stepFor(Duration.ofSeconds(5));
          assertThat(on(A, table)).isEqualTo(8);
          master.plane.silent.clear();
          stepFor(Duration.ofSeconds(10));
          assertThat(on(B, table)).isEqualTo(4);
        });
  }

  @Test
  void onRequestAllIsEvenedOutThoughItIsOff() throws Exception {
    master.run(
        () -> {
          TableId table = started();
          master.parts.rebalancing().balanceBy(master.balance);
          request(BalanceRequestProto.newBuilder().setOn(false).setNow(true));
          assertThat(isInProgress()).isTrue();
          stepFor(Duration.ofSeconds(5));
          assertThat(isInProgress()).isFalse();
          assertThat(on(B, table)).isEqualTo(4);
        });
  }

  @Test
  void aTableWhoseNodeIsLostIsLeftAloneAndTheOthersAreEvenedOut() throws Exception {
    master.run(
        () -> {
          TableId lost = started();
          TableId other = master.table("u", Bytes.of("b"), Bytes.of("c"), Bytes.of("d"));
          for (TabletRecord tablet : master.records.reader().readAll(other)) {
            master.records.loaded(master.records.assign(tablet, A));
          }
          String node = LockPaths.table(lost);
          master.locks.delete(node, master.locks.read(node).orElseThrow().version());
          master.signal.rereadAllSoon();
          master.parts.rebalancing().balanceBy(master.balance);
          request(BalanceRequestProto.newBuilder().setNow(true));
          stepFor(Duration.ofSeconds(30));
          assertThat(isInProgress()).isFalse();
          assertThat(on(A, lost)).isEqualTo(8);
          assertThat(on(B, other)).isPositive();
          assertThat(master.isServed(other)).isTrue();
        });
  }

  @Test
  void turningItOffStopsWhatWasAskedForAtOnce() throws Exception {
    master.run(
        () -> {
          TableId table = started();
          master.parts.rebalancing().balanceBy(master.balance);
          request(BalanceRequestProto.newBuilder().setNow(true));
          String run = master.balance.lastRun().getKey();
          request(BalanceRequestProto.newBuilder().setOn(false));
          assertThat(master.balance.lastRun())
              .isEqualTo(Map.entry(run, BalanceSchedule.RunState.STOPPED));
          stepFor(Duration.ofSeconds(30));
          assertThat(on(A, table)).isEqualTo(8);

          request(BalanceRequestProto.newBuilder().setNow(true));
          assertThat(master.balance.lastRun().getKey()).isNotEqualTo(run);
          stepFor(Duration.ofSeconds(5));
          assertThat(on(B, table)).isEqualTo(4);
        });
  }

  @Test
  void onRequestEachTabletMovesOnceHoweverLoadsChange() throws Exception {
    master.run(
        () -> {
          ServerLoads loads = new ServerLoads();
          Map<TabletId, ServerId> places = new TreeMap<>();
          for (int i = 0; i < 40; i++) {
            put(loads, places, new TabletId(new TableId("t1"), String.format("%016x", i)), A);
          }
          Balancer.Cluster cluster =
              new Balancer.Cluster(List.of(A, B), List.of(), Set.of(), Map.of(), 0);
          Map<TabletId, Integer> times = new TreeMap<>();
          request(BalanceRequestProto.newBuilder().setNow(true));
          for (int i = 0; i < 1000 && isInProgress(); i++) {
            ServerId busy = i % 2 == 0 ? A : B;
            places.forEach((tablet, at) -> loads.measured(tablet, at.equals(busy) ? 10_000 : 1));
            for (Balancer.Move move : master.balance.decide(loads, () -> cluster)) {
              put(loads, places, move.tablet(), move.to());
              times.merge(move.tablet(), 1, Integer::sum);
            }
          }
          assertThat(isInProgress()).isFalse();
          assertThat(times.values()).hasSizeGreaterThan(10).containsOnly(1);
        });
  }

  private static void put(
      ServerLoads loads, Map<TabletId, ServerId> places, TabletId tablet, ServerId server) {
    places.put(tablet, server);
    loads.put(tablet, Assignment.NEVER.assignedTo(server).loaded(), 100 << 20);
  }

  private boolean isInProgress() {
    return master.balance.lastRun().getValue() == BalanceSchedule.RunState.IN_PROGRESS;
  }

  private boolean request(BalanceRequestProto.Builder request) throws Exception {
    return master.requests.balance(null, request.build()).getOn();
  }
}
