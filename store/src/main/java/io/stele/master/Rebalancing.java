package io.stele.master;

import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.model.TabletId;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves tablets to balance the servers ({@link BalanceSchedule}), splits hot tablets and merges
 * small ones ({@link Reshaping}). It does nothing until it was configured.
 *
 * <p>Any thread may configure it; the other methods are for the single thread of the master's loop.
 */
final class Rebalancing {
  private static final Logger LOG = LoggerFactory.getLogger(Rebalancing.class);

  private final Moves moves;
  private final Merges merges;
  private final TabletServers requests;
  private volatile Optional<BalanceSchedule> balance = Optional.empty();
  private volatile Optional<Reshaping> reshaping = Optional.empty();

  Rebalancing(Moves moves, Merges merges, TabletServers requests) {
    this.moves = moves;
    this.merges = merges;
    this.requests = requests;
  }

  /** Has tablets balanced from now on, as {@code how} says. */
  void balanceBy(BalanceSchedule how) {
    balance = Optional.of(how);
  }

  /** Has hot tablets split and small ones merged from now on, as {@code how} says. */
  void reshapeBy(Reshaping how) {
    reshaping = Optional.of(how);
  }

  /** Leaves tablets alone for a while that were just assigned to servers. For each step. */
  void rest(Collection<TabletRecord> assigned) {
    balance.ifPresent(how -> how.rest(assigned.stream().map(TabletRecord::id).toList()));
  }

  /**
   * Begins the work that is due.
   *
   * @param busy whether tablets change servers for other reasons: none is split or merged then
   * @param cluster what decisions depend on, beside the records; computed only when a decision is
   *     due
   * @return whether something was begun that will soon change records
   */
  boolean advance(
      KnownRecords known, MasterLoop.View view, boolean busy, Supplier<Balancer.Cluster> cluster) {
    boolean moved = balance.isPresent() && balance(balance.get(), known, cluster);
    return moved
        || (!busy && reshaping.isPresent() && reshape(reshaping.get(), known, view, cluster));
  }

  /** Begins moves that even out what servers have; returns whether it did. */
  private boolean balance(
      BalanceSchedule how, KnownRecords known, Supplier<Balancer.Cluster> cluster) {
    try {
      List<Balancer.Move> begun = how.decide(known.loads(), cluster);
      for (Balancer.Move move : begun) {
        LOG.info("Moving {} from {} to {}, to balance", move.tablet(), move.from(), move.to());
        moves.ask(Objects.requireNonNull(known.byId().get(move.tablet())), Optional.of(move.to()));
      }
      return !begun.isEmpty();
    } catch (IOException e) {
      LOG.warn("Cannot balance now; will retry: {}", e.toString());
      return false;
    }
  }

  /** Has hot tablets split and small ones merged; returns whether it begins to. */
  private boolean reshape(
      Reshaping how, KnownRecords known, MasterLoop.View view, Supplier<Balancer.Cluster> cluster) {
    try {
      Reshaping.Wishes wishes = how.decide(known, merges.isInProgress(), cluster);
      for (TabletId tablet : wishes.split()) {
        TabletRecord record = Objects.requireNonNull(known.byId().get(tablet));
        Optional<ServerInfo> server = record.assignment().server().map(id -> view.live().get(id));
        if (server.isPresent()) {
          LOG.info("Splitting {}: it gets more requests than one server can take", record);
          requests.split(server.get(), record);
        }
      }
      for (SmallTablets.Pair pair : wishes.merge()) {
        LOG.info("Merging {} and {}: they are small", pair.lower(), pair.upper());
        merges.ask(pair.lower(), pair.upper(), Merges.NOBODY);
      }
      return !wishes.merge().isEmpty();
    } catch (IOException e) {
      LOG.warn("Cannot look for hot and small tablets now; will retry: {}", e.toString());
      return false;
    }
  }
}
