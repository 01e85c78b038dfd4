package io.stele.client;

import io.stele.metadata.ServerInfo;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.runtime.Durations;
import io.stele.wire.ControlPlane;
import io.stele.wire.TabletServerProtocol;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;

/**
 * Many calls of tablet servers. Where these are is kept until {@link #forget}: the lock service is
 * asked once, not for each call. Safe for use by any number of threads.
 */
final class CachedServerCalls {
  /** Servers answer at once. One that hangs may have lost its tablets: locate them again. */
  private static final Duration PATIENCE = Duration.ofSeconds(15);

  private final Connection connection;
  private final Duration timeout;
  private volatile Map<ServerId, ServerInfo> servers = Map.of();

  CachedServerCalls(Connection connection) {
    this.connection = connection;
    this.timeout = Durations.min(connection.timeout(), PATIENCE);
  }

  /**
   * Calls a tablet server once, to begin something or to ask whether it is done.
   *
   * @throws SteleException NOT_FOUND if there is no such server
   */
  <R> R call(ServerId server, ControlPlane.Call<TabletServerProtocol, R> call) throws IOException {
    if (!servers.containsKey(server)) {
      servers = ClusterCalls.servers(connection);
    }
    ServerInfo known = ClusterCalls.require(servers, server);
    return connection
        .controlPlane()
        .call(known.control(), TabletServerProtocol.class, timeout, call);
  }

  /** A call failed: servers may be elsewhere by now. */
  void forget() {
    servers = Map.of();
  }
}
