package io.stele.benchmarks;

import io.stele.master.AssignmentPlanner;
import io.stele.master.AssignmentStep;
import io.stele.master.Balancer;
import io.stele.master.ClusterSnapshot;
import io.stele.master.KnownRecords;
import io.stele.master.ServerLoads;
import io.stele.metadata.Assignment;
import io.stele.metadata.MetadataKeys;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.record.FileRef;
import io.stele.wire.HostShare;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * The balancer over a cluster that is only described: how long a decision takes, how many moves
 * there are until nothing is left to do, what it costs to follow a change, and what the description
 * takes in memory. A share of the servers is new and empty; tablets differ in size and in requests,
 * and their bytes lie on three hosts. Then all servers restart: how many tablets go back to their
 * hosts.
 *
 * <p>Then what a master remembers of all tablets' records, and how long its planner takes when one
 * of them is no longer served.
 *
 * <pre>
 * java -cp ... io.stele.benchmarks.BalanceScale [servers] [tablets] [new servers]
 * </pre>
 */
public final class BalanceScale {
  private static final int TABLETS_OF_A_TABLE = 1000;
  private static final double SLACK = 0.05;
  private static final int WARM_UP = 3;
  private static final int PLANS = 200;

  private final List<ServerId> servers = new ArrayList<>();
  private final List<TabletId> tablets = new ArrayList<>();
  private final Map<TabletId, Long> bytes = new HashMap<>();
  private final Map<TabletId, ServerId> places = new HashMap<>();
  private final ServerLoads loads = new ServerLoads();

  private BalanceScale() {}

  /** Runs it. */
  public static void main(String[] args) {
    int servers = args.length > 0 ? Integer.parseInt(args[0]) : 10_000;
    int tablets = args.length > 1 ? Integer.parseInt(args[1]) : 1_000_000;
    int empty = args.length > 2 ? Integer.parseInt(args[2]) : servers / 100;
    for (int i = 0; i < WARM_UP; i++) {
      new BalanceScale().run(servers, tablets, empty);
    }
    remember(servers, tablets);
  }

  private static void remember(int servers, int tablets) {
    long before = usedBytes();
    KnownRecords known = new KnownRecords();
    known.system(
        record(TabletId.ROOT, RowRange.ALL, Bytes.EMPTY, 0),
        List.of(
            record(
                new TabletId(TableId.METADATA, "0".repeat(16)),
                RowRange.ALL,
                MetadataKeys.row(TableId.METADATA, Bytes.EMPTY),
                0)));
    long start = System.nanoTime();
    for (int i = 0; i < tablets; i++) {
      known.put(user(i, servers));
    }
    System.out.printf("a record made and remembered: %.1f us%n", micros(start) / tablets);
    System.out.printf(
        "memory: %.0f bytes a record of one SSTable and one log, with its load%n",
        (usedBytes() - before) / (double) tablets);
    List<Double> planned = new ArrayList<>();
    for (int i = 0; i < PLANS; i++) {
      planned.add(plan(known, user(i * (tablets / PLANS), servers), servers));
    }
    Collections.sort(planned);
    System.out.printf(
        "a tablet is not served any more, and the planner assigns it: %.1f ms (half of %d), at most"
            + " %.1f ms%n",
        planned.get(PLANS / 2) / 1000, PLANS, planned.get(PLANS - 1) / 1000);
  }

  /** How long it takes to plan for a tablet that is not served any more, in microseconds. */
  private static double plan(KnownRecords known, TabletRecord served, int servers) {
    Set<ServerId> live = new HashSet<>();
    for (int i = 0; i < servers; i++) {
      live.add(server(i));
    }
    long start = System.nanoTime();
    known.put(served.toBuilder().assignment(served.assignment().released()).build());
    Map<TabletId, TabletRecord> open = known.open(live, Set.of(), List.of());
    Map<ServerId, ServerLoads.Sum> others = known.loads().without(open.keySet());
    List<ClusterSnapshot.Server> all = new ArrayList<>();
    for (ServerId id : live) {
      all.add(ClusterSnapshot.Server.of(id, ClusterSnapshot.Takes.ALL, false, others));
    }
    List<ClusterSnapshot.Tablet> tablets =
        open.values().stream()
            .map(record -> ClusterSnapshot.Tablet.of(record, known.loads().localHosts(record.id())))
            .toList();
    int actions =
        AssignmentPlanner.plan(new ClusterSnapshot(all, Set.of(), tablets, Set.of())).size();
    double took = micros(start);
    if (actions != 1) {
      throw new IllegalStateException(actions + " actions for one tablet");
    }
    known.put(served);
    return took;
  }

  /** As it is read from METADATA: nothing of it is shared with other records. */
  private static TabletRecord user(int number, int servers) {
    TableId table = new TableId("t" + (1 + number / TABLETS_OF_A_TABLE));
    int ofTable = number % TABLETS_OF_A_TABLE;
    TabletId id = new TabletId(table, String.format("%016x", number));
    RowRange rows =
        new RowRange(
            ofTable == 0 ? Bytes.EMPTY : Bytes.of("row" + (1000 + ofTable)),
            ofTable == TABLETS_OF_A_TABLE - 1 ? Bytes.EMPTY : Bytes.of("row" + (1001 + ofTable)));
    return record(id, rows, MetadataKeys.row(table, rows.end()), number % servers);
  }

  private static TabletRecord record(TabletId id, RowRange rows, Bytes row, int server) {
    String path = "tables/" + id + "/1-1.sst";
    return TabletRecord.builder(id, rows, row)
        .assignment(Assignment.NEVER.assignedTo(server(server)).loaded())
        .files(List.of(FileRef.builder(path, 64L << 20, rows).sequences(1, 1000).build()))
        .logs(Set.of(server(server)))
        .build();
  }

  private static ServerId server(int number) {
    return new ServerId("server-" + number, 1, 1);
  }

  private void run(int count, int all, int empty) {
    for (int i = 0; i < count; i++) {
      servers.add(server(i));
    }
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < all; i++) {
      TableId table = new TableId("t" + (1 + i / TABLETS_OF_A_TABLE));
      tablets.add(new TabletId(table, String.format("%016x", i)));
      bytes.put(tablets.get(i), (64L + random.nextInt(128)) << 20);
      places.put(tablets.get(i), servers.get(i % (count - empty)));
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
    start = System.nanoTime();
    for (int i = 0; i < all; i++) {
      loads.located(tablets.get(i), localHosts(i % (count - empty), random.nextInt(count), count));
    }
    System.out.printf("a tablet located: %.2f us%n", micros(start) / all);
    System.out.printf("memory: %.0f bytes a tablet%n", (usedBytes() - before) / (double) all);
    balance();
  }

  /** All bytes on the server's host, and copies on another and its neighbour. */
  private static List<HostShare> localHosts(int server, int other, int servers) {
    return List.of(
        new HostShare("server-" + server, 100),
        new HostShare("server-" + other, 70),
        new HostShare("server-" + (other + 1) % servers, 40));
  }

  /** All servers have new names, and no tablet is served; the balanced cluster was like this. */
  private void restart() {
    List<ClusterSnapshot.Server> live = new ArrayList<>();
    for (ServerId server : servers) {
      live.add(new ClusterSnapshot.Server(new ServerId(server.host(), 1, 2), false));
    }
    List<ClusterSnapshot.Tablet> free = new ArrayList<>();
    free.add(system(TabletId.ROOT, live.get(0).id()));
    free.add(system(new TabletId(TableId.METADATA, "0".repeat(16)), live.get(0).id()));
    for (TabletId tablet : tablets) {
      Assignment before = Assignment.NEVER.assignedTo(Objects.requireNonNull(places.get(tablet)));
      TabletRecord record =
          TabletRecord.builder(tablet, RowRange.ALL, MetadataKeys.row(tablet.table(), Bytes.EMPTY))
              .assignment(before.released())
              .files(List.of(FileRef.builder("f", size(tablet), RowRange.ALL).build()))
              .build();
      free.add(ClusterSnapshot.Tablet.of(record, List.of()));
    }
    long start = System.nanoTime();
    List<AssignmentStep> actions =
        AssignmentPlanner.plan(new ClusterSnapshot(live, Set.of(), free, Set.of()));
    double took = micros(start);
    long back = actions.stream().filter(assign -> isBack(assign.tablet(), assign.server())).count();
    System.out.printf(
        "all servers restarted: %.1f us a tablet, %.2f %% of them go to the host they were on%n",
        took / actions.size(), 100.0 * back / actions.size());
  }

  private static ClusterSnapshot.Tablet system(TabletId id, ServerId server) {
    return new ClusterSnapshot.Tablet(
        id,
        MetadataKeys.row(id.table(), Bytes.EMPTY),
        RowRange.ALL,
        Assignment.NEVER.assignedTo(server).loaded(),
        0,
        Optional.empty());
  }

  private boolean isBack(TabletId tablet, ServerId server) {
    return Objects.requireNonNull(places.get(tablet)).host().equals(server.host());
  }

  private long size(TabletId tablet) {
    return Objects.requireNonNull(bytes.get(tablet));
  }

  private void balance() {
    long moves = 0;
    long local = 0;
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
      double put = micros(start);
      some.forEach(move -> places.put(move.tablet(), move.to()));
      micros += took + put;
      decisions++;
      moves += some.size();
      local += some.stream().filter(this::isLocal).count();
      System.out.printf("decision %d: %d moves, %.1f ms%n", decisions, some.size(), took / 1000);
      if (some.isEmpty()) {
        break;
      }
    }
    System.out.printf(
        "%d moves in %d decisions: %.1f us a move, the change of its tablet's record included%n",
        moves, decisions, micros / Math.max(moves, 1));
    System.out.printf(
        "%.1f %% of the moved tablets went to a host of their bytes%n",
        100.0 * local / Math.max(moves, 1));
    restart();
  }

  private boolean isLocal(Balancer.Move move) {
    return loads.localHosts(move.tablet()).stream()
        .anyMatch(share -> share.host().equals(move.to().host()));
  }

  private void put(TabletId tablet, ServerId server) {
    loads.put(tablet, Assignment.NEVER.assignedTo(server).loaded(), size(tablet));
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
