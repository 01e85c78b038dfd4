package io.stele.wire;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.runtime.ProcessRuntime;
import io.stele.web.StatusPage;
import io.stele.web.StatusServer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.thirdparty.protobuf.BlockingService;

/**
 * The real network: Netty for the data plane, Hadoop RPC for the control plane, HTTP for the page.
 *
 * <p>Safe for use by any number of threads.
 */
public final class NetworkTransport implements Transport {
  private static final String ANY_ADDRESS = "0.0.0.0";
  private static final int DATA_LOOPS = 2;

  private final Configuration conf;
  private final ProcessRuntime runtime;
  private final String host;
  private final DataClient dataClient;
  private final HadoopControlPlane controlPlane;

  private volatile Optional<MemberKey> key = Optional.empty();

  @GuardedBy("listeners")
  private final List<Listener> listeners = new ArrayList<>();

  /**
   * The network of a process on {@code host}.
   *
   * @param conf Hadoop's; not changed
   * @param host the name under which others reach this machine
   */
  public NetworkTransport(Configuration conf, ProcessRuntime runtime, String host) {
    this.conf = conf;
    this.runtime = runtime;
    this.host = host;
    this.dataClient = new DataClient(runtime, DataClient.Options.DEFAULT);
    this.controlPlane = new HadoopControlPlane(runtime, conf);
  }

  @Override
  public String host() {
    return host;
  }

  @Override
  public void join(MemberKey memberKey) {
    key = Optional.of(memberKey);
    dataClient.join(memberKey);
  }

  @Override
  public DataPlane dataPlane() {
    return dataClient;
  }

  @Override
  public Listener serveData(int port, DataServer.Limits limits, RequestHandler handler)
      throws IOException {
    DataServer server =
        DataServer.start(
            runtime, new Address(ANY_ADDRESS, port), DATA_LOOPS, limits, handler, () -> key);
    return opened(
        new Listener() {
          @Override
          public int port() {
            return server.port();
          }

          @Override
          public long requestsRefused() {
            return server.requestsRefused();
          }

          @Override
          public void close(Duration grace) {
            server.close(grace);
          }

          @Override
          public void close() {
            server.close();
          }
        });
  }

  @Override
  public ControlPlane controlPlane() {
    return controlPlane;
  }

  @Override
  public Listener serveControl(int port, int handlers, Class<?> protocol, BlockingService service)
      throws IOException {
    ControlServer server =
        ControlServer.start(conf, new Address(ANY_ADDRESS, port), handlers, protocol, service);
    return opened(new Immediate(server.port(), server::close));
  }

  @Override
  public Listener servePage(int port, Supplier<StatusPage> page) throws IOException {
    StatusServer server = StatusServer.start(runtime, port, page);
    return opened(new Immediate(server.port(), server::close));
  }

  /** A listener that ends at once, whatever the grace. */
  private record Immediate(int port, Runnable end) implements Listener {
    @Override
    public void close(Duration grace) {
      close();
    }

    @Override
    public void close() {
      end.run();
    }
  }

  private Listener opened(Listener listener) {
    synchronized (listeners) {
      listeners.add(listener);
    }
    return listener;
  }

  @Override
  public void close() {
    List<Listener> open;
    synchronized (listeners) {
      open = List.copyOf(listeners);
      listeners.clear();
    }
    open.forEach(Listener::close);
    controlPlane.close();
    dataClient.close();
  }
}
