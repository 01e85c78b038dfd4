package io.stele.tabletserver;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.StoredTable;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.NotServingTabletException;
import io.stele.wire.QueryCodec;
import io.stele.wire.data.DataProtos.TabletProto;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.locks.Lock;

/**
 * The tablets that this server serves, each under the newest version of its table's schema that the
 * server has seen. Safe for use by any number of threads.
 */
final class HostedTablets {
  private final ConcurrentNavigableMap<TabletId, HostedTablet> serving =
      new ConcurrentSkipListMap<>();

  /** Tablets that are not served yet, though their records may already say LOADED here. */
  private final ConcurrentNavigableMap<TabletId, HostedTablet> coming =
      new ConcurrentSkipListMap<>();

  /** Tablets that are no longer served, though their records still say LOADED here. */
  private final ConcurrentNavigableMap<TabletId, HostedTablet> leaving =
      new ConcurrentSkipListMap<>();

  /** Also guards every change of a tablet's schema, and of what is served by splits. */
  private final Lock lock;

  /** How many tablets of a table are being loaded: those may have read an older schema. */
  @GuardedBy("lock")
  private final Map<TableId, Integer> loading = new HashMap<>();

  /** The newest schemas seen, of tables with tablets that are served or being loaded. */
  @GuardedBy("lock")
  private final Map<TableId, StoredTable> newest = new HashMap<>();

  HostedTablets(ProcessRuntime runtime) {
    this.lock = runtime.newLock();
  }

  /**
   * A tablet of {@code table} is about to be loaded: what changes from now on in the schema counts
   * for it, too. Call it before the schema is read, and {@link #loadingEnded} at the end.
   */
  void loading(TableId table) {
    lock.lock();
    try {
      loading.merge(table, 1, Integer::sum);
    } finally {
      lock.unlock();
    }
  }

  /** A tablet for which {@link #loading} was called is served, or will not be. */
  void loadingEnded(TableId table) {
    lock.lock();
    try {
      loading.computeIfPresent(table, (id, count) -> count == 1 ? null : count - 1);
      forgetUnused(table);
    } finally {
      lock.unlock();
    }
  }

  /**
   * The record of {@code tablet} will soon say LOADED here; lasts until {@link #noLongerComing} is
   * called.
   */
  void coming(HostedTablet tablet) {
    coming.put(tablet.id(), tablet);
  }

  /**
   * The tablets for which {@link #coming(HostedTablet)} was called and {@link #noLongerComing} was
   * not.
   */
  Collection<HostedTablet> coming() {
    return List.copyOf(coming.values());
  }

  /** {@code tablet} is served now, or will not be. */
  void noLongerComing(HostedTablet tablet) {
    coming.remove(tablet.id(), tablet);
  }

  /**
   * Serves {@code tablet} from now on, under the newest schema seen, even if that arrived while the
   * tablet was being loaded.
   *
   * @param table its table, as it was read after the tablet was assigned
   */
  void add(HostedTablet tablet, StoredTable table) {
    lock.lock();
    try {
      alter(tablet, newer(table));
      serving.put(tablet.id(), tablet);
    } finally {
      lock.unlock();
    }
  }

  /** Serves the halves of {@code parent} in its place. */
  void split(HostedTablet parent, HostedTablet lower, HostedTablet upper) {
    lock.lock();
    try {
      for (HostedTablet half : List.of(lower, upper)) {
        half.tablet().alter(parent.tablet().schema(), parent.tablet().lowered());
      }
      serving.remove(parent.id(), parent);
      serving.put(lower.id(), lower);
      serving.put(upper.id(), upper);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Applies a table's schema to its tablets, those that are being loaded too, unless they have a
   * newer one.
   */
  void alter(StoredTable table) {
    lock.lock();
    try {
      if (!isUsed(table.id())) {
        return;
      }
      StoredTable now = newer(table);
      for (HostedTablet tablet : serving.values()) {
        if (tablet.id().table().equals(table.id())) {
          alter(tablet, now);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Checks that an alteration is complete: that no tablet of {@code table} is about to lose what
   * can be read under the new schema ({@link io.stele.tablet.Tablet#mayCommitLoss}).
   *
   * @throws SteleException RETRY_LATER if one is
   */
  void checkAltered(TableId table) {
    for (HostedTablet tablet : serving.values()) {
      if (tablet.id().table().equals(table) && tablet.tablet().mayCommitLoss()) {
        throw SteleException.retryLater(
            "tablet "
                + tablet.id()
                + " is committing a compaction under the previous schema: ask again");
      }
    }
  }

  private static void alter(HostedTablet tablet, StoredTable now) {
    tablet.tablet().alter(now.schema(), now.lowered());
  }

  @GuardedBy("lock")
  private boolean isUsed(TableId table) {
    TabletId first = serving.ceilingKey(TabletId.least(table));
    return loading.containsKey(table) || (first != null && first.table().equals(table));
  }

  @GuardedBy("lock")
  private void forgetUnused(TableId table) {
    if (!isUsed(table)) {
      newest.remove(table);
    }
  }

  @GuardedBy("lock")
  private StoredTable newer(StoredTable table) {
    return newest.merge(
        table.id(), table, (known, read) -> read.version() > known.version() ? read : known);
  }

  /** Stops serving {@code tablet}; it is leaving until {@link #left} is called. */
  void remove(HostedTablet tablet) {
    leaving.put(tablet.id(), tablet);
    lock.lock();
    try {
      serving.remove(tablet.id(), tablet);
      forgetUnused(tablet.id().table());
    } finally {
      lock.unlock();
    }
  }

  /** The record of {@code tablet}, which was removed, now names another server or none. */
  void left(HostedTablet tablet) {
    leaving.remove(tablet.id(), tablet);
  }

  /** The tablets that were removed and have not left. */
  Collection<HostedTablet> leaving() {
    return List.copyOf(leaving.values());
  }

  Optional<HostedTablet> find(TabletId tablet) {
    return Optional.ofNullable(serving.get(tablet));
  }

  /** The tablet, if it is served here under that epoch. */
  Optional<HostedTablet> find(TabletId tablet, long epoch) {
    return find(tablet).filter(hosted -> hosted.record().assignment().epoch() == epoch);
  }

  /**
   * The tablet, if it is served here under that epoch.
   *
   * @throws SteleException RETRY_LATER if it is not
   */
  HostedTablet require(TabletId tablet, long epoch) {
    return find(tablet, epoch)
        .orElseThrow(
            () ->
                SteleException.retryLater(
                    "tablet "
                        + tablet
                        + " is not served here under epoch "
                        + epoch
                        + ": locate it again"));
  }

  /** Whether exactly {@code tablet} is served under its name. */
  boolean has(HostedTablet tablet) {
    return serving.get(tablet.id()) == tablet;
  }

  /** All served tablets at this moment, in order: of a split the parent, or both halves. */
  Collection<HostedTablet> all() {
    lock.lock();
    try {
      return List.copyOf(serving.values());
    } finally {
      lock.unlock();
    }
  }

  /** The number of schemas that are remembered; for tests. */
  int schemasKnown() {
    lock.lock();
    try {
      return newest.size();
    } finally {
      lock.unlock();
    }
  }

  /** The number of served tablets. */
  int count() {
    lock.lock();
    try {
      return serving.size();
    } finally {
      lock.unlock();
    }
  }

  /**
   * The tablet that a request names.
   *
   * @throws NotServingTabletException if it is not served here, or under another epoch
   * @throws SteleException REFUSED if the request names no tablet
   */
  HostedTablet require(TabletProto wanted) {
    TabletId id = QueryCodec.decode(wanted);
    HostedTablet hosted = serving.get(id);
    if (hosted == null
        || (wanted.hasEpoch() && wanted.getEpoch() != hosted.record().assignment().epoch())) {
      throw new NotServingTabletException(
          "tablet " + id + " is not served here: locate the row again");
    }
    hosted.countRequest();
    return hosted;
  }
}
