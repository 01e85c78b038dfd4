package io.stele.master;

import io.stele.metadata.MergeRecords;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecord;
import io.stele.model.CorruptionException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.IoFunction;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
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

  private final Duration after;
  private Map<TabletId, Pair> pairs = new TreeMap<>(); // By the upper tablet.

  /** Two neighbours that can be merged. */
  record Pair(TabletRecord lower, TabletRecord upper, long sinceNanos) {}

  /**
   * The state before anything is known.
   *
   * @param after how long both must have been small with few requests; not zero
   */
  SmallTablets(Duration after) {
    this.after = after;
  }

  /**
   * The pair that has been small for longest, if it is due.
   *
   * @param records all tables' records, by row
   * @param tables what is known of a table
   */
  Optional<Pair> toMerge(
      Collection<TabletRecord> records,
      ServerLoads loads,
      Balancer.Cluster cluster,
      IoFunction<TableId, Optional<StoredTable>> tables,
      long nowNanos)
      throws IOException {
    Map<TabletId, Pair> now = new TreeMap<>();
    Optional<TabletRecord> before = Optional.empty();
    for (TabletRecord record : records) {
      if (before.isPresent() && mayMerge(before.get(), record, loads, cluster)) {
        Pair known = pairs.get(record.id());
        boolean same = known != null && known.lower().id().equals(before.get().id());
        long since = same ? Objects.requireNonNull(known).sinceNanos() : nowNanos;
        now.put(record.id(), new Pair(before.get(), record, since));
      }
      before = Optional.of(record);
    }
    pairs = now;
    Optional<Pair> oldest = Optional.empty();
    for (Pair pair : now.values()) {
      boolean due = nowNanos - pair.sinceNanos() >= after.toNanos();
      if (due
          && (oldest.isEmpty() || pair.sinceNanos() - oldest.get().sinceNanos() < 0)
          && suits(pair, tables)) {
        oldest = Optional.of(pair);
      }
    }
    oldest.ifPresent(pair -> pairs.remove(pair.upper().id())); // If it fails: after as long again.
    return oldest;
  }

  private static boolean mayMerge(
      TabletRecord lower, TabletRecord upper, ServerLoads loads, Balancer.Cluster cluster) {
    return lower.id().table().equals(upper.id().table())
        && !upper.extent().start().isEmpty()
        && lower.extent().end().equals(upper.extent().start())
        && lower.fileBytes() + upper.fileBytes() <= BYTES_MAX
        && isCold(lower.id(), loads)
        && isCold(upper.id(), loads)
        && !cluster.leftAlone().contains(upper.id().table())
        && !cluster.moves().containsKey(lower.id())
        && !cluster.moves().containsKey(upper.id())
        && MergeRecords.obstacle(lower, upper).isEmpty();
  }

  private static boolean isCold(TabletId id, ServerLoads loads) {
    return loads
        .tablet(id)
        .filter(tablet -> tablet.isLoaded() && tablet.isMeasured() && tablet.rate() < RATE_MAX)
        .isPresent();
  }

  private static boolean suits(Pair pair, IoFunction<TableId, Optional<StoredTable>> tables)
      throws IOException {
    Optional<StoredTable> table;
    try {
      table = tables.apply(pair.upper().id().table());
    } catch (CorruptionException e) { // A check of the cluster says so. Other tables' pairs go on.
      LOG.debug("{} is left as it is: its table's node is damaged", pair.upper(), e);
      return false;
    }
    long bytes = pair.lower().fileBytes() + pair.upper().fileBytes();
    return table
        .filter(one -> one.state() == StoredTable.State.READY)
        .filter(one -> bytes <= one.schema().splitBytes() / SPLIT_SIZE_PARTS)
        .filter(one -> !one.splitRows().contains(pair.upper().extent().start()))
        .isPresent();
  }
}
