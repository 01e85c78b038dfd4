package io.stele.master;

import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.wire.Address;
import io.stele.wire.ByteStrings;
import io.stele.wire.ControlClient;
import io.stele.wire.ControlPlane;
import io.stele.wire.TabletServerProtocol;
import io.stele.wire.control.ControlProtos.DescribeTableRequestProto;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.LoadTabletRequestProto;
import io.stele.wire.control.ControlProtos.ServerReportResponseProto;
import io.stele.wire.control.ControlProtos.TabletRefProto;
import io.stele.wire.control.ControlProtos.UnloadTabletRequestProto;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.hadoop.conf.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The master's requests to tablet servers. What they do shows in the tablets' records, so a request
 * that is lost is simply made again.
 *
 * <p>Safe for use by any number of threads.
 */
final class TabletServers implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TabletServers.class);
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private final Configuration conf;
  private final Map<Address, ControlClient<TabletServerProtocol>> clients = new HashMap<>();
  private final Set<String> underWay = new HashSet<>();
  private final ExecutorService callers;

  TabletServers(Configuration conf) {
    this.conf = conf;
    this.callers =
        Executors.newCachedThreadPool(
            task -> {
              Thread thread = new Thread(task, "master-caller");
              thread.setDaemon(true);
              return thread;
            });
  }

  /** Asks for {@code record}'s tablet to be loaded, unless such a request is still under way. */
  void load(ServerId server, ServerInfo info, TabletRecord record) {
    LoadTabletRequestProto request =
        LoadTabletRequestProto.newBuilder().setTablet(ref(record)).build();
    later("load " + record.id() + " at " + server, info, p -> p.loadTablet(null, request));
  }

  /** Asks for {@code record}'s tablet to be given up and its data to be thrown away. */
  void discard(ServerId server, ServerInfo info, TabletRecord record) {
    UnloadTabletRequestProto request =
        UnloadTabletRequestProto.newBuilder().setTablet(ref(record)).setDiscard(true).build();
    later("discard " + record.id() + " at " + server, info, p -> p.unloadTablet(null, request));
  }

  /** Tells the server that a table's schema changed. */
  void refreshSchema(ServerInfo info, String table) throws IOException {
    call(
        info,
        p -> p.refreshSchema(null, DescribeTableRequestProto.newBuilder().setName(table).build()));
  }

  /** What the server says of itself. */
  ServerReportResponseProto report(ServerInfo info) throws IOException {
    return call(info, p -> p.report(null, EmptyProto.getDefaultInstance()));
  }

  static TabletRefProto ref(TabletRecord record) {
    Bytes row = record.row();
    return TabletRefProto.newBuilder()
        .setTableId(record.id().table().value())
        .setTablet(record.id().name())
        .setEpoch(record.assignment().epoch())
        .setMetadataRow(ByteStrings.of(row))
        .build();
  }

  private <R> void later(
      String what, ServerInfo info, ControlPlane.Call<TabletServerProtocol, R> call) {
    synchronized (underWay) {
      if (!underWay.add(what)) {
        return;
      }
    }
    callers.execute(
        () -> {
          try {
            call(info, call);
          } catch (IOException | RuntimeException e) {
            LOG.info("Asked to {}: {}", what, e.toString());
          } finally {
            synchronized (underWay) {
              underWay.remove(what);
            }
          }
        });
  }

  private <R> R call(ServerInfo info, ControlPlane.Call<TabletServerProtocol, R> call)
      throws IOException {
    ControlClient<TabletServerProtocol> client;
    synchronized (clients) {
      client = clients.get(info.control());
      if (client == null) {
        client = ControlClient.connect(conf, info.control(), TabletServerProtocol.class, TIMEOUT);
        clients.put(info.control(), client);
      }
    }
    return client.call(call);
  }

  /** Forgets the connections to servers that are gone. */
  void retain(Set<Address> addresses) {
    synchronized (clients) {
      clients
          .entrySet()
          .removeIf(
              entry -> {
                boolean gone = !addresses.contains(entry.getKey());
                if (gone) {
                  entry.getValue().close();
                }
                return gone;
              });
    }
  }

  @Override
  public void close() {
    callers.shutdownNow();
    retain(Set.of());
  }
}
