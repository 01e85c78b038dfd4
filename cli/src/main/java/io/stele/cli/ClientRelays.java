package io.stele.cli;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.client.Stele;
import io.stele.config.ClusterConfig;
import io.stele.lock.CuratorLockService;
import io.stele.lock.LockService;
import io.stele.runtime.SystemRuntime;
import io.stele.wire.Address;
import io.stele.wire.NetworkTransport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;

/**
 * What stands between clients of this process and tablet servers: a relay before each address of
 * the data plane, made at the first call.
 *
 * <p>What clients were connected by stays open until this process ends. Safe for use by any number
 * of threads.
 */
final class ClientRelays {
  private static final SystemRuntime RUNTIME = SystemRuntime.INSTANCE;

  @GuardedBy("this")
  private final Map<String, TortureRelay> relays = new TreeMap<>(); // By the server's address.

  /**
   * Connects a client, as {@link Stele#connect(Configuration)} does, that reaches tablet servers
   * through relays.
   *
   * @throws IOException if the lock service cannot be reached
   */
  Stele connect(Configuration conf) throws IOException {
    LockService locks = CuratorLockService.connect(RUNTIME, ClusterConfig.of(conf));
    NetworkTransport network = new NetworkTransport(conf, RUNTIME, "localhost");
    return Stele.over(conf, RUNTIME, locks, new RelayedTransport(network, this));
  }

  /**
   * Where the relay before {@code server} listens.
   *
   * @throws UncheckedIOException if there is none yet, and it cannot be started
   */
  synchronized Address before(Address server) {
    TortureRelay relay = relays.get(server.toString());
    if (relay == null) {
      try {
        relay = TortureRelay.to(server.toString());
      } catch (IOException e) {
        throw new UncheckedIOException("no relay can be started before " + server, e);
      }
      relays.put(server.toString(), relay);
    }
    return Address.parse(relay.address());
  }

  /** The relays before those of the servers, host:port, that some client has called. */
  synchronized List<TortureRelay> called(List<String> servers) {
    return relays.values().stream().filter(relay -> servers.contains(relay.service())).toList();
  }
}
