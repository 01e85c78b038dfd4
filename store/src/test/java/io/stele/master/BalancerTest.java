package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.metadata.Assignment;
import io.stele.metadata.MetadataKeys;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.wire.HostShare;
import java.util.ArrayList;
import java.util.Collections;
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

class BalancerTest {
  private static final double SLACK = 0.05;
  private static final TableId T = new TableId("t1");
  private static final TableId U = new TableId("t2");

  private final Map<ServerId, Boolean> servers = new TreeMap<>(); // And whether they drain.
  private final Map<TabletId, ClusterSnapshot.Tablet> tablets = new TreeMap<>();
  private final ServerLoads loads = new ServerLoads();
  private final Map<TabletId, ClusterSnapshot.Move> inProgress = new HashMap<>();
  private int names;

  private static ServerId server(int number) {
    return new ServerId("s" + number, 1, 1);
  }

  private void servers(int count) {
    for (int i = 0; i < count; i++) {
      servers.put(server(i), false);
    }
  }

  private TabletId put(TableId table, ServerId at, long bytes) {
    TabletId id = new TabletId(table, String.format("%016x", ++names));
    put(id, at, bytes);
    return id;
  }

  private void put(TabletId id, ServerId at, long bytes) {
    put(id, Assignment.NEVER.assignedTo(at).loaded(), bytes);
  }

  private void put(TabletId id, Assignment assignment, long bytes) {
    tablets.put(
        id,
        new ClusterSnapshot.Tablet(
            id,
            MetadataKeys.row(id.table(), Bytes.EMPTY),
            RowRange.ALL,
            assignment,
            bytes,
            Optional.empty()));
    if (!id.table().isSystem()) {
      loads.put(id, assignment, bytes);
    }
  }

  private List<Balancer.Move> decide(double slack, Set<TabletId> resting) {
    Balancer.Cluster cluster =
        new ClusterSnapshot(
                servers.entrySet().stream()
                    .map(one -> new ClusterSnapshot.Server(one.getKey(), one.getValue()))
                    .toList(),
                Set.of(),
                List.copyOf(tablets.values()),
                Set.of(),
                inProgress)
            .toBalance(Set.of(), loads.away().size());
    Balancer.Limits limits = Balancer.Limits.of(loads, servers.size(), slack, resting);
    List<Balancer.Move> moves = Balancer.decide(loads, cluster, limits);
    assertThat(Balancer.decide(anew(), cluster, limits)).isEqualTo(moves);
    return moves;
  }

  /** What servers have, not by the changes that led there. */
  private ServerLoads anew() {
    ServerLoads anew = new ServerLoads();
    List<TabletId> ids = new ArrayList<>(tablets.keySet());
    Collections.reverse(ids);
    for (TabletId id : ids) {
      if (!id.table().isSystem()) {
        anew.put(id, tablet(id).assignment(), tablet(id).bytes());
        loads.tablet(id).ifPresent(known -> anew.measured(id, known.rate()));
        anew.located(id, loads.localHosts(id));
      }
    }
    return anew;
  }

  private ClusterSnapshot.Tablet tablet(TabletId id) {
    return Objects.requireNonNull(tablets.get(id));
  }

  /** Decides and moves until nothing is left to do; gives all moves. */
  private List<Balancer.Move> balance(double slack) {
    List<Balancer.Move> all = new ArrayList<>();
    for (List<Balancer.Move> some = decide(slack, Set.of());
        !some.isEmpty();
        some = decide(slack, Set.of())) {
      for (Balancer.Move move : some) {
        ClusterSnapshot.Tablet before = tablets.get(move.tablet());
        assertThat(before.assignment().isTo(move.from())).isTrue();
        put(move.tablet(), move.to(), before.bytes());
      }
      all.addAll(some);
      assertThat(all).hasSizeLessThan(10 * tablets.size() + 10);
    }
    return all;
  }

  private Map<ServerId, Integer> counts() {
    Map<ServerId, Integer> counts = new TreeMap<>();
    servers.keySet().forEach(server -> counts.put(server, 0));
    tablets
        .values()
        .forEach(one -> counts.merge(one.assignment().server().orElseThrow(), 1, Integer::sum));
    return counts;
  }

  private long on(ServerId server, TableId table) {
    return tablets.values().stream()
        .filter(one -> one.id().table().equals(table) && one.assignment().isTo(server))
        .count();
  }

  @Test
  void aNewServerGetsItsShareAndNothingElseMoves() {
    servers(4);
    for (int i = 0; i < 300; i++) {
      put(T, server(i % 3), 0);
    }
    List<Balancer.Move> moves = balance(SLACK);
    assertThat(moves).allMatch(move -> move.to().equals(server(3)));
    assertThat(counts().get(server(3))).isBetween(70, 75);
    assertThat(moves).hasSizeLessThanOrEqualTo(75);
  }

  @Test
  void aNewServerGetsItsShareOfFewTabletsToo() {
    servers(2);
    put(T, server(0), 0);
    put(U, server(0), 0);
    balance(SLACK);
    assertThat(counts()).containsOnlyKeys(server(0), server(1)).containsValues(1, 1);
  }

  @Test
  void whatIsNearlyEvenStaysAsItIsUnlessAllIsToBeEvened() {
    servers(2);
    for (int i = 0; i < 206; i++) {
      put(T, server(i < 105 ? 0 : 1), 0);
    }
    assertThat(decide(SLACK, Set.of())).isEmpty();
    balance(0);
    assertThat(counts().values()).containsExactly(103, 103);
  }

  @Test
  void onlySoManyMovesAreInProgressAtOnceAndNoneOfThemIsBegunAgain() {
    servers(3);
    for (int i = 0; i < 100; i++) {
      put(T, server(0), 0);
    }
    List<Balancer.Move> first = decide(SLACK, Set.of());
    assertThat(first).hasSize(4);
    first.forEach(
        move ->
            inProgress.put(
                move.tablet(), new ClusterSnapshot.Move(move.from(), Optional.of(move.to()))));
    assertThat(decide(SLACK, Set.of())).isEmpty();
  }

  @Test
  void nothingMovesWhileTabletsAreAwayAndNothingThatHasJustMoved() {
    servers(2);
    List<TabletId> all = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      all.add(put(T, server(0), 0));
    }
    assertThat(decide(SLACK, Set.copyOf(all))).isEmpty();
    for (int i = 0; i < 4; i++) {
      put(put(U, server(1), 0), Assignment.NEVER, 0);
    }
    assertThat(decide(SLACK, Set.of())).isEmpty();
  }

  @Test
  void aServerThatDrainsNeitherGetsTabletsNorHasThemTaken() {
    servers(3);
    servers.put(server(2), true);
    for (int i = 0; i < 10; i++) {
      put(T, server(i % 2), 0);
      put(T, server(2), 0);
    }
    assertThat(decide(SLACK, Set.of())).isEmpty();
  }

  @Test
  void tabletsOfEachTableAreSpreadThoughServersHaveEquallyMany() {
    servers(2);
    for (int i = 0; i < 6; i++) {
      put(T, server(0), 0);
      put(U, server(1), 0);
    }
    balance(SLACK);
    assertThat(on(server(0), T)).isBetween(2L, 4L);
    assertThat(on(server(0), U)).isBetween(2L, 4L);
    assertThat(counts().get(server(0))).isBetween(5, 7);
  }

  @Test
  void halvesOfASplitGoApart() {
    servers(3);
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 9; j++) {
        put(new TableId("t" + (10 + j)), server(i), 0);
      }
    }
    put(T, server(0), 0);
    put(T, server(0), 0);
    balance(SLACK);
    for (int i = 0; i < 3; i++) {
      assertThat(on(server(i), T)).isLessThanOrEqualTo(1);
    }
  }

  @Test
  void aServerWithAHotTabletKeepsFewOthers() {
    servers(3);
    for (int i = 0; i < 30; i++) {
      TabletId id = put(T, server(i % 3), 0);
      loads.measured(id, i == 0 ? 1000.0 : 10.0);
    }
    balance(SLACK);
    assertThat(counts().get(server(0))).isLessThan(counts().get(server(1)) - 3);
    assertThat(tablets.values().iterator().next().assignment().isTo(server(0))).isTrue();
  }

  @Test
  void bytesAreEvenedOutWhereThereAreMany() {
    servers(2);
    for (int i = 0; i < 20; i++) {
      put(T, server(i % 2), i % 2 == 0 ? 4L << 30 : 1 << 20);
    }
    balance(SLACK);
    long first =
        tablets.values().stream()
            .filter(one -> one.assignment().isTo(server(0)))
            .mapToLong(ClusterSnapshot.Tablet::bytes)
            .sum();
    assertThat(first).isBetween(12L << 30, 28L << 30);
  }

  @Test
  void tabletsOfMetadataAreSpreadOneAtATimeAndTheRootTabletStays() {
    servers(3);
    put(TabletId.ROOT, server(0), 0);
    for (int i = 0; i < 6; i++) {
      put(TableId.METADATA, server(0), 0);
    }
    assertThat(decide(SLACK, Set.of())).hasSize(1);
    balance(SLACK);
    for (int i = 0; i < 3; i++) {
      assertThat(on(server(i), TableId.METADATA)).isEqualTo(2);
    }
    assertThat(on(server(0), TableId.ROOT)).isEqualTo(1);
  }

  @Test
  void anyClusterIsBalancedEvenly() {
    for (long seed = 0; seed < 50; seed++) {
      Random random = new Random(seed);
      servers.clear();
      tablets.keySet().forEach(loads::remove);
      tablets.clear();
      int count = 2 + random.nextInt(20);
      servers(count);
      int all = random.nextInt(400);
      for (int i = 0; i < all; i++) {
        ServerId at = server(random.nextInt(1 + random.nextInt(count)));
        put(new TableId("t" + (1 + random.nextInt(8))), at, 0);
      }
      List<Balancer.Move> moves = balance(SLACK);
      Map<ServerId, Integer> counts = counts();
      int most = counts.values().stream().max(Integer::compare).orElseThrow();
      int least = counts.values().stream().min(Integer::compare).orElseThrow();
      assertThat(most - least).as("seed %d", seed).isLessThanOrEqualTo(2 + all / count / 10);
      assertThat(moves.size()).as("seed %d", seed).isLessThanOrEqualTo(2 * all);
    }
  }

  @Test
  void aLargeClusterIsBalancedWithAboutAsManyMovesAsTheNewServersNeed() {
    servers(1000);
    for (int i = 0; i < 50_000; i++) {
      put(new TableId("t" + (1 + i / 500)), server(i % 980), 0);
    }
    List<Balancer.Move> moves = balance(SLACK);
    assertThat(moves.size()).isLessThan(2500);
    Set<TabletId> moved = new HashSet<>();
    moves.forEach(move -> moved.add(move.tablet()));
    assertThat(moves.size()).isLessThan(moved.size() + moved.size() / 10 + 1);
    assertThat(counts().get(server(999))).isBetween(45, 52);
  }

  private void located(TabletId tablet, ServerId... localHosts) {
    List<HostShare> shares = new ArrayList<>();
    for (ServerId host : localHosts) {
      shares.add(new HostShare(host.host(), 100));
    }
    loads.located(tablet, shares);
  }

  @Test
  void ofTabletsThatAreAboutAsGoodToMoveThoseWithTheirBytesAtTheTargetMove() {
    servers(2);
    Set<TabletId> theirs = new HashSet<>();
    for (int i = 0; i < 40; i++) {
      TabletId tablet = put(T, server(0), (64L + i % 3) << 20);
      located(tablet, server(i % 2));
      if (i % 2 == 1) {
        theirs.add(tablet);
      }
    }
    List<Balancer.Move> moves = balance(SLACK);
    assertThat(moves).hasSizeBetween(18, 20).allMatch(move -> theirs.contains(move.tablet()));
  }

  @Test
  void whereNoByteIsLocalToTheTargetThoseThatLoseLeastMove() {
    servers(2);
    Set<TabletId> strangers = new HashSet<>();
    for (int i = 0; i < 40; i++) {
      TabletId tablet = put(T, server(0), 64 << 20);
      located(tablet, i % 2 == 0 ? server(0) : server(7)); // No server is on that host.
      if (i % 2 == 1) {
        strangers.add(tablet);
      }
    }
    assertThat(balance(SLACK))
        .hasSizeBetween(18, 20)
        .allMatch(move -> strangers.contains(move.tablet()));
  }

  @Test
  void localBytesAloneMoveNothing() {
    servers(3);
    for (int i = 0; i < 30; i++) {
      located(put(new TableId("t" + (1 + i)), server(i % 3), 64 << 20), server((i + 1) % 3));
    }
    assertThat(decide(SLACK, Set.of())).isEmpty();
    assertThat(decide(0, Set.of())).isEmpty();
  }

  @Test
  void withLocalBytesItTakesHardlyMoreMovesThanWithout() {
    List<Integer> moves = new ArrayList<>();
    for (boolean located : List.of(false, true)) {
      servers.clear();
      tablets.keySet().forEach(loads::remove);
      tablets.clear();
      names = 0;
      Random random = new Random(5);
      servers(20);
      for (int i = 0; i < 1000; i++) {
        TabletId tablet =
            put(
                new TableId("t" + (1 + i % 10)),
                server(random.nextInt(12)),
                (64L + random.nextInt(64)) << 20);
        ServerId[] localHosts = {server(random.nextInt(20)), server(random.nextInt(20))};
        if (located) {
          located(tablet, localHosts);
        }
      }
      moves.add(balance(SLACK).size());
    }
    assertThat(moves.get(1)).isLessThan(moves.get(0) * 11 / 10);
  }
}
