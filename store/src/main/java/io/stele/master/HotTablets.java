package io.stele.master;

import io.stele.model.TabletId;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Decides which tablets should be split because they get so many requests that any server with one
 * of them would have more to do than others. After the split, each half can go to its own server.
 *
 * <p>A tablet is split if it has been that hot for a while, and is large enough to be worth
 * halving. Its halves are new tablets, which must be hot for as long before they are split.
 *
 * <p>It depends only on its inputs. For one thread.
 */
final class HotTablets {
  /** A fraction of an average server's requests: a tablet with fewer can be evened out by moves. */
  private static final double SHARE = 0.5;

  private static final Duration HOT_FOR = Duration.ofSeconds(60);
  private static final int AT_ONCE = 4;

  private final long bytesMin;
  private final Map<TabletId, Long> sinceNanos = new TreeMap<>();

  /**
   * The state before anything is known.
   *
   * @param bytesMin tablets with fewer bytes are not split
   */
  HotTablets(long bytesMin) {
    this.bytesMin = bytesMin;
  }

  /** The tablets to split now, the hottest first. Call it every few seconds. */
  List<TabletId> toSplit(ServerLoads loads, Balancer.Cluster cluster, long nowNanos) {
    if (cluster.servers().size() < 2) {
      sinceNanos.clear();
      return List.of();
    }
    double rateMin = SHARE * loads.all().rate() / cluster.servers().size();
    List<ServerLoads.Tablet> hot =
        loads.busy().stream()
            .flatMap(id -> loads.tablet(id).stream())
            .filter(tablet -> tablet.rate() >= rateMin && tablet.bytes() >= bytesMin)
            .filter(tablet -> !cluster.leftAlone().contains(tablet.id().table()))
            .toList();
    Set<TabletId> ids = hot.stream().map(ServerLoads.Tablet::id).collect(Collectors.toSet());
    sinceNanos.keySet().retainAll(ids);
    ids.forEach(id -> sinceNanos.putIfAbsent(id, nowNanos));
    List<TabletId> due =
        hot.stream()
            .filter(tablet -> tablet.isLoaded() && !cluster.moves().containsKey(tablet.id()))
            .sorted(
                Comparator.comparingDouble((ServerLoads.Tablet tablet) -> -tablet.rate())
                    .thenComparing(ServerLoads.Tablet::id))
            .map(ServerLoads.Tablet::id)
            .filter(id -> nowNanos - sinceNanos.getOrDefault(id, nowNanos) >= HOT_FOR.toNanos())
            .limit(AT_ONCE)
            .toList();
    due.forEach(sinceNanos::remove); // Where it cannot be split, it is tried again after as long.
    return due;
  }
}
