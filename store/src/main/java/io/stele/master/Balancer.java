package io.stele.master;

import io.stele.metadata.Assignment;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Which tablets should go to other servers, as a pure function of a snapshot: no I/O, no clock, the
 * same answer to the same snapshot.
 *
 * <p>A tablet weighs one on average: by its number, its bytes and its requests alike, as far as
 * there are any. A move is worth it if it makes the heavier server lighter than it was by more than
 * a slack, and the lighter one not as heavy; of a server's tablets that one goes which evens out
 * most, and is of a table that the other server has least of. Each move makes the sum of the
 * squares of all weights less, so moves come to an end. Where weights are even, the tablets of one
 * table are spread; last those of METADATA, one at a time. The root tablet stays.
 *
 * <p>A decision costs as much as it takes to look at each tablet once, and for each move at the
 * tablets of one server.
 */
public final class Balancer {
  private static final long BYTES_THAT_COUNT = 1 << 20; // Of an average tablet.
  private static final double RATE_THAT_COUNTS = 1; // Likewise, a second.
  private static final double SLACK_MIN = 0.5;
  private static final int SPREAD_SHARE = 8; // Of all moves: it is worth less than even weights.
  private static final int RECEIVERS_TRIED_MAX = 32;

  private final ClusterSnapshot snapshot;
  private final Map<TabletId, Double> rates;
  private final Limits limits;
  private final Map<ServerId, Server> servers = new HashMap<>();
  private final List<Move> chosen = new ArrayList<>();
  private int underWay;
  private double slack;
  private double bytesMean;
  private double rateMean;

  /**
   * How far a decision goes.
   *
   * @param movesMax tablets that are away or on their way at once
   * @param movesOfServerMax to or from one server at once
   * @param slack a share of an average server's weight that is left uneven
   * @param resting tablets that moved a moment ago
   */
  public record Limits(int movesMax, int movesOfServerMax, double slack, Set<TabletId> resting) {
    private static final int MOVES_MIN = 4;
    private static final int MOVES_OF_SERVER_MAX = 4;

    /** Those of a cluster of so many servers. */
    static Limits of(int servers, double slack, Set<TabletId> resting) {
      return new Limits(
          Math.max(MOVES_MIN, servers), MOVES_OF_SERVER_MAX, slack, Set.copyOf(resting));
    }
  }

  /** One move. */
  public record Move(TabletId tablet, ServerId from, ServerId to) {}

  /** A server that takes tablets, as it is after the moves chosen so far. */
  private static final class Server {
    static final Comparator<Server> LIGHTEST_FIRST =
        Comparator.comparingDouble((Server server) -> server.weight)
            .thenComparing(server -> server.id);

    final ServerId id;
    final List<ClusterSnapshot.Tablet> movable = new ArrayList<>();
    final List<TableId> tables = new ArrayList<>(); // One for each tablet.
    Optional<Map<TableId, Integer>> counts = Optional.empty();
    double weight;
    int moves;

    Server(ServerId id) {
      this.id = id;
    }

    Map<TableId, Integer> counts() {
      if (counts.isEmpty()) { // Only few servers give or take.
        Map<TableId, Integer> counted = new HashMap<>();
        tables.forEach(table -> counted.merge(table, 1, Integer::sum));
        counts = Optional.of(counted);
      }
      return counts.get();
    }

    int of(TableId table) {
      return counts().getOrDefault(table, 0);
    }
  }

  private Balancer(ClusterSnapshot snapshot, Map<TabletId, Double> rates, Limits limits) {
    this.snapshot = snapshot;
    this.rates = rates;
    this.limits = limits;
  }

  /**
   * The moves to begin in {@code snapshot}, beside those under way; none while more tablets are
   * away than may be.
   *
   * @param rates requests a second, of tablets that have any
   */
  public static List<Move> decide(
      ClusterSnapshot snapshot, Map<TabletId, Double> rates, Limits limits) {
    return new Balancer(snapshot, rates, limits).decide();
  }

  private List<Move> decide() {
    for (ClusterSnapshot.Server server : snapshot.servers()) {
      if (!server.draining() && !snapshot.fenced().contains(server.id())) {
        servers.put(server.id(), new Server(server.id()));
      }
    }
    if (servers.size() < 2) {
      return List.of();
    }
    weigh();
    List<ClusterSnapshot.Tablet> ofMetadata = new ArrayList<>();
    for (ClusterSnapshot.Tablet tablet : snapshot.tablets()) {
      place(tablet, ofMetadata);
    }
    NavigableSet<Server> order = new TreeSet<>(Server.LIGHTEST_FIRST);
    servers.values().stream().filter(this::mayMove).forEach(order::add);
    even(order);
    if (chosen.isEmpty()) {
      spread();
    }
    if (chosen.isEmpty() && underWay == 0) {
      spreadMetadata(ofMetadata);
    }
    return List.copyOf(chosen);
  }

  /** Finds out what an average tablet has. */
  private void weigh() {
    double tablets = 0;
    double bytes = 0;
    double rate = 0;
    for (ClusterSnapshot.Tablet tablet : snapshot.tablets()) {
      if (!tablet.id().table().isSystem()) {
        tablets++;
        bytes += tablet.bytes();
        rate += rates.isEmpty() ? 0 : rates.getOrDefault(tablet.id(), 0.0);
      }
    }
    bytesMean = bytes / Math.max(tablets, 1);
    rateMean = rate / Math.max(tablets, 1);
    slack = Math.max(SLACK_MIN, limits.slack() * tablets / servers.size());
    if (limits.slack() == 0) {
      slack = 0;
    }
  }

  private double weight(ClusterSnapshot.Tablet tablet) {
    double sum = 1;
    int kinds = 1;
    if (bytesMean >= BYTES_THAT_COUNT) {
      sum += tablet.bytes() / bytesMean;
      kinds++;
    }
    if (rateMean >= RATE_THAT_COUNTS) {
      sum += rates.getOrDefault(tablet.id(), 0.0) / rateMean;
      kinds++;
    }
    return sum / kinds;
  }

  private void place(ClusterSnapshot.Tablet tablet, List<ClusterSnapshot.Tablet> ofMetadata) {
    Optional<ClusterSnapshot.Move> move =
        snapshot.moves().isEmpty()
            ? Optional.empty()
            : Optional.ofNullable(snapshot.moves().get(tablet.id()));
    Optional<ServerId> server = tablet.assignment().server();
    boolean loaded = tablet.assignment().state() == Assignment.State.LOADED;
    if (move.isPresent()) {
      server = move.get().to().or(tablet.assignment()::server);
      count(move.get().from());
      move.get().to().ifPresent(this::count);
    }
    underWay += move.isPresent() || !loaded ? 1 : 0;
    Server at = server.map(servers::get).orElse(null);
    if (at == null) {
      return;
    }
    if (tablet.id().table().isSystem()) {
      if (tablet.id().table().equals(TableId.METADATA) && move.isEmpty() && loaded) {
        ofMetadata.add(tablet);
      }
      return;
    }
    at.weight += weight(tablet);
    at.tables.add(tablet.id().table());
    if (loaded
        && move.isEmpty()
        && !limits.resting().contains(tablet.id())
        && !snapshot.dropping().contains(tablet.id().table())) {
      at.movable.add(tablet);
    }
  }

  private void count(ServerId server) {
    Server known = servers.get(server);
    if (known != null) {
      known.moves++;
    }
  }

  private boolean mayMove(Server server) {
    return server.moves < limits.movesOfServerMax();
  }

  private boolean hasRoom() {
    return underWay < limits.movesMax();
  }

  /** Moves from the heaviest servers to the lightest. */
  private void even(NavigableSet<Server> order) {
    while (hasRoom() && order.size() > 1) {
      Server heavy = order.last();
      Server light = order.first();
      if (heavy.weight - light.weight <= slack) {
        return;
      }
      Optional<ClusterSnapshot.Tablet> best = best(heavy, light);
      order.remove(heavy); // It changes, or has nothing to give.
      if (best.isPresent()) {
        order.remove(light);
        move(best.get(), heavy, light);
        List.of(heavy, light).stream().filter(this::mayMove).forEach(order::add);
      }
    }
  }

  private Optional<ClusterSnapshot.Tablet> best(Server heavy, Server light) {
    double apart = heavy.weight - light.weight;
    double least = Double.MAX_VALUE;
    Optional<ClusterSnapshot.Tablet> best = Optional.empty();
    for (ClusterSnapshot.Tablet tablet : heavy.movable) {
      double weight = weight(tablet);
      if (apart - weight <= slack) {
        continue;
      }
      TableId table = tablet.id().table();
      double change = weight * (weight - apart) + 1 + light.of(table) - heavy.of(table);
      if (change < least) {
        least = change;
        best = Optional.of(tablet);
      }
    }
    return best;
  }

  private void move(ClusterSnapshot.Tablet tablet, Server from, Server to) {
    double weight = weight(tablet);
    TableId table = tablet.id().table();
    from.counts().merge(table, -1, Integer::sum);
    to.counts().merge(table, 1, Integer::sum);
    from.weight -= weight;
    to.weight += weight;
    from.movable.remove(tablet);
    from.moves++;
    to.moves++;
    underWay++;
    chosen.add(new Move(tablet.id(), from.id, to.id));
  }

  /** Moves tablets of tables of which one server has several more than others. */
  private void spread() {
    NavigableSet<Server> order = new TreeSet<>(Server.LIGHTEST_FIRST);
    servers.values().stream().filter(this::mayMove).forEach(order::add);
    for (Server from : List.copyOf(order)) {
      for (ClusterSnapshot.Tablet tablet : List.copyOf(from.movable)) {
        if (!hasRoom() || !mayMove(from) || chosen.size() > limits.movesMax() / SPREAD_SHARE) {
          break;
        }
        if (from.of(tablet.id().table()) < 2) {
          continue;
        }
        Optional<Server> to = receiver(order, from, tablet.id().table());
        if (to.isPresent()) {
          order.remove(from);
          order.remove(to.get());
          move(tablet, from, to.get());
          List.of(from, to.get()).stream().filter(this::mayMove).forEach(order::add);
        }
      }
    }
  }

  /**
   * A server that is not heavier, and has fewer of the table: by two, or more if there are many.
   */
  private Optional<Server> receiver(Collection<Server> lightestFirst, Server from, TableId table) {
    int apart = 2 + (int) (2 * limits.slack() * from.of(table));
    return lightestFirst.stream()
        .limit(RECEIVERS_TRIED_MAX)
        .filter(to -> to.weight - from.weight <= slack && from.of(table) - to.of(table) >= apart)
        .findFirst();
  }

  /** Moves one tablet of METADATA, if a server has two more than another. */
  private void spreadMetadata(List<ClusterSnapshot.Tablet> ofMetadata) {
    Map<ServerId, Integer> counts = new TreeMap<>();
    servers.keySet().forEach(server -> counts.put(server, 0));
    ofMetadata.forEach(
        tablet -> counts.merge(tablet.assignment().server().orElseThrow(), 1, Integer::sum));
    Comparator<Map.Entry<ServerId, Integer>> byCount =
        Map.Entry.<ServerId, Integer>comparingByValue().thenComparing(Map.Entry.comparingByKey());
    Map.Entry<ServerId, Integer> least = counts.entrySet().stream().min(byCount).orElseThrow();
    Map.Entry<ServerId, Integer> most = counts.entrySet().stream().max(byCount).orElseThrow();
    if (most.getValue() - least.getValue() >= 2) {
      ofMetadata.stream()
          .filter(tablet -> tablet.assignment().isTo(most.getKey()))
          .filter(tablet -> !limits.resting().contains(tablet.id()))
          .findFirst()
          .ifPresent(tablet -> chosen.add(new Move(tablet.id(), most.getKey(), least.getKey())));
    }
  }
}
