package io.stele.tabletserver;

import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.wire.NotServingTabletException;
import io.stele.wire.QueryCodec;
import io.stele.wire.data.DataProtos.TabletProto;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The tablets that this server serves. Safe for use by any number of threads. */
final class HostedTablets {
  /** Held from the reading of a schema until all tablets have it. */
  private final Object schemas = new Object();

  private final ConcurrentHashMap<TabletId, HostedTablet> serving = new ConcurrentHashMap<>();

  /** Reads a table's schema of now. */
  interface SchemaSource {
    TableSchema read() throws IOException;
  }

  /**
   * Serves {@code tablet} from now on, under the schema that is then in force: one put in force
   * while it was being loaded is not missed.
   */
  void add(HostedTablet tablet, SchemaSource schema) throws IOException {
    synchronized (schemas) {
      tablet.tablet().alter(schema.read());
      serving.put(tablet.id(), tablet);
    }
  }

  /** Serves the halves of {@code parent} in its place. */
  void split(HostedTablet parent, HostedTablet lower, HostedTablet upper) {
    synchronized (schemas) {
      for (HostedTablet half : List.of(lower, upper)) {
        half.tablet().alter(parent.tablet().schema());
      }
      serving.remove(parent.id(), parent);
      serving.put(lower.id(), lower);
      serving.put(upper.id(), upper);
    }
  }

  /** Puts a table's schema of now in force. */
  void alter(TableId table, SchemaSource schema) throws IOException {
    synchronized (schemas) { // The later one read is the later one put in force.
      TableSchema now = schema.read();
      for (HostedTablet tablet : serving.values()) {
        if (tablet.id().table().equals(table)) {
          tablet.tablet().alter(now);
        }
      }
    }
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
