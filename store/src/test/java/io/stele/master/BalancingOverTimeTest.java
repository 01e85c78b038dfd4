package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.metadata.Assignment;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.wire.HostShare;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * A cluster that is only described, second by second: tablets are asked now more, now less, reports
 * come every three seconds, a move takes one, and what moved is left alone for ten minutes.
 */
class BalancingOverTimeTest {
  private static final double SLACK = 0.05;
  private static final int REPORT_EVERY = 3;
  private static final int REST = 600;

  private final Random random = new Random(7);
  private final List<ServerId> servers = new ArrayList<>();
  private final Map<TabletId, ServerId> places = new TreeMap<>();
  private final Map<TabletId, Double> load = new HashMap<>();
  private final Map<TabletId, Integer> movedAt = new HashMap<>();
  private final Map<TabletId, Integer> times = new HashMap<>(); // How often each has moved.
  private final Map<TabletId, ClusterSnapshot.Move> moves = new TreeMap<>();
  private final ServerLoads loads = new ServerLoads();
  private double noise; // The deviation of what is counted in three seconds, as a share.
  private int now;

  private void servers(int count) {
    for (int i = 0; i < count; i++) {
      servers.add(new ServerId("s" + servers.size(), 1, 1));
    }
  }

  private void put(TabletId tablet, ServerId server) {
    places.put(tablet, server);
    loads.put(tablet, Assignment.NEVER.assignedTo(server).loaded(), 100 << 20);
  }

  private TabletId tablet(int table, int number) {
    return new TabletId(new TableId("t" + (1 + table)), String.format("%016x", number));
  }

  /** Requests a second as they are counted: around what is usual. */
  private void report() {
    load.forEach(
        (tablet, usual) ->
            loads.measured(tablet, Math.max(0, usual * (1 + noise * random.nextGaussian()))));
  }

  /** Lets seconds pass; gives how many moves began. */
  private int pass(int seconds) {
    int begun = 0;
    for (int i = 0; i < seconds; i++) {
      now++;
      moves.forEach((tablet, move) -> put(tablet, move.to().orElseThrow()));
      moves.clear();
      if (now % REPORT_EVERY == 0) {
        report();
      }
      Set<TabletId> resting = new HashSet<>();
      movedAt.forEach(
          (tablet, moved) -> {
            if (now - moved < REST) {
              resting.add(tablet);
            }
          });
      Balancer.Cluster cluster =
          new Balancer.Cluster(servers, List.of(), Set.of(), moves, loads.away().size());
      for (Balancer.Move move :
          Balancer.decide(
              loads, cluster, Balancer.Limits.of(loads, servers.size(), SLACK, resting))) {
        moves.put(move.tablet(), new ClusterSnapshot.Move(move.from(), Optional.of(move.to())));
        movedAt.put(move.tablet(), now);
        times.merge(move.tablet(), 1, Integer::sum);
        begun++;
      }
    }
    return begun;
  }

  private double usualLoad(ServerId server) {
    return places.entrySet().stream()
        .filter(place -> place.getValue().equals(server))
        .mapToDouble(place -> Objects.requireNonNull(load.get(place.getKey())))
        .sum();
  }

  private long count(ServerId server) {
    return places.values().stream().filter(server::equals).count();
  }

  @Test
  void whereAsMuchIsToBeDoneAsBeforeNothingMovesAnyMore() {
    uneven();
    assertThat(pass(300)).isBetween(200, 1500);
    assertThat(pass(1200)).isZero();
  }

  @Test
  void whereAFifthMoreOrLessIsToBeDoneAllTheTimeHardlyAnythingMovesAndNothingBackAndForth() {
    uneven();
    noise = 0.2;
    assertThat(pass(900)).isBetween(200, 1500);
    times.clear();
    assertThat(pass(1200)).isLessThan(80); // Of a thousand tablets.
    assertThat(times.values()).allMatch(often -> often <= 2);
    double mean = load.values().stream().mapToDouble(one -> one).sum() / servers.size();
    for (ServerId server : servers) {
      assertThat(usualLoad(server)).as("%s", server).isLessThan(2 * mean);
    }
  }

  @Test
  void whereBytesLieElsewhereNothingMovesBackAndForthBetweenThereAndAnEvenPlace() {
    uneven();
    for (TabletId tablet : places.keySet()) {
      loads.located(
          tablet,
          List.of(
              new HostShare(servers.get(random.nextInt(20)).host(), 100),
              new HostShare(servers.get(random.nextInt(20)).host(), 60)));
    }
    noise = 0.2;
    assertThat(pass(900)).isBetween(200, 1500);
    times.clear();
    assertThat(pass(1200)).isLessThan(80);
    assertThat(times.values()).allMatch(often -> often <= 2);
    noise = 0;
    pass(900);
    assertThat(pass(1200)).isZero();
  }

  /** A thousand tablets on fifteen of twenty servers, one in fifty hot. */
  private void uneven() {
    servers(20);
    for (int i = 0; i < 1000; i++) {
      TabletId tablet = tablet(i % 10, i);
      put(tablet, servers.get(random.nextInt(15)));
      load.put(tablet, i % 50 == 0 ? 400.0 : 5 + random.nextInt(20));
    }
  }

  @Test
  void aNewServerHasItsShareWithinAMinuteHoweverManyTabletsThatIs() {
    for (int each : List.of(10, 100, 1000)) {
      servers.clear();
      places.keySet().forEach(loads::remove);
      places.clear();
      load.clear();
      servers(10);
      for (int i = 0; i < 10 * each; i++) {
        TabletId tablet = tablet(i % 7, i);
        put(tablet, servers.get(i % 10));
        load.put(tablet, 50.0);
      }
      report();
      servers(1);
      pass(60);
      assertThat(count(servers.get(10))).as("of %d", each).isGreaterThanOrEqualTo(each * 8L / 10);
      assertThat(count(servers.get(0))).isBetween(each * 8L / 10, (long) each);
    }
  }
}
