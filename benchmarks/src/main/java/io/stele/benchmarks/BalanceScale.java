package io.stele.benchmarks;

import io.stele.master.Balancer;
import io.stele.master.ClusterSnapshot;
import io.stele.metadata.Assignment;
import io.stele.metadata.MetadataKeys;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * The balancer over a cluster that is only described: how long a decision takes, how many moves
 * there are until nothing is left to do, and what the description takes in memory. A share of the
 * servers is new and empty; tablets differ in size and in requests.
 *
 * <pre>
 * java -cp ... io.stele.benchmarks.BalanceScale [servers] [tablets] [new servers]
 * </pre>
 */
public final class BalanceScale {
  private static final int TABLETS_OF_A_TABLE = 1000;
  private static final double SLACK = 0.05;
  private static final int WARM_UP = 3;

  private BalanceScale() {}

  /** Runs it. */
  public static void main(String[] args) {
    int servers = args.length > 0 ? Integer.parseInt(args[0]) : 10_000;
    int tablets = args.length > 1 ? Integer.parseInt(args[1]) : 1_000_000;
    int empty = args.length > 2 ? Integer.parseInt(args[2]) : servers / 100;
    List<ServerId> ids = new ArrayList<>();
    List<ClusterSnapshot.Server> members = new ArrayList<>();
    for (int i = 0; i < servers; i++) {
      ids.add(new ServerId("server-" + i, 1, 1));
      members.add(new ClusterSnapshot.Server(ids.get(i), false));
    }
    long before = usedBytes();
    SplittableRandom random = new SplittableRandom(1);
    List<ClusterSnapshot.Tablet> all = new ArrayList<>();
    Map<TabletId, Double> rates = new HashMap<>();
    for (int i = 0; i < tablets; i++) {
      TableId table = new TableId("t" + (1 + i / TABLETS_OF_A_TABLE));
      TabletId id = new TabletId(table, String.format("%016x", i));
      all.add(at(id, ids.get(i % (servers - empty)), (64L + random.nextInt(128)) << 20));
      rates.put(id, random.nextInt(100) == 0 ? 200.0 : 20.0);
    }
    System.out.printf("%d servers, %d of them empty; %d tablets%n", servers, empty, tablets);
    System.out.printf("memory: %.0f bytes a tablet%n", (usedBytes() - before) / (double) tablets);
    Balancer.Limits limits = new Balancer.Limits(servers, 4, SLACK, Set.of());
    for (int i = 0; i < WARM_UP; i++) {
      decide(members, all, rates, limits);
    }
    run(members, all, rates, limits);
  }

  private static void run(
      List<ClusterSnapshot.Server> members,
      List<ClusterSnapshot.Tablet> all,
      Map<TabletId, Double> rates,
      Balancer.Limits limits) {
    Map<TabletId, Integer> places = new HashMap<>();
    for (int i = 0; i < all.size(); i++) {
      places.put(all.get(i).id(), i);
    }
    long moves = 0;
    long nanos = 0;
    int decisions = 0;
    while (decisions < 1000) {
      long start = System.nanoTime();
      List<Balancer.Move> some = decide(members, all, rates, limits);
      long took = System.nanoTime() - start;
      nanos += took;
      decisions++;
      moves += some.size();
      System.out.printf("decision %d: %d moves, %d ms%n", decisions, some.size(), took / 1_000_000);
      if (some.isEmpty()) {
        break;
      }
      for (Balancer.Move move : some) {
        int place = Objects.requireNonNull(places.get(move.tablet()));
        all.set(place, at(move.tablet(), move.to(), all.get(place).bytes()));
      }
    }
    System.out.printf(
        "%d moves in %d decisions: %.1f us a move%n",
        moves, decisions, nanos / 1000.0 / Math.max(moves, 1));
  }

  private static List<Balancer.Move> decide(
      List<ClusterSnapshot.Server> members,
      List<ClusterSnapshot.Tablet> all,
      Map<TabletId, Double> rates,
      Balancer.Limits limits) {
    ClusterSnapshot snapshot = new ClusterSnapshot(members, Set.of(), all, Set.of());
    return Balancer.decide(snapshot, rates, limits);
  }

  private static ClusterSnapshot.Tablet at(TabletId id, ServerId server, long bytes) {
    return new ClusterSnapshot.Tablet(
        id,
        MetadataKeys.row(id.table(), Bytes.of(id.name())),
        new RowRange(Bytes.of(id.name()), Bytes.EMPTY),
        Assignment.NEVER.assignedTo(server).loaded(),
        bytes,
        Optional.empty());
  }

  private static long usedBytes() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
