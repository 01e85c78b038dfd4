package io.stele.client;

import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletLocation;
import io.stele.metadata.TabletRecord;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.FanOut;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import io.stele.wire.ControlPlane;
import io.stele.wire.TabletServerProtocol;
import io.stele.wire.control.ControlProtos.CompactTableRequestProto;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Has the servers of a table compact it, many at once. */
final class TableCompaction {
  private static final Duration TIMEOUT = Duration.ofHours(6);
  private static final int SERVERS_AT_ONCE = 64;

  private final ProcessRuntime runtime;
  private final ControlPlane plane;

  TableCompaction(ProcessRuntime runtime, ControlPlane plane) {
    this.runtime = runtime;
    this.plane = plane;
  }

  /**
   * Returns when all servers have compacted what they have of the table. One that fails stops no
   * other.
   *
   * @throws IOException the failure of one server, with those of others suppressed in it
   */
  void on(Map<ServerId, ServerInfo> servers, TableId table) throws IOException {
    CompactTableRequestProto request =
        CompactTableRequestProto.newBuilder().setTableId(table.value()).build();
    Queue<Exception> failures = new ConcurrentLinkedQueue<>();
    try (WorkerPool pool = runtime.pool("compact-table", SERVERS_AT_ONCE)) {
      FanOut.each(
          runtime,
          pool,
          SERVERS_AT_ONCE,
          servers.values(),
          server -> {
            try {
              plane.call(
                  server.control(),
                  TabletServerProtocol.class,
                  TIMEOUT,
                  one -> one.compactTable(null, request));
            } catch (IOException | SteleException e) {
              failures.add(e);
            }
          });
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "compacting table " + table);
    }
    Exception first = failures.poll();
    if (first == null) {
      return;
    }
    failures.forEach(first::addSuppressed);
    if (first instanceof SteleException known) {
      throw known;
    }
    throw (IOException) first;
  }

  /** The servers that have tablets of the table, of those that there are. */
  static Map<ServerId, ServerInfo> serversOf(
      List<TabletRecord> tablets, Map<ServerId, ServerInfo> there) {
    Map<ServerId, ServerInfo> servers = new TreeMap<>(there);
    Set<ServerId> having = new HashSet<>();
    tablets.forEach(tablet -> tablet.location().ifPresent(at -> having.add(at.server())));
    servers.keySet().retainAll(having);
    return servers;
  }

  /**
   * The tablets that no server had throughout, in the order of their rows: each server compacts
   * those that it has when it gets to them.
   *
   * @param asked the servers that have compacted; a record may still name another, which is dead
   */
  static List<TabletId> leftOut(
      Collection<TabletRecord> before, Collection<TabletRecord> after, Set<ServerId> asked) {
    Set<Optional<TabletLocation>> stayed = new HashSet<>();
    before.stream()
        .map(TabletRecord::location)
        .filter(location -> location.filter(at -> asked.contains(at.server())).isPresent())
        .forEach(stayed::add);
    return after.stream()
        .filter(tablet -> !stayed.contains(tablet.location()))
        .map(TabletRecord::id)
        .toList();
  }
}
