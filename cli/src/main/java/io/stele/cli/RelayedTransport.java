package io.stele.cli;

import io.stele.web.StatusPage;
import io.stele.wire.ControlPlane;
import io.stele.wire.DataPlane;
import io.stele.wire.DataServer;
import io.stele.wire.MemberKey;
import io.stele.wire.RequestHandler;
import io.stele.wire.Transport;
import java.io.IOException;
import java.util.function.Supplier;
import org.apache.hadoop.thirdparty.protobuf.BlockingService;

/**
 * The network of a client that reaches the data plane of each tablet server through a relay before
 * it, and everything else without. Safe for use by any number of threads.
 */
final class RelayedTransport implements Transport {
  private final Transport network;
  private final ClientRelays relays;

  /**
   * Reaches tablet servers through relays.
   *
   * @param network the real one; closed with this
   */
  RelayedTransport(Transport network, ClientRelays relays) {
    this.network = network;
    this.relays = relays;
  }

  @Override
  public DataPlane dataPlane() {
    DataPlane real = network.dataPlane();
    return (server, request, body, timeout, waiting) ->
        real.call(relays.before(server), request, body, timeout, waiting);
  }

  @Override
  public ControlPlane controlPlane() {
    return network.controlPlane();
  }

  @Override
  public String host() {
    return network.host();
  }

  @Override
  public void join(MemberKey key) {
    network.join(key);
  }

  @Override
  public Listener serveData(int port, DataServer.Limits limits, RequestHandler handler)
      throws IOException {
    return network.serveData(port, limits, handler);
  }

  @Override
  public Listener serveControl(int port, int handlers, Class<?> protocol, BlockingService service)
      throws IOException {
    return network.serveControl(port, handlers, protocol, service);
  }

  @Override
  public Listener servePage(int port, Supplier<StatusPage> page) throws IOException {
    return network.servePage(port, page);
  }

  @Override
  public void close() {
    network.close();
  }
}
