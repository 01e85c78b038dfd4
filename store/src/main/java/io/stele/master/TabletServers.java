package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.runtime.IoConsumer;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import io.stele.wire.Address;
import io.stele.wire.ByteStrings;
import io.stele.wire.ControlPlane;
import io.stele.wire.TabletRefs;
import io.stele.wire.TabletServerProtocol;
import io.stele.wire.control.ControlProtos.ClearTabletRequestProto;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.EraseFamiliesRequestProto;
import io.stele.wire.control.ControlProtos.LoadTabletsRequestProto;
import io.stele.wire.control.ControlProtos.RefreshSchemaRequestProto;
import io.stele.wire.control.ControlProtos.ServerReportResponseProto;
import io.stele.wire.control.ControlProtos.SortSegmentsRequestProto;
import io.stele.wire.control.ControlProtos.SplitTabletRequestProto;
import io.stele.wire.control.ControlProtos.TabletRefProto;
import io.stele.wire.control.ControlProtos.UnloadTabletsRequestProto;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The master's requests to tablet servers. Nothing waits for them: their effect shows in the
 * tablets' records, or is passed to a callback, so a lost request is simply made again.
 *
 * <p>Each server has one queue and at most one call in progress, which takes all tablets that are
 * to be loaded, unloaded or discarded, together. A server that did not answer is not called for a
 * short time, which grows, so that servers that hang do not occupy all threads; one that refused a
 * request did answer. Safe for use by any number of threads.
 */
final class TabletServers implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TabletServers.class);
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final Duration REST_FIRST = Duration.ofSeconds(1);
  private static final int REST_DOUBLINGS_MAX = 2;
  private static final int CALLERS_MAX = 64;
  private static final String REPORT = "report";
  private static final int TABLETS_PER_CALL_MAX = 500;

  private final ProcessRuntime runtime;
  private final ControlPlane plane;
  private final WorkerPool callers;

  @GuardedBy("this")
  private final Map<Address, Queue> queues = new HashMap<>();

  @GuardedBy("this")
  private final Map<Address, Failures> failures = new HashMap<>();

  /**
   * The calls to a server that failed since the last that did not.
   *
   * @param count how many
   * @param report whether the last of them asked for a report
   */
  private record Failures(int count, boolean report) {
    static final Failures NONE = new Failures(0, false);
  }

  /** The pending requests for a server; exists while there are any, or a call is in progress. */
  private static final class Queue {
    final Map<TabletId, TabletRefProto> loads = new LinkedHashMap<>();
    final Map<TabletId, TabletRefProto> unloads = new LinkedHashMap<>();
    final Map<TabletId, TabletRefProto> discards = new LinkedHashMap<>();
    final Map<String, IoConsumer<Address>> others = new LinkedHashMap<>();
    Map<TabletId, TabletRefProto> inProgress = Map.of();
    Optional<String> otherInProgress = Optional.empty();

    boolean isEmpty() {
      return loads.isEmpty() && unloads.isEmpty() && discards.isEmpty() && others.isEmpty();
    }

    void clear() {
      loads.clear();
      unloads.clear();
      discards.clear();
      others.clear();
    }
  }

  TabletServers(ProcessRuntime runtime, ControlPlane plane) {
    this.runtime = runtime;
    this.plane = plane;
    this.callers = runtime.pool("master-caller", CALLERS_MAX);
  }

  /**
   * Asks for {@code record}'s tablet to be loaded, unless that request is still in progress. One
   * under an earlier epoch is of no use any more.
   */
  void load(ServerInfo info, TabletRecord record) {
    later(
        info,
        queue -> {
          TabletRefProto tablet = ref(record);
          if (!tablet.equals(queue.inProgress.get(record.id()))) {
            queue.loads.put(record.id(), tablet);
          }
        });
  }

  /**
   * Asks for {@code record}'s tablet to be unloaded, unless a request for it is still in progress.
   */
  void unload(ServerInfo info, TabletRecord record) {
    later(
        info,
        queue -> {
          if (!queue.inProgress.containsKey(record.id())) {
            queue.unloads.putIfAbsent(record.id(), ref(record));
          }
        });
  }

  /**
   * Asks for {@code record}'s tablet to be unloaded and its data to be discarded, unless a request
   * for it is still in progress.
   */
  void discard(ServerInfo info, TabletRecord record) {
    later(
        info,
        queue -> {
          if (!queue.inProgress.containsKey(record.id())) {
            queue.discards.putIfAbsent(record.id(), ref(record));
          }
        });
  }

  /**
   * Asks for {@code record}'s tablet to be split in half, unless a request is still in progress.
   */
  void split(ServerInfo info, TabletRecord record) {
    SplitTabletRequestProto request =
        SplitTabletRequestProto.newBuilder().setTablet(ref(record)).build();
    other(
        info,
        "split " + record.id(),
        server -> call(server, plane -> plane.splitTablet(null, request)));
  }

  /**
   * Tells the server that a table's schema changed, unless a request is still in progress.
   *
   * @param told called when the server has read the new schema
   */
  void refreshSchema(ServerInfo info, String table, Runnable told) {
    RefreshSchemaRequestProto request =
        RefreshSchemaRequestProto.newBuilder().setName(table).build();
    other(
        info,
        "refresh " + table,
        server -> {
          call(server, p -> p.refreshSchema(null, request));
          told.run();
        });
  }

  /**
   * Asks for rows of {@code record}'s tablet to be cleared, unless a request is still in progress.
   */
  void clear(ServerInfo info, TabletRecord record, long change, RowRange rows) {
    ClearTabletRequestProto request =
        ClearTabletRequestProto.newBuilder()
            .setTablet(ref(record))
            .setChange(change)
            .setStartRow(ByteStrings.of(rows.start()))
            .setEndRow(ByteStrings.of(rows.end()))
            .build();
    other(info, "clear " + record.id(), server -> call(server, p -> p.clearTablet(null, request)));
  }

  /**
   * Asks for dropped families to be erased from {@code record}'s tablet, unless a request is still
   * in progress.
   *
   * @param table the table's name
   */
  void erase(
      ServerInfo info, TabletRecord record, long change, String table, Set<String> families) {
    EraseFamiliesRequestProto request =
        EraseFamiliesRequestProto.newBuilder()
            .setTablet(ref(record))
            .setChange(change)
            .setTable(table)
            .addAllFamilies(families)
            .build();
    other(
        info, "erase " + record.id(), server -> call(server, p -> p.eraseFamilies(null, request)));
  }

  /**
   * Asks for segments of the log of {@code dead} to be sorted, and which ones are sorted, unless a
   * request for that log is still in progress.
   */
  void sort(ServerInfo info, ServerId dead, List<String> segments, Consumer<List<String>> sorted) {
    SortSegmentsRequestProto request =
        SortSegmentsRequestProto.newBuilder()
            .setServerId(dead.toString())
            .addAllSegments(segments)
            .build();
    other(
        info,
        "sort " + dead,
        server -> sorted.accept(call(server, p -> p.sortSegments(null, request)).getDoneList()));
  }

  /** Asks the server for its report, unless a request is still in progress. */
  void report(ServerInfo info, Consumer<ServerReportResponseProto> reported) {
    other(
        info,
        REPORT,
        server ->
            reported.accept(call(server, p -> p.report(null, EmptyProto.getDefaultInstance()))));
  }

  static TabletRefProto ref(TabletRecord record) {
    return TabletRefs.of(record.id(), record.row(), record.assignment().epoch());
  }

  private void other(ServerInfo info, String name, IoConsumer<Address> request) {
    later(
        info,
        queue -> {
          if (!queue.otherInProgress.equals(Optional.of(name))) {
            queue.others.putIfAbsent(name, request);
          }
        });
  }

  private void later(ServerInfo info, Consumer<Queue> addition) {
    Address server = info.control();
    boolean idle;
    synchronized (this) {
      idle = !queues.containsKey(server);
      addition.accept(queues.computeIfAbsent(server, address -> new Queue()));
    }
    if (idle) {
      scheduleNext(server);
    }
  }

  private void scheduleNext(Address server) {
    try {
      callers.execute(() -> callNext(server));
    } catch (RejectedExecutionException e) {
      LOG.debug("The master stops", e);
    }
  }

  private void callNext(Address server) {
    Optional<IoConsumer<Address>> next = next(server);
    if (next.isEmpty()) {
      return;
    }
    Duration rest = Duration.ZERO;
    try {
      next.get().accept(server);
    } catch (SteleException e) {
      LOG.info("Tablet server {} refused a request: {}", server, e.toString());
    } catch (IOException | RuntimeException e) {
      LOG.info("A request to tablet server {} failed: {}", server, e.toString());
      rest = restAfterFailure(server);
    } finally {
      synchronized (this) {
        Queue queue = queue(server);
        queue.inProgress = Map.of();
        queue.otherInProgress = Optional.empty();
        if (rest.isZero()) {
          failures.remove(server);
        }
      }
      // Goes to the end of the callers' queue, so that all servers get their turn.
      if (rest.isZero()) {
        scheduleNext(server);
      } else {
        runtime.after(rest, () -> scheduleNext(server));
      }
    }
  }

  private synchronized Duration restAfterFailure(Address server) {
    int before = failures(server).count();
    boolean report = queue(server).otherInProgress.equals(Optional.of(REPORT));
    failures.put(server, new Failures(before + 1, report));
    return REST_FIRST.multipliedBy(1L << Math.min(before, REST_DOUBLINGS_MAX));
  }

  @GuardedBy("this")
  private Failures failures(Address server) {
    return failures.getOrDefault(server, Failures.NONE);
  }

  /** The next call to {@code server}; if there is none, its queue is removed. */
  private synchronized Optional<IoConsumer<Address>> next(Address server) {
    Queue queue = queue(server);
    if (queue.isEmpty()) {
      queues.remove(server);
      return Optional.empty();
    }
    // Before all else: it tells whether the server answers. If the last was not answered, loads
    // have their turn: the server may hear, and only its answers be lost.
    if (queue.loads.isEmpty() || !failures(server).report()) {
      IoConsumer<Address> report = queue.others.remove(REPORT);
      if (report != null) {
        queue.otherInProgress = Optional.of(REPORT);
        return Optional.of(report);
      }
    }
    if (!queue.loads.isEmpty()) {
      LoadTabletsRequestProto request =
          LoadTabletsRequestProto.newBuilder().addAllTablets(take(queue, queue.loads)).build();
      return Optional.of(address -> call(address, p -> p.loadTablets(null, request)));
    }
    if (!queue.unloads.isEmpty() || !queue.discards.isEmpty()) {
      boolean discard = queue.unloads.isEmpty();
      UnloadTabletsRequestProto request =
          UnloadTabletsRequestProto.newBuilder()
              .addAllTablets(take(queue, discard ? queue.discards : queue.unloads))
              .setDiscard(discard)
              .build();
      return Optional.of(address -> call(address, p -> p.unloadTablets(null, request)));
    }
    Map.Entry<String, IoConsumer<Address>> other = queue.others.entrySet().iterator().next();
    queue.others.remove(other.getKey());
    queue.otherInProgress = Optional.of(other.getKey());
    return Optional.of(other.getValue());
  }

  @GuardedBy("this")
  private Queue queue(Address server) {
    return Objects.requireNonNull(queues.get(server)); // It stays while it has a caller.
  }

  private static List<TabletRefProto> take(Queue queue, Map<TabletId, TabletRefProto> from) {
    List<TabletRefProto> taken = new ArrayList<>();
    Map<TabletId, TabletRefProto> inProgress = new TreeMap<>();
    for (Iterator<Map.Entry<TabletId, TabletRefProto>> all = from.entrySet().iterator();
        all.hasNext() && taken.size() < TABLETS_PER_CALL_MAX; ) {
      Map.Entry<TabletId, TabletRefProto> one = all.next();
      inProgress.put(one.getKey(), one.getValue());
      taken.add(one.getValue());
      all.remove();
    }
    queue.inProgress = inProgress;
    return taken;
  }

  private <R> R call(Address server, ControlPlane.Call<TabletServerProtocol, R> call)
      throws IOException {
    return plane.call(server, TabletServerProtocol.class, TIMEOUT, call);
  }

  /** Drops the connections to servers that are gone, and the requests waiting for them. */
  void retain(Set<Address> addresses) {
    synchronized (this) {
      failures.keySet().retainAll(addresses);
      queues.forEach(
          (server, queue) -> {
            if (!addresses.contains(server)) {
              queue.clear();
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
