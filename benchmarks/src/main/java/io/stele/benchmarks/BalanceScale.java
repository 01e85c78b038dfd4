package io.stele.benchmarks;

import io.stele.master.Balancer;
import io.stele.master.Loads;
import io.stele.metadata.Assignment;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * The balancer over a cluster that is only described: how long a decision takes, how many moves
 * there are until nothing is left to do, what it costs to follow a change, and what the description
 * takes in memory. A share of the servers is new and empty; tablets differ in size and in requests.
 *
 * <pre>
 * java -cp ... io.stele.benchmarks.BalanceScale [servers] [tablets] [new servers]
 * </pre>
 */
public final class BalanceScale {
  private static final int TABLETS_OF_A_TABLE = 1000;
  private static final double SLACK = 0.05;
  private static final int WARM_UP = 3;

  private final List<ServerId> servers = new ArrayList<>();
  private final List<TabletId> tablets = new ArrayList<>();
  private final Map<TabletId, Long> bytes = new HashMap<>();
  private final Loads loads = new Loads();

  private BalanceScale() {}

  /** Runs it. */
  public static void main(String[] args) {
    int servers = args.length > 0 ? Integer.parseInt(args[0]) : 10_000;
    int tablets = args.length > 1 ? Integer.parseInt(args[1]) : 1_000_000;
    int empty = args.length > 2 ? Integer.parseInt(args[2]) : servers / 100;
    for (int i = 0; i < WARM_UP; i++) {
      new BalanceScale().run(servers, tablets, empty);
    }
  }

  private void run(int count, int all, int empty) {
    for (int i = 0; i < count; i++) {
      servers.add(new ServerId("server-" + i, 1, 1));
    }
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < all; i++) {
      TableId table = new TableId("t" + (1 + i / TABLETS_OF_A_TABLE));
      tablets.add(new TabletId(table, String.format("%016x", i)));
      bytes.put(tablets.get(i), (64L + random.nextInt(128)) << 20);
    }
    System.out.printf("%d servers, %d of them empty; %d tablets%n", count, empty, all);
    long before = usedBytes();
    long start = System.nanoTime();
    for (int i = 0; i < all; i++) {
      put(tablets.get(i), servers.get(i % (count - empty)));
    }
    System.out.printf("a tablet assigned: %.2f us%n", micros(start) / all);
    start = System.nanoTime();
    for (TabletId tablet : tablets) {
      loads.measured(tablet, random.nextInt(100) == 0 ? 200 : 20);
    }
    System.out.printf("a tablet's requests measured: %.2f us%n", micros(start) / all);
    System.out.printf("memory: %.0f bytes a tablet%n", (usedBytes() - before) / (double) all);
    balance();
  }

  private void balance() {
    long moves = 0;
    double micros = 0;
    int decisions = 0;
    while (decisions < 1000) {
      long start = System.nanoTime();
      List<Balancer.Move> some =
          Balancer.decide(
              loads,
              new Balancer.Cluster(servers, List.of(), Set.of(), Map.of(), 0),
              Balancer.Limits.of(loads, servers.size(), SLACK, Set.of()));
      double took = micros(start);
      start = System.nanoTime();
      some.forEach(move -> put(move.tablet(), move.to()));
      micros += took + micros(start);
      decisions++;
      moves += some.size();
      System.out.printf("decision %d: %d moves, %.1f ms%n", decisions, some.size(), took / 1000);
      if (some.isEmpty()) {
        break;
      }
    }
    System.out.printf(
        "%d moves in %d decisions: %.1f us a move, the change of its tablet's record included%n",
        moves, decisions, micros / Math.max(moves, 1));
  }

  private void put(TabletId tablet, ServerId server) {
    loads.put(
        tablet,
        Assignment.NEVER.assignedTo(server).loaded(),
        Objects.requireNonNull(bytes.get(tablet)));
  }

  private static double micros(long startNanos) {
    return (System.nanoTime() - startNanos) / 1000.0;
  }

  private static long usedBytes() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
