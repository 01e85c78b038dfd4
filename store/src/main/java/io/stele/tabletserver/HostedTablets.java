package io.stele.tabletserver;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.StoredTable;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
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

/**
 * The tablets that this server serves, each under the newest version of its table's schema that the
 * server has seen. Safe for use by any number of threads.
 */
final class HostedTablets {
  private final ConcurrentNavigableMap<TabletId, HostedTablet> serving =
      new ConcurrentSkipListMap<>();

  /** Not served yet, while their records may say LOADED here already. */
  private final ConcurrentNavigableMap<TabletId, HostedTablet> coming =
      new ConcurrentSkipListMap<>();

  /** Not served any more, while their records still say LOADED here. */
  private final ConcurrentNavigableMap<TabletId, HostedTablet> leaving =
      new ConcurrentSkipListMap<>();

  /** Its monitor guards every change of which tablet has which schema, too. */
  @GuardedBy("newest")
  private final Map<TableId, StoredTable> newest = new HashMap<>();

  /** The record of {@code tablet} is about to say LOADED here; until {@link #came} is called. */
  void coming(HostedTablet tablet) {
    coming.put(tablet.id(), tablet);
  }

  /** Those that are coming. */
  Collection<HostedTablet> coming() {
    return List.copyOf(coming.values());
  }

  /** {@code tablet} is served now, or will not be. */
  void came(HostedTablet tablet) {
    coming.remove(tablet.id(), tablet);
  }

  /**
   * Serves {@code tablet} from now on, under the newest schema seen: one that came while the tablet
   * was being loaded is not missed.
   *
   * @param table its table, as it was read after the tablet was assigned
   */
  void add(HostedTablet tablet, StoredTable table) {
    synchronized (newest) {
      tablet.tablet().alter(newer(table).schema());
      serving.put(tablet.id(), tablet);
    }
  }

  /** Serves the halves of {@code parent} in its place. */
  void split(HostedTablet parent, HostedTablet lower, HostedTablet upper) {
    synchronized (newest) {
      for (HostedTablet half : List.of(lower, upper)) {
        half.tablet().alter(parent.tablet().schema());
      }
      serving.remove(parent.id(), parent);
      serving.put(lower.id(), lower);
      serving.put(upper.id(), upper);
    }
  }

  /** Puts a table's schema in force for its tablets, unless a newer one is. */
  void alter(StoredTable table) {
    synchronized (newest) {
      StoredTable now = newer(table);
      for (HostedTablet tablet : serving.values()) {
        if (tablet.id().table().equals(table.id())) {
          tablet.tablet().alter(now.schema());
        }
      }
    }
  }

  @GuardedBy("newest")
  private StoredTable newer(StoredTable table) {
    return newest.merge(
        table.id(), table, (known, read) -> read.version() > known.version() ? read : known);
  }

  /** Serves {@code tablet} no more; it is leaving until it has {@link #left}. */
  void remove(HostedTablet tablet) {
    leaving.put(tablet.id(), tablet);
    serving.remove(tablet.id(), tablet);
  }

  /** The record of {@code tablet}, which was removed, now names another server or none. */
  void left(HostedTablet tablet) {
    leaving.remove(tablet.id(), tablet);
  }

  /** Those that were removed and have not left. */
  Collection<HostedTablet> leaving() {
    return List.copyOf(leaving.values());
  }

  Optional<HostedTablet> find(TabletId tablet) {
    return Optional.ofNullable(serving.get(tablet));
  }

  /**
   * The tablet, if it is served here under that epoch.
   *
   * @throws SteleException RETRY_LATER if it is not
   */
  HostedTablet require(TabletId tablet, long epoch) {
    return find(tablet)
        .filter(hosted -> hosted.record().assignment().epoch() == epoch)
        .orElseThrow(
            () ->
                SteleException.retryLater(
                    "tablet "
                        + tablet
                        + " is not served here under epoch "
                        + epoch
                        + ": locate it again"));
  }

  /** Whether it is {@code tablet} itself that is served under its name. */
  boolean has(HostedTablet tablet) {
    return serving.get(tablet.id()) == tablet;
  }

  /** All of them at this moment, in order. */
  Collection<HostedTablet> all() {
    return List.copyOf(serving.values());
  }

  /** How many they are. */
  int count() {
    return serving.size();
  }

  /**
   * The tablet that a request names.
   *
   * @throws NotServingTabletException if it is not served here, or under another epoch
   * @throws SteleException REFUSED if the request names none
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
