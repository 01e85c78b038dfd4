package io.stele.tabletserver;

import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.wire.NotServingTabletException;
import io.stele.wire.QueryCodec;
import io.stele.wire.data.DataProtos.TabletProto;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The tablets that this server serves. Safe for use by any number of threads. */
final class HostedTablets {
  private final ConcurrentHashMap<TabletId, HostedTablet> serving = new ConcurrentHashMap<>();

  /** Serves {@code tablet} from now on. */
  void add(HostedTablet tablet) {
    serving.put(tablet.id(), tablet);
  }

  /** Serves {@code tablet} no more. */
  void remove(HostedTablet tablet) {
    serving.remove(tablet.id(), tablet);
  }

  Optional<HostedTablet> find(TabletId tablet) {
    return Optional.ofNullable(serving.get(tablet));
  }

  /** Whether it is {@code tablet} itself that is served under its name. */
  boolean has(HostedTablet tablet) {
    return serving.get(tablet.id()) == tablet;
  }

  /** All of them at this moment. */
  Collection<HostedTablet> all() {
    return List.copyOf(serving.values());
  }

  int count() {
    return serving.size();
  }

  /**
   * The tablet that a request names.
   *
   * @throws NotServingTabletException where it is not served here, or under another epoch
   * @throws SteleException REFUSED where the request names none
   */
  HostedTablet require(TabletProto wanted) {
    TabletId id = QueryCodec.decode(wanted);
    HostedTablet hosted = serving.get(id);
    if (hosted == null
        || (wanted.hasEpoch() && wanted.getEpoch() != hosted.record().assignment().epoch())) {
      throw new NotServingTabletException(
          "tablet " + id + " is not served here: locate the row again");
    }
    return hosted;
  }
}
