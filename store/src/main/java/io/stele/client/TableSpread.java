package io.stele.client;

import io.stele.metadata.TabletLocation;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Asks for moves after which all servers have as many tablets of one table, give or take one. They
 * do not wait for the balancer, which moves few tablets at a time because those of a table in use
 * are missed meanwhile.
 *
 * <p>A table that is spread already is left alone, so it does no harm to ask again, or twice at
 * once.
 */
final class TableSpread {
  /** A tablet, and where it is; those that are not served now are left to the master. */
  record Place(TabletId tablet, Optional<TabletLocation> at) {}

  /** One move. */
  record Move(TabletLocation from, ServerId to) {}

  private TableSpread() {}

  /**
   * Begins the moves, unless an operator has turned balancing off.
   *
   * @return how many moves were asked for
   */
  static int begin(Admin admin, TableId table) throws IOException {
    if (!admin.isBalanced()) {
      return 0;
    }
    ClusterCalls calls = admin.calls();
    ClusterChangeRequests changes = new ClusterChangeRequests(calls);
    List<Place> tablets =
        calls.connection().records().readAll(table).stream()
            .map(record -> new Place(record.id(), record.location()))
            .toList();
    List<Move> moves = moves(tablets, admin.clusterStatus().servers());
    for (Move move : moves) {
      changes.move(move.from(), move.to()).begun();
    }
    return moves.size();
  }

  /** A server and how many tablets it will have. */
  private record Share(int ofTable, int inAll, ServerId server) {
    static final Comparator<Share> FEWEST_FIRST =
        Comparator.comparingInt(Share::ofTable)
            .thenComparingInt(Share::inAll)
            .thenComparing(Share::server);
  }

  /**
   * The moves from servers with more than their share of a table to those with the fewest tablets
   * of it.
   *
   * @param tablets of the table, in the order of their rows
   */
  static List<Move> moves(List<Place> tablets, Collection<ClusterStatus.Server> servers) {
    Map<ServerId, Integer> had = new HashMap<>();
    for (Place tablet : tablets) {
      tablet.at().ifPresent(at -> had.merge(at.server(), 1, Integer::sum));
    }
    TreeSet<Share> shares = new TreeSet<>(Share.FEWEST_FIRST);
    for (ClusterStatus.Server server : servers) {
      if (!server.draining()) {
        shares.add(new Share(had.getOrDefault(server.id(), 0), server.tablets(), server.id()));
      }
    }
    List<Move> moves = new ArrayList<>();
    if (shares.isEmpty()) {
      return moves;
    }
    int share = (tablets.size() + shares.size() - 1) / shares.size();
    Map<ServerId, Integer> stay = new HashMap<>();
    for (Place tablet : tablets) {
      if (tablet.at().isPresent()
          && stay.merge(tablet.at().get().server(), 1, Integer::sum) > share
          && shares.first().ofTable() < share) {
        Share to = shares.first();
        shares.remove(to);
        shares.add(new Share(to.ofTable() + 1, to.inAll() + 1, to.server()));
        moves.add(new Move(tablet.at().get(), to.server()));
      }
    }
    return moves;
  }
}
