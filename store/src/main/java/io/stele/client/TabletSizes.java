package io.stele.client;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.metadata.ServerInfo;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.runtime.Futures;
import io.stele.wire.ControlPlane;
import io.stele.wire.TabletRefs;
import io.stele.wire.TabletServerProtocol;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.HostedTabletProto;
import io.stele.wire.control.ControlProtos.ServerReportResponseProto;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sizes of tablets as their servers report them: only the servers know which part of a shared
 * SSTable belongs to a tablet after a split, and how much is in memory.
 */
final class TabletSizes {
  private static final Logger LOG = LoggerFactory.getLogger(TabletSizes.class);
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private final LockService locks;
  private final ControlPlane control;

  TabletSizes(LockService locks, ControlPlane control) {
    this.locks = locks;
    this.control = control;
  }

  /** The bytes of the tablets on {@code servers}, without those of servers that do not answer. */
  Map<TabletId, Long> of(Set<ServerId> servers) throws IOException {
    Map<TabletId, Long> sizes = new HashMap<>();
    for (ServerId server : servers) {
      try {
        ask(server, sizes);
      } catch (IOException | SteleException e) {
        if (Futures.isInterruption(e)) {
          throw e;
        }
        LOG.debug("Tablet server {} did not report the sizes of its tablets", server, e);
      }
    }
    return sizes;
  }

  private void ask(ServerId server, Map<TabletId, Long> sizes) throws IOException {
    Optional<VersionedData> lock = locks.read(LockPaths.server(server));
    if (lock.isEmpty()) {
      return; // It is gone.
    }
    ServerInfo info = ServerInfo.decode(lock.get().data(), server);
    ServerReportResponseProto report =
        control.call(
            info.control(),
            TabletServerProtocol.class,
            TIMEOUT,
            one -> one.report(null, EmptyProto.getDefaultInstance()));
    for (HostedTabletProto tablet : report.getTabletsList()) {
      sizes.put(
          TabletRefs.id(tablet.getTablet()), tablet.getSstableBytes() + tablet.getMemtableBytes());
    }
  }
}
