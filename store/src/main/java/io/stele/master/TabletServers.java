package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.model.ServerId;
import io.stele.model.TabletId;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import io.stele.wire.Address;
import io.stele.wire.ByteStrings;
import io.stele.wire.ControlPlane;
import io.stele.wire.TabletServerProtocol;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.LoadTabletRequestProto;
import io.stele.wire.control.ControlProtos.RefreshSchemaRequestProto;
import io.stele.wire.control.ControlProtos.ServerReportResponseProto;
import io.stele.wire.control.ControlProtos.TabletRefProto;
import io.stele.wire.control.ControlProtos.UnloadTabletRequestProto;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The master's requests to tablet servers. What they do shows in the tablets' records, so a request
 * that is lost is simply made again.
 *
 * <p>There is at most one request under way for a tablet, and a few for a server, so that a server
 * that hangs does not keep all threads. Safe for use by any number of threads.
 */
final class TabletServers implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TabletServers.class);
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final int CALLERS_MAX = 32;
  private static final int CALLERS_PER_SERVER_MAX = 2;

  private final ControlPlane plane;
  private final WorkerPool callers;

  @GuardedBy("this")
  private final Map<Address, Queue> queues = new HashMap<>();

  @GuardedBy("this")
  private final Set<TabletId> underWay = new HashSet<>();

  /** Requests to one server that wait for a caller, and how many callers it has. */
  private static final class Queue {
    final ArrayDeque<Request> waiting = new ArrayDeque<>();
    int callers;
  }

  /** A request whose answer nobody waits for. */
  private record Request(
      TabletId tablet, String what, ControlPlane.Call<TabletServerProtocol, ?> call) {}

  TabletServers(ProcessRuntime runtime, ControlPlane plane) {
    this.plane = plane;
    this.callers = runtime.pool("master-caller", CALLERS_MAX);
  }

  /** Asks for {@code record}'s tablet to be loaded, unless a request for it is still under way. */
  void load(ServerId server, ServerInfo info, TabletRecord record) {
    LoadTabletRequestProto request =
        LoadTabletRequestProto.newBuilder().setTablet(ref(record)).build();
    later(
        info,
        new Request(
            record.id(),
            "load " + record.id() + " at " + server,
            p -> p.loadTablet(null, request)));
  }

  /**
   * Asks for {@code record}'s tablet to be given up and its data to be thrown away, unless a
   * request for it is still under way.
   */
  void discard(ServerId server, ServerInfo info, TabletRecord record) {
    UnloadTabletRequestProto request =
        UnloadTabletRequestProto.newBuilder().setTablet(ref(record)).setDiscard(true).build();
    later(
        info,
        new Request(
            record.id(),
            "discard " + record.id() + " at " + server,
            p -> p.unloadTablet(null, request)));
  }

  /** Tells the server that a table's schema changed. */
  void refreshSchema(ServerInfo info, String table) throws IOException {
    RefreshSchemaRequestProto request =
        RefreshSchemaRequestProto.newBuilder().setName(table).build();
    call(info.control(), p -> p.refreshSchema(null, request));
  }

  /** What the server says of itself. */
  ServerReportResponseProto report(ServerInfo info) throws IOException {
    return call(info.control(), p -> p.report(null, EmptyProto.getDefaultInstance()));
  }

  static TabletRefProto ref(TabletRecord record) {
    return TabletRefProto.newBuilder()
        .setTableId(record.id().table().value())
        .setTablet(record.id().name())
        .setEpoch(record.assignment().epoch())
        .setMetadataRow(ByteStrings.of(record.row()))
        .build();
  }

  private void later(ServerInfo info, Request request) {
    Address server = info.control();
    synchronized (this) {
      if (!underWay.add(request.tablet())) {
        return;
      }
      Queue queue = queues.computeIfAbsent(server, address -> new Queue());
      queue.waiting.add(request);
      if (queue.callers == CALLERS_PER_SERVER_MAX) {
        return;
      }
      queue.callers++;
    }
    goOn(server);
  }

  private void callNext(Address server) {
    next(server).ifPresent(next -> call(server, next));
  }

  private void call(Address server, Request next) {
    try {
      call(server, next.call());
    } catch (IOException | RuntimeException e) {
      LOG.info("Asked to {}: {}", next.what(), e.toString());
    } finally {
      synchronized (this) {
        underWay.remove(next.tablet());
      }
      goOn(server); // At the end of the queue, so that all servers have their turn.
    }
  }

  private void goOn(Address server) {
    try {
      callers.execute(() -> callNext(server));
    } catch (RejectedExecutionException e) {
      LOG.debug("The master ends", e);
    }
  }

  /** The next request to {@code server}; empty where there is none, and the caller is done. */
  private synchronized Optional<Request> next(Address server) {
    Queue queue = Objects.requireNonNull(queues.get(server)); // It stays while it has callers.
    Optional<Request> next = Optional.ofNullable(queue.waiting.poll());
    if (next.isEmpty() && --queue.callers == 0) {
      queues.remove(server);
    }
    return next;
  }

  private <R> R call(Address server, ControlPlane.Call<TabletServerProtocol, R> call)
      throws IOException {
    return plane.call(server, TabletServerProtocol.class, TIMEOUT, call);
  }

  /** Forgets the connections to servers that are gone, and what was to be asked of them. */
  void retain(Set<Address> addresses) {
    synchronized (this) {
      queues.forEach(
          (server, queue) -> {
            if (!addresses.contains(server)) {
              queue.waiting.forEach(request -> underWay.remove(request.tablet()));
              queue.waiting.clear();
            }
          });
    }
    plane.retain(addresses);
  }

  @Override
  public void close() {
    callers.close();
  }
}
