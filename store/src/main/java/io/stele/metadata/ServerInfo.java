package io.stele.metadata;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.metadata.avro.ServerValue;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import io.stele.model.ServerId;
import io.stele.wire.Address;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The contents of a tablet server's lock.
 *
 * @param control where its control plane listens
 * @param data where its data plane listens
 * @param web where its page is
 * @param container the YARN container it runs in
 * @param draining whether it gives its tablets away and takes no new ones
 * @param lease how long it answers at most without a renewal of its lock, as its configuration has
 *     it; zero if it does not say
 */
public record ServerInfo(
    Address control,
    Address data,
    Optional<Address> web,
    Optional<String> container,
    boolean draining,
    Duration lease) {
  private static final Logger LOG = LoggerFactory.getLogger(ServerInfo.class);

  /** A server that takes tablets. */
  public ServerInfo(
      Address control, Address data, Optional<Address> web, Optional<String> container) {
    this(control, data, web, container, false, Duration.ZERO);
  }

  /** The same server, giving its tablets away. */
  public ServerInfo drained() {
    return new ServerInfo(control, data, web, container, true, lease);
  }

  /**
   * The tablet server that runs in a YARN container, of those that hold their locks; empty until it
   * has registered itself.
   */
  public static Optional<Map.Entry<ServerId, ServerInfo>> inContainer(
      LockService locks, String container) throws IOException {
    return inContainer(all(locks), container);
  }

  /** The one of {@code servers} that runs in a YARN container, if any does. */
  public static Optional<Map.Entry<ServerId, ServerInfo>> inContainer(
      Map<ServerId, ServerInfo> servers, String container) {
    return servers.entrySet().stream()
        .filter(server -> server.getValue().container().equals(Optional.of(container)))
        .findFirst();
  }

  /** The data of the lock's node. */
  public Bytes encode() {
    return Avro.encode(
        ServerValue.newBuilder()
            .setControl(control.toString())
            .setData(data.toString())
            .setWeb(web.map(Address::toString).orElse(""))
            .setContainer(container.orElse(""))
            .setDraining(draining)
            .setLeaseMillis(lease.toMillis())
            .build());
  }

  /** Reads what {@link #encode} wrote. */
  public static ServerInfo decode(Bytes data, ServerId server) throws CorruptionException {
    return Avro.decode(
        data,
        ServerValue.class,
        "ZooKeeper node " + LockPaths.server(server),
        value ->
            new ServerInfo(
                Address.parse(value.getControl()),
                Address.parse(value.getData()),
                Optional.of(value.getWeb()).filter(web -> !web.isEmpty()).map(Address::parse),
                Optional.of(value.getContainer()).filter(container -> !container.isEmpty()),
                value.getDraining(),
                Duration.ofMillis(value.getLeaseMillis())));
  }

  /**
   * The servers that hold their locks, and what they say of themselves. A node that cannot be read
   * as one is left out and logged.
   */
  public static Map<ServerId, ServerInfo> all(LockService locks) throws IOException {
    return all(locks, Map.of());
  }

  /**
   * As above, at the cost of the servers that are not {@code known}: of these it is only seen
   * whether they hold their locks. An id names one process, so its data rarely changes.
   */
  public static Map<ServerId, ServerInfo> all(LockService locks, Map<ServerId, ServerInfo> known)
      throws IOException {
    Map<ServerId, ServerInfo> all = new TreeMap<>();
    for (String name : locks.children(LockPaths.SERVERS)) {
      try {
        ServerId server = ServerId.parse(name);
        ServerInfo before = known.get(server);
        if (before != null) {
          all.put(server, before);
          continue;
        }
        Optional<VersionedData> data = locks.read(LockPaths.server(server));
        if (data.isPresent()) { // Otherwise it went meanwhile.
          all.put(server, decode(data.get().data(), server));
        }
      } catch (IllegalArgumentException | CorruptionException | NewerFormatException e) {
        LOG.error(
            "{}/{} in ZooKeeper cannot be decoded as a tablet server", LockPaths.SERVERS, name, e);
      }
    }
    return all;
  }
}
