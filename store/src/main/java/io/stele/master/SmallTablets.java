package io.stele.master;

import io.stele.metadata.MergeRecords;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecord;
import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.IoFunction;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides which neighbouring tablets should be merged because they are small and receive few
 * requests.
 *
 * <p>Two tablets are merged if both have been so for a long time, under their present names. A
 * split or a merge gives new names, so tablets that were split or merged lately are left alone. The
 * rows at which the table was split when it was created stay first rows of tablets.
 *
 * <p>What hinders a merge for some time only, such as a pin or a move, does not begin that time
 * anew: the pair is merged as soon as it may be.
 *
 * <p>The decision depends only on its inputs. What it remembers is lost with its master: then the
 * time starts again. For one thread.
 */
final class SmallTablets {
  private static final Logger LOG = LoggerFactory.getLogger(SmallTablets.class);

  /**
   * The most bytes that both may have together; also limited by a part of the table's split size.
   */
  private static final long BYTES_MAX = 64L << 20;

  private static final int SPLIT_SIZE_PARTS = 4;
  private static final double RATE_MAX = 1; // Requests a second, of each.
  private static final int PAIRS_MAX = 16; // Merged at once.
  private static final int TABLES_MAX = 100; // Whose nodes one look reads.

  private final Duration after;
  private Map<TabletId, Pair> pairs = new TreeMap<>(); // By the upper tablet.

  /** Two small neighbours. */
  record Pair(TabletRecord lower, TabletRecord upper, long sinceNanos) {
    private Pair beginsAt(long nowNanos) {
      return new Pair(lower, upper, nowNanos);
    }

    private Stream<ServerId> servers() {
      return Stream.of(lower, upper).flatMap(one -> one.assignment().server().stream());
    }
  }

  /** The tables of one look, each read once. */
  private static final class Tables {
    private final IoFunction<TableId, Optional<StoredTable>> found;
    private final Map<TableId, Optional<StoredTable>> read = new HashMap<>();

    Tables(IoFunction<TableId, Optional<StoredTable>> found) {
      this.found = found;
    }

    /** Whether {@link #get} may be called: there is a bound to what one look reads. */
    boolean has(TableId table) {
      return read.containsKey(table) || read.size() < TABLES_MAX;
    }

    /** Empty if the table is gone, or cannot be decoded. */
    Optional<StoredTable> get(TableId id) throws IOException {
      Optional<StoredTable> known = read.get(id);
      if (known == null) {
        known = load(id);
        read.put(id, known);
      }
      return known;
    }

    private Optional<StoredTable> load(TableId id) throws IOException {
      try {
        return found.apply(id);
      } catch (CorruptionException
          | NewerFormatException e) { // A check of the cluster says so. Other tables go on.
        LOG.debug("The tablets of {} are left as they are: its node cannot be read", id, e);
        return Optional.empty();
      }
    }
  }

  /**
   * The state before anything is known.
   *
   * @param after how long both must have been small with few requests; not zero
   */
  SmallTablets(Duration after) {
    this.after = after;
  }

  /**
   * The pairs to merge now: of those that are due, the ones that have been small for longest. No
   * server has tablets of two of them.
   *
   * @param records all tables' records, by row
   * @param tables what is known of a table
   */
  List<Pair> toMerge(
      Collection<TabletRecord> records,
      ServerLoads loads,
      Balancer.Cluster cluster,
      IoFunction<TableId, Optional<StoredTable>> tables,
      long nowNanos)
      throws IOException {
    update(records, loads, nowNanos);
    int room = room(loads, cluster);
    List<Pair> chosen = new ArrayList<>();
    Set<ServerId> busy = new HashSet<>();
    Tables known = new Tables(tables);
    for (Pair pair : due(nowNanos)) {
      if (chosen.size() >= room) {
        break;
      }
      if (!mayMerge(pair, loads, cluster)
          || pair.servers().anyMatch(busy::contains)
          || !known.has(pair.upper().id().table())) {
        continue;
      }
      if (suits(pair, known.get(pair.upper().id().table()))) {
        pair.servers().forEach(busy::add);
        chosen.add(pair);
      }
      // If it fails, or does not suit: after as long again.
      pairs.put(pair.upper().id(), pair.beginsAt(nowNanos));
    }
    return chosen;
  }

  private void update(Collection<TabletRecord> records, ServerLoads loads, long nowNanos) {
    Map<TabletId, Pair> now = new TreeMap<>();
    Optional<TabletRecord> before = Optional.empty();
    for (TabletRecord upper : records) {
      if (before.isPresent() && areSmall(before.get(), upper)) {
        TabletRecord lower = before.get();
        Pair known = pairs.get(upper.id());
        if (known == null || !known.lower().id().equals(lower.id())) {
          if (isCold(lower.id(), loads) && isCold(upper.id(), loads)) {
            now.put(upper.id(), new Pair(lower, upper, nowNanos));
          }
        } else if (!isWarm(lower.id(), loads) && !isWarm(upper.id(), loads)) {
          now.put(upper.id(), new Pair(lower, upper, known.sinceNanos()));
        }
      }
      before = Optional.of(upper);
    }
    pairs = now;
  }

  /** How many pairs may be merged now: no more tablets are away at once than for moves. */
  private static int room(ServerLoads loads, Balancer.Cluster cluster) {
    Balancer.Limits limits =
        Balancer.Limits.of(loads, cluster.servers().size(), BalanceSchedule.SLACK, Set.of());
    int tablets = limits.movesMax() - cluster.away() - cluster.moves().size();
    return Math.min(PAIRS_MAX, tablets / 2);
  }

  /** The pairs that have been small for long enough, the longest first. */
  private List<Pair> due(long nowNanos) {
    return pairs.values().stream()
        .filter(pair -> nowNanos - pair.sinceNanos() >= after.toNanos())
        .sorted(Comparator.comparingLong(pair -> pair.sinceNanos() - nowNanos))
        .toList();
  }

  private static boolean areSmall(TabletRecord lower, TabletRecord upper) {
    return lower.id().table().equals(upper.id().table())
        && !upper.extent().start().isEmpty()
        && lower.extent().end().equals(upper.extent().start())
        && lower.fileBytes() + upper.fileBytes() <= BYTES_MAX;
  }

  /** Whether nothing hinders it now. */
  private static boolean mayMerge(Pair pair, ServerLoads loads, Balancer.Cluster cluster) {
    TabletId lower = pair.lower().id();
    TabletId upper = pair.upper().id();
    return isCold(lower, loads)
        && isCold(upper, loads)
        && !cluster.leftAlone().contains(upper.table())
        && !cluster.moves().containsKey(lower)
        && !cluster.moves().containsKey(upper)
        && MergeRecords.obstacle(pair.lower(), pair.upper()).isEmpty();
  }

  /** Whether it is served and is known to receive few requests. */
  private static boolean isCold(TabletId id, ServerLoads loads) {
    return loads
        .tablet(id)
        .filter(tablet -> tablet.isLoaded() && tablet.isMeasured() && tablet.rate() < RATE_MAX)
        .isPresent();
  }

  /** Whether it is known to receive more. */
  private static boolean isWarm(TabletId id, ServerLoads loads) {
    return loads.tablet(id).filter(tablet -> tablet.rate() >= RATE_MAX).isPresent();
  }

  private static boolean suits(Pair pair, Optional<StoredTable> table) {
    long bytes = pair.lower().fileBytes() + pair.upper().fileBytes();
    return table
        .filter(one -> one.state() == StoredTable.State.READY)
        .filter(one -> bytes <= one.schema().splitBytes() / SPLIT_SIZE_PARTS)
        .filter(one -> !one.splitRows().contains(pair.upper().extent().start()))
        .isPresent();
  }
}
