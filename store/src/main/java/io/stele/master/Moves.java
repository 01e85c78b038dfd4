package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.Assignment;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.runtime.ProcessRuntime;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The tablets that will move to other servers.
 *
 * <p>A wish lives in the memory of one master and is only a hint: the tablet's record alone says
 * who may serve it. If a wish is lost with its master, the tablet stays where it is, or, if it was
 * already unloaded, goes to any server. It ends when the tablet is assigned again, when its target
 * takes no tablets any more, and after a while in any case.
 *
 * <p>Safe for use by any number of threads; never waits.
 */
final class Moves {
  /** A move that is not done by then is given up: its server cannot unload the tablet. */
  private static final Duration WISH_MAX = Duration.ofSeconds(30);

  private static final int WISHES_MAX = 10_000;

  private final ProcessRuntime runtime;

  @GuardedBy("this")
  private final Map<TabletId, Wish> wishes = new TreeMap<>();

  /**
   * A wish.
   *
   * @param epoch of the assignment that the move ends
   * @param from the server that has the tablet
   * @param to the target; empty: any other server
   */
  private record Wish(long epoch, ServerId from, Optional<ServerId> to, long endNanos) {}

  Moves(ProcessRuntime runtime) {
    this.runtime = runtime;
  }

  /**
   * Requests the move of a LOADED tablet; repeating a request changes nothing.
   *
   * @throws SteleException RETRY_LATER if too many tablets are moving
   */
  synchronized void ask(TabletRecord tablet, Optional<ServerId> to) {
    Wish before = wishes.get(tablet.id());
    long epoch = tablet.assignment().epoch();
    if (before != null && before.epoch() == epoch && before.to().equals(to)) {
      return;
    }
    if (before == null && wishes.size() >= WISHES_MAX) {
      throw SteleException.retryLater(WISHES_MAX + " tablets are being moved: try again later");
    }
    ServerId from = tablet.assignment().server().orElseThrow();
    wishes.put(tablet.id(), new Wish(epoch, from, to, runtime.nanoTime() + WISH_MAX.toNanos()));
  }

  /** The tablets that will move to other servers. */
  synchronized Set<TabletId> tablets() {
    return Set.copyOf(wishes.keySet());
  }

  /** How many tablets are moving. */
  synchronized int count() {
    return wishes.size();
  }

  /** Removes the wishes that are over according to the {@code known} records; returns the rest. */
  synchronized Map<TabletId, ClusterSnapshot.Move> current(
      Map<TabletId, TabletRecord> known, Map<ServerId, ServerInfo> live) {
    wishes.entrySet().removeIf(wish -> isOver(wish.getValue(), known.get(wish.getKey()), live));
    Map<TabletId, ClusterSnapshot.Move> current = new TreeMap<>();
    wishes.forEach(
        (tablet, wish) -> current.put(tablet, new ClusterSnapshot.Move(wish.from(), wish.to())));
    return current;
  }

  private boolean isOver(Wish wish, @Nullable TabletRecord record, Map<ServerId, ServerInfo> live) {
    return record == null
        || record.assignment().epoch() != wish.epoch()
        || record.assignment().state() == Assignment.State.ASSIGNED
        || runtime.nanoTime() - wish.endNanos() >= 0
        || wish.to().filter(to -> !live.containsKey(to) || live.get(to).draining()).isPresent();
  }
}
