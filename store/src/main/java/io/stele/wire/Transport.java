package io.stele.wire;

import io.stele.web.StatusPage;
import java.io.IOException;
import java.time.Duration;
import java.util.function.Supplier;
import org.apache.hadoop.thirdparty.protobuf.BlockingService;

/**
 * One process's access to the network: how it reaches other processes and how they reach it, over
 * both planes and for its status page.
 *
 * <p>{@link NetworkTransport} is the real one. Safe for use by any number of threads. Closing it
 * closes what it opened, listeners included.
 */
public interface Transport extends AutoCloseable {
  /** The name under which others reach this machine; the one YARN has for the node. */
  String host();

  /**
   * Makes this process a member of the cluster whose {@code key} it has: what it calls on the data
   * plane is told so, and what it serves there is told which callers are members. To be called
   * before both are used.
   */
  void join(MemberKey key);

  /** The caller's side of the data plane; all callers of the process share its connections. */
  DataPlane dataPlane();

  /**
   * Answers requests of the data plane.
   *
   * @param port 0: any free one
   * @param limits on what is taken in, and on answers
   * @param handler called on threads that it must not block
   * @throws IOException if the port cannot be listened on
   */
  Listener serveData(int port, DataServer.Limits limits, RequestHandler handler) throws IOException;

  /** The caller's side of the control plane. */
  ControlPlane controlPlane();

  /**
   * Answers requests of the control plane.
   *
   * @param port 0: any free one
   * @param handlers how many requests may be under way at once; they may block
   * @param protocol an interface such as {@link MasterProtocol}
   * @param service what the generated {@code newReflectiveBlockingService} made of the
   *     implementation
   * @throws IOException if the port cannot be listened on
   */
  Listener serveControl(int port, int handlers, Class<?> protocol, BlockingService service)
      throws IOException;

  /**
   * Shows a status page.
   *
   * @param port 0: any free one
   * @param page makes the page for every request
   * @throws IOException if the port cannot be listened on
   */
  Listener servePage(int port, Supplier<StatusPage> page) throws IOException;

  @Override
  void close();

  /** Something that listens on a port. */
  interface Listener extends AutoCloseable {
    /** The port it listens on. */
    int port();

    /** How many requests it answered RETRY_LATER by itself, as it had no room for them. */
    default long requestsRefused() {
      return 0;
    }

    /** Takes no more requests, and waits for those under way, for {@code grace} at most. */
    void close(Duration grace);

    /** Ends at once; requests under way are not answered. */
    @Override
    void close();
  }
}
