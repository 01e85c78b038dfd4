package io.stele.client;

import io.stele.metadata.ServerInfo;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.runtime.Deadline;
import io.stele.runtime.Durations;
import io.stele.runtime.Futures;
import io.stele.wire.TabletRefs;
import io.stele.wire.TabletServerProtocol;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.HostedTabletProto;
import io.stele.wire.control.ControlProtos.ServerReportResponseProto;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
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

  private final Connection connection;

  TabletSizes(Connection connection) {
    this.connection = connection;
  }

  /**
   * The bytes of the tablets on {@code servers}, without those of servers that do not answer in the
   * time that a call has.
   */
  Map<TabletId, Long> of(Set<ServerId> servers) throws IOException {
    Deadline deadline = Deadline.after(connection.runtime(), connection.timeout());
    Map<TabletId, Long> sizes = new HashMap<>();
    for (Map.Entry<ServerId, ServerInfo> server : live().entrySet()) {
      if (servers.contains(server.getKey()) && !deadline.isOver()) {
        try {
          ask(server.getValue(), Durations.min(TIMEOUT, deadline.remaining()), sizes);
        } catch (IOException | SteleException e) {
          check(e);
          LOG.debug("Server {} did not report the sizes of its tablets", server.getKey(), e);
        }
      }
    }
    return sizes;
  }

  private Map<ServerId, ServerInfo> live() throws IOException {
    try {
      return ClusterCalls.servers(connection);
    } catch (IOException | SteleException e) {
      check(e);
      LOG.debug("The lock service did not tell where the tablet servers are", e);
      return Map.of();
    }
  }

  private static void check(Exception failure) throws InterruptedIOException {
    if (failure instanceof InterruptedIOException interrupted
        && Futures.isInterruption(interrupted)) {
      throw interrupted;
    }
  }

  private void ask(ServerInfo server, Duration timeout, Map<TabletId, Long> sizes)
      throws IOException {
    ServerReportResponseProto report =
        connection
            .controlPlane()
            .call(
                server.control(),
                TabletServerProtocol.class,
                timeout,
                one -> one.report(null, EmptyProto.getDefaultInstance()));
    for (HostedTabletProto tablet : report.getTabletsList()) {
      sizes.put(
          TabletRefs.id(tablet.getTablet()), tablet.getSstableBytes() + tablet.getMemtableBytes());
    }
  }
}
