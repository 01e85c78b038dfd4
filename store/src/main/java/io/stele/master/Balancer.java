package io.stele.master;

import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Decides which tablets should move to other servers, as a pure function of the servers' loads:
 * without I/O or clock, it returns the same answer for the same {@link ServerLoads} and {@link
 * Cluster}.
 *
 * <p>A tablet weighs one on average; number, bytes and requests have equal parts in the weight, as
 * far as there are any bytes and requests. A move is worthwhile if it reduces the sum of the
 * squares of all servers' weights, plus twice the sum of the squares of what each server has of
 * each table. So moves come to an end. First, tablets move from the heaviest servers to the
 * lightest, as long as these differ by more than a slack. When weights are even, tablets move from
 * servers that have several more tablets of a table than others. Tablets of METADATA move last, one
 * at a time. The root tablet stays.
 *
 * <p>Of several moves that reduce the sum about equally, the one is chosen after which the fewest
 * bytes have to be read from other hosts. Locality decides nothing else: it is not part of the sum.
 *
 * <p>A decision looks at each server once, and for each move at the tablets of one server.
 */
public final class Balancer {
  private static final double SPREAD = 2; // What a table's even spread counts beside even weights.
  private static final double GAIN_MIN = 1e-6; // Less may be an error of rounding.

  /** A move that gains at least this part of what the best gains is about as good. */
  private static final double ABOUT_AS_GOOD = 0.8;

  private static final int SPREAD_SLACK = 4; // One in so many tablets of a table.
  private static final int SPREAD_SHARE = 8; // Of all moves: it is worth less than even weights.
  private static final int SERVERS_TRIED_MAX = 32;
  private static final int SHARES_TRIED_MAX = 5_000;

  private final ServerLoads loads;
  private final Cluster cluster;
  private final Limits limits;
  private final Map<ServerId, Server> servers = new HashMap<>();
  private final NavigableSet<Server> order = new TreeSet<>(Server.LIGHTEST_FIRST); // May move.
  private final Set<TabletId> onTheirWay = new HashSet<>();
  private final List<Move> chosen = new ArrayList<>();
  private final Weights weights;
  private final double mean; // A server's weight.
  private final double slack;
  private int inProgress;

  /**
   * The input of a decision, beside the servers' shares of the tables.
   *
   * @param servers those that take tablets
   * @param metadata the tablets of METADATA
   * @param leftAlone tables whose tablets stay as they are: those being dropped, and hidden ones
   * @param moves tablets that will move to other servers
   * @param away how many tablets wait to be served
   */
  public record Cluster(
      List<ServerId> servers,
      List<ClusterSnapshot.Tablet> metadata,
      Set<TableId> leftAlone,
      Map<TabletId, ClusterSnapshot.Move> moves,
      int away) {
    public Cluster {
      servers = List.copyOf(servers);
      metadata = List.copyOf(metadata);
      leftAlone = Set.copyOf(leftAlone);
      moves = Map.copyOf(moves);
    }
  }

  /**
   * The limits of a decision.
   *
   * @param movesMax the most tablets that are unserved or moving at once
   * @param movesOfServerMax the most moves to or from one server at once
   * @param slack the share of an average server's weight by which servers may differ from that
   *     weight
   * @param resting tablets that moved recently
   */
  public record Limits(int movesMax, int movesOfServerMax, double slack, Set<TabletId> resting) {
    private static final int MOVES_MIN = 4;
    private static final int MOVES_OF_SERVER_MIN = 4;

    /** A new server has its share after this many rounds of moves. */
    private static final int ROUNDS = 30;

    /** The limits for a cluster with this many servers. */
    public static Limits of(ServerLoads loads, int servers, double slack, Set<TabletId> resting) {
      long share = loads.all().count() / Math.max(1, servers);
      int ofServer = (int) Math.max(MOVES_OF_SERVER_MIN, share / ROUNDS);
      return new Limits(
          Math.max(Math.max(MOVES_MIN, ofServer), servers), ofServer, slack, Set.copyOf(resting));
    }
  }

  /** One move. */
  public record Move(TabletId tablet, ServerId from, ServerId to) {}

  /**
   * A server that takes tablets, as it will be after the moves in progress and those chosen so far.
   */
  private static final class Server {
    static final Comparator<Server> LIGHTEST_FIRST =
        Comparator.comparingDouble((Server server) -> server.weight)
            .thenComparing(server -> server.id);

    final ServerId id;
    final Optional<ServerLoads.Server> load;
    final Map<TableId, Part> changes = new HashMap<>(1);
    double weight;
    int moves;

    Server(ServerId id, Optional<ServerLoads.Server> load, double weight) {
      this.id = id;
      this.load = load;
      this.weight = weight;
    }

    /** The server's part of a table. */
    Part of(TableId table, Weights weights) {
      Part part =
          load.flatMap(one -> one.of(table))
              .map(share -> new Part(share.count(), weights.weigh(share)))
              .orElse(Part.NONE);
      return changes.isEmpty() ? part : part.plus(changes.getOrDefault(table, Part.NONE));
    }

    void add(TableId table, Part part) {
      changes.merge(table, part, Part::plus);
      weight += part.weight();
    }
  }

  /** Some tablets of a table. */
  private record Part(int tablets, double weight) {
    static final Part NONE = new Part(0, 0);

    Part plus(Part more) {
      return new Part(tablets + more.tablets, weight + more.weight);
    }
  }

  /** A tablet to move, and by how much the move reduces the sum of squares. */
  private record Candidate(ServerLoads.Tablet tablet, double gain) {
    boolean isBetterThan(Candidate other) {
      return gain > other.gain
          || (gain == other.gain && tablet.id().compareTo(other.tablet.id()) < 0);
    }
  }

  /** By how much moves of tablets from one server to another reduce the sum of squares. */
  private interface Gains {
    /** The gain; 0 if the tablet may not move, or if it gains less than {@code enough}. */
    double of(ServerLoads.Tablet tablet, double enough);
  }

  private Balancer(ServerLoads loads, Cluster cluster, Limits limits) {
    this.loads = loads;
    this.cluster = cluster;
    this.limits = limits;
    this.weights = Weights.of(loads.all().count(), loads.all().bytes(), loads.all().rate());
    this.mean = Weights.mean(loads.all().count(), cluster.servers().size());
    this.slack = limits.slack() == 0 ? 0 : Weights.slack(mean, limits.slack());
    this.inProgress = cluster.away();
  }

  /**
   * The moves to begin, in addition to those in progress; none while too many tablets are unserved.
   *
   * @param loads the servers' shares of the tables
   */
  public static List<Move> decide(ServerLoads loads, Cluster cluster, Limits limits) {
    return cluster.servers().size() < 2 ? List.of() : new Balancer(loads, cluster, limits).decide();
  }

  private List<Move> decide() {
    for (ServerId id : cluster.servers()) {
      Optional<ServerLoads.Server> load = loads.server(id);
      double weight = load.map(one -> weights.weigh(one)).orElse(0.0);
      servers.put(id, new Server(id, load, weight));
    }
    cluster.moves().forEach(this::anticipate);
    servers.values().stream().filter(this::mayMove).forEach(order::add);
    even();
    if (chosen.isEmpty()) {
      spread();
    }
    if (chosen.isEmpty() && inProgress == 0) {
      spreadMetadata();
    }
    return List.copyOf(chosen);
  }

  /** Counts a moving tablet at its target. */
  private void anticipate(TabletId id, ClusterSnapshot.Move move) {
    server(move.from()).ifPresent(from -> from.moves++);
    move.to().flatMap(this::server).ifPresent(to -> to.moves++);
    onTheirWay.add(id);
    Optional<ServerLoads.Tablet> tablet = loads.tablet(id);
    if (tablet.isEmpty() || tablet.get().isLoaded()) {
      inProgress++; // Others are among those that are away.
    }
    if (tablet.isPresent() && move.to().isPresent()) {
      double weight = weights.weigh(tablet.get());
      Optional<Server> at = tablet.get().server().flatMap(this::server);
      at.ifPresent(from -> from.add(id.table(), new Part(-1, -weight)));
      move.to().flatMap(this::server).ifPresent(to -> to.add(id.table(), new Part(1, weight)));
    }
  }

  private Optional<Server> server(ServerId id) {
    return Optional.ofNullable(servers.get(id));
  }

  private boolean mayMove(Server server) {
    return server.moves < limits.movesOfServerMax();
  }

  private boolean mayMove(ServerLoads.Tablet tablet) {
    return tablet.isLoaded()
        && !onTheirWay.contains(tablet.id())
        && !cluster.leftAlone().contains(tablet.id().table())
        && !limits.resting().contains(tablet.id());
  }

  private boolean hasRoom() {
    return inProgress < limits.movesMax();
  }

  /**
   * Moves tablets from the heaviest servers to the lightest. Servers that differ from the average
   * by more than the slack are brought to differ by half of it, so that small changes of a server's
   * load move nothing.
   */
  private void even() {
    for (Server heavy : List.copyOf(order.descendingSet())) {
      if (heavy.weight <= mean + slack) {
        break;
      }
      while (heavy.weight > mean + slack / 2 && gives(heavy)) {}
    }
    for (Server light : List.copyOf(order)) {
      if (light.weight >= mean - slack) {
        break;
      }
      while (light.weight < mean - slack / 2 && takes(light)) {}
    }
  }

  /** Moves a tablet from {@code heavy} to the lightest server, if a suitable tablet exists. */
  private boolean gives(Server heavy) {
    return !order.isEmpty() && moves(heavy, order.first());
  }

  /** Moves a tablet to {@code light} from the heaviest server that has a suitable one, if any. */
  private boolean takes(Server light) {
    return order.descendingSet().stream().limit(SERVERS_TRIED_MAX).toList().stream()
        .anyMatch(heavy -> moves(heavy, light));
  }

  private boolean moves(Server heavy, Server light) {
    if (!hasRoom() || heavy == light || !mayMove(heavy) || !mayMove(light)) {
      return false;
    }
    Optional<Candidate> best = best(heavy, light);
    best.ifPresent(one -> move(one.tablet(), heavy, light));
    return best.isPresent();
  }

  private Optional<Candidate> best(Server heavy, Server light) {
    double apart = heavy.weight - light.weight;
    return choose(
        heavy,
        light,
        (tablet, enough) -> {
          double weight = weights.weigh(tablet);
          double most = gain(weight, apart, weights.weigh(tablet.share())); // If light has none.
          if (apart - weight <= slack / 2 || most < enough || !mayMove(tablet)) {
            return 0;
          }
          TableId table = tablet.id().table();
          double spread = heavy.of(table, weights).weight() - light.of(table, weights).weight();
          return gain(weight, apart, spread);
        });
  }

  /**
   * The tablet whose move gains most; or, of those whose moves gain about as much, the one after
   * whose move the fewest bytes have to be read from other hosts.
   */
  private Optional<Candidate> choose(Server from, Server to, Gains gains) {
    List<ServerLoads.Tablet> tablets = from.load.map(ServerLoads.Server::tablets).orElse(List.of());
    @Nullable Candidate best = null;
    for (ServerLoads.Tablet tablet : tablets) {
      double enough = best == null ? GAIN_MIN : best.gain();
      Candidate one = new Candidate(tablet, gains.of(tablet, enough));
      if (one.gain() >= enough && (best == null || one.isBetterThan(best))) {
        best = one;
      }
    }
    return best == null
        ? Optional.empty()
        : Optional.of(nearest(best, tablets, gains, loads.hosts().of(to.id.host())));
  }

  private static Candidate nearest(
      Candidate best, List<ServerLoads.Tablet> tablets, Gains gains, int host) {
    double enough = Math.max(GAIN_MIN, ABOUT_AS_GOOD * best.gain());
    double awayOfBest = best.tablet().bytesAwayOn(host);
    double least = awayOfBest;
    Candidate nearest = best;
    for (ServerLoads.Tablet tablet : tablets) {
      double away = tablet.bytesAwayOn(host);
      if (away < least || (away == least && least < awayOfBest)) {
        Candidate one = new Candidate(tablet, gains.of(tablet, enough));
        if (one.gain() >= enough && (away < least || one.isBetterThan(nearest))) {
          nearest = one;
          least = away;
        }
      }
    }
    return nearest;
  }

  /**
   * By how much a move of the tablet reduces half the sum of squares.
   *
   * @param apart how much heavier the source is than the target
   * @param spread how much more the source has of the tablet's table
   */
  private static double gain(double weight, double apart, double spread) {
    return weight * (apart - weight + SPREAD * (spread - weight));
  }

  private void move(ServerLoads.Tablet tablet, Server from, Server to) {
    order.remove(from);
    order.remove(to);
    double weight = weights.weigh(tablet);
    from.add(tablet.id().table(), new Part(-1, -weight));
    to.add(tablet.id().table(), new Part(1, weight));
    from.moves++;
    to.moves++;
    inProgress++;
    onTheirWay.add(tablet.id());
    chosen.add(new Move(tablet.id(), from.id, to.id));
    List.of(from, to).stream().filter(this::mayMove).forEach(order::add);
  }

  /** Moves tablets of tables of which one server has several more than another. */
  private void spread() {
    int count = servers.size();
    List<ServerLoads.Table> uneven =
        loads.tables().stream()
            .filter(table -> table.excess(count) > 1 && !cluster.leftAlone().contains(table.id()))
            .sorted(Comparator.comparingLong((ServerLoads.Table table) -> -table.excess(count)))
            .toList();
    int tried = 0;
    for (ServerLoads.Table table : uneven) {
      List<ServerLoads.Share> crowded = new ArrayList<>(table.crowded());
      crowded.sort(
          Comparator.comparingInt((ServerLoads.Share share) -> -share.count())
              .thenComparing(ServerLoads.Share::server));
      for (ServerLoads.Share share : crowded) {
        Optional<Server> from = server(share.server());
        if (++tried > SHARES_TRIED_MAX) {
          return;
        }
        while (from.isPresent() && maySpread(from.get()) && spread(share, from.get())) {
          tried++;
        }
      }
    }
  }

  private boolean maySpread(Server from) {
    return hasRoom() && mayMove(from) && chosen.size() <= limits.movesMax() / SPREAD_SHARE;
  }

  /**
   * Moves one tablet of the share to a server that has fewer of the table: by at least two, or by
   * more if there are many.
   */
  private boolean spread(ServerLoads.Share share, Server from) {
    Part before = from.of(share.table(), weights);
    int has = before.tablets();
    int apart = 2 + has / SPREAD_SLACK;
    if (has < apart) {
      return false;
    }
    Optional<Server> to =
        order.stream()
            .limit(SERVERS_TRIED_MAX)
            .filter(server -> has - server.of(share.table(), weights).tablets() >= apart)
            .findFirst();
    if (to.isEmpty()) {
      return false;
    }
    double heavier = Math.min(0, from.weight - to.get().weight); // It must pay by itself.
    double spread = before.weight() - to.get().of(share.table(), weights).weight();
    Optional<Candidate> best =
        choose(
            from,
            to.get(),
            (tablet, enough) -> {
              double weight = weights.weigh(tablet);
              return tablet.isOf(share) && staysEven(from, to.get(), weight) && mayMove(tablet)
                  // Large enough that the move still pays after small changes of the load.
                  ? gain(weight, heavier, spread) - weight * slack
                  : 0;
            });
    best.ifPresent(one -> move(one.tablet(), from, to.get()));
    return best.isPresent();
  }

  /** Whether the weights stay so even after a move that nothing moves back because of it. */
  private boolean staysEven(Server from, Server to, double weight) {
    double most = Math.max(slack / 2, 1); // Or an average tablet.
    return to.weight + weight <= mean + most && from.weight - weight >= mean - most;
  }

  /** Moves one tablet of METADATA, if one server has at least two more than another. */
  private void spreadMetadata() {
    Map<ServerId, Integer> counts = new TreeMap<>();
    servers.keySet().forEach(server -> counts.put(server, 0));
    List<ClusterSnapshot.Tablet> served =
        cluster.metadata().stream()
            .filter(one -> one.assignment().server().filter(servers::containsKey).isPresent())
            .toList();
    served.forEach(
        tablet -> counts.merge(tablet.assignment().server().orElseThrow(), 1, Integer::sum));
    Comparator<Map.Entry<ServerId, Integer>> byCount =
        Map.Entry.<ServerId, Integer>comparingByValue().thenComparing(Map.Entry.comparingByKey());
    Map.Entry<ServerId, Integer> least = counts.entrySet().stream().min(byCount).orElseThrow();
    Map.Entry<ServerId, Integer> most = counts.entrySet().stream().max(byCount).orElseThrow();
    if (most.getValue() - least.getValue() >= 2) {
      served.stream()
          .filter(tablet -> tablet.assignment().isTo(most.getKey()))
          .filter(tablet -> !limits.resting().contains(tablet.id()))
          .findFirst()
          .ifPresent(tablet -> chosen.add(new Move(tablet.id(), most.getKey(), least.getKey())));
    }
  }
}
