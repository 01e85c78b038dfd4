package io.stele.check;

import io.stele.lock.LockService;
import io.stele.metadata.ServerInfo;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import io.stele.wire.ControlPlane;
import io.stele.wire.TabletRefs;
import io.stele.wire.TabletServerProtocol;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.HostedTabletProto;
import io.stele.wire.control.ControlProtos.ServerReportResponseProto;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the live tablet servers say that they serve. For one thread. */
final class ServedTablets {
  private static final Logger LOG = LoggerFactory.getLogger(ServedTablets.class);
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private static final int AT_ONCE = 64;

  private final ProcessRuntime runtime;
  private final LockService locks;
  private final ControlPlane plane;

  /**
   * A server's tablets.
   *
   * @param served those that it serves
   * @param moving those that it does not serve yet, or any more, while their records may say so
   * @param troubles what is wrong with some of those that it serves
   */
  record Of(Set<TabletId> served, Set<TabletId> moving, Map<TabletId, Trouble> troubles) {}

  /**
   * What a server says is wrong with a tablet.
   *
   * @param text in words, with times and counts that differ each time
   * @param stopped whether the tablet answers no request until another server loads it; false if
   *     the server is of an earlier version, which does not say so
   */
  record Trouble(String text, boolean stopped) {}

  ServedTablets(ProcessRuntime runtime, LockService locks, ControlPlane plane) {
    this.runtime = runtime;
    this.locks = locks;
    this.plane = plane;
  }

  /** By server that holds its lock; empty for one that does not answer. All are asked at once. */
  Map<ServerId, Optional<Of>> read() throws IOException {
    Map<ServerId, ServerInfo> servers = ServerInfo.all(locks);
    Map<ServerId, CompletableFuture<Optional<Of>>> asked = new TreeMap<>();
    Map<ServerId, Optional<Of>> all = new TreeMap<>();
    int threads = Math.max(1, Math.min(servers.size(), AT_ONCE));
    try (WorkerPool pool = runtime.pool("asks-servers", threads)) {
      servers.forEach(
          (id, server) -> asked.put(id, CompletableFuture.supplyAsync(() -> ask(server), pool)));
      for (Map.Entry<ServerId, CompletableFuture<Optional<Of>>> one : asked.entrySet()) {
        all.put(
            one.getKey(),
            Futures.await(runtime, one.getValue(), "asking " + one.getKey() + " what it serves"));
      }
    }
    return all;
  }

  private Optional<Of> ask(ServerInfo server) {
    try {
      ServerReportResponseProto report =
          plane.call(
              server.control(),
              TabletServerProtocol.class,
              TIMEOUT,
              protocol -> protocol.report(null, EmptyProto.getDefaultInstance()));
      return Optional.of(
          new Of(
              ids(report.getTabletsList()),
              ids(report.getMovingList()),
              troubles(report.getTabletsList())));
    } catch (SteleException e) {
      LOG.warn("{} does not say what it serves: {}", server.control(), e.toString());
      return e.code() == SteleException.Code.RETRY_LATER
          ? Optional.of(new Of(Set.of(), Set.of(), Map.of())) // It is starting, and serves nothing.
          : Optional.empty();
    } catch (IOException e) {
      LOG.warn("{} does not answer: {}", server.control(), e.toString());
      return Optional.empty();
    }
  }

  private static Map<TabletId, Trouble> troubles(List<HostedTabletProto> tablets) {
    Map<TabletId, Trouble> troubles = new TreeMap<>();
    for (HostedTabletProto tablet : tablets) {
      if (tablet.getTroublesCount() > 0) {
        troubles.put(
            TabletRefs.id(tablet.getTablet()),
            new Trouble(String.join("; ", tablet.getTroublesList()), tablet.getStopped()));
      } else if (tablet.getStopped()) {
        troubles.put(TabletRefs.id(tablet.getTablet()), new Trouble("it has stopped", true));
      }
    }
    return troubles;
  }

  private static Set<TabletId> ids(List<HostedTabletProto> tablets) {
    return tablets.stream()
        .map(tablet -> TabletRefs.id(tablet.getTablet()))
        .collect(Collectors.toSet());
  }
}
