package io.stele.wire;

import io.stele.wire.data.DataProtos.RequestProto;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * The caller's side of the data plane: the seam between clients and tablet servers, crossed over
 * the network by {@link DataClient} and without one in a simulation.
 *
 * <p>Safe for use by any number of threads.
 */
public interface DataPlane {
  /** How often a caller that waits is asked whether it still does. */
  Duration CHECK_EVERY = Duration.ofSeconds(2);

  /** No body. */
  ByteBuffer EMPTY = ByteBuffer.allocate(0);

  /**
   * Sends a request and returns at once.
   *
   * <p>The future completes with whatever the server answered, be its status OK or not; with a
   * {@link CallException} where no answer came, which tells whether the request may have been
   * executed; with a {@link io.stele.model.SteleException} where the request was not sent: REFUSED
   * if it is too large, RETRY_LATER if too many calls wait for the server. It completes on a thread
   * of the transport: callbacks must not block.
   *
   * @param server where to
   * @param request the header; call id and remaining time are set by the transport
   * @param body copied before this returns
   * @param timeout how long to wait for the answer, connecting included
   */
  default CompletableFuture<Response> call(
      Address server, RequestProto request, ByteBuffer body, Duration timeout) {
    return call(server, request, body, timeout, answer -> {});
  }

  /**
   * The same, for a caller that looks now and then whether waiting is still of use.
   *
   * @param waiting called every {@link #CHECK_EVERY} while there is no answer, with the call's
   *     future, which it may complete: an answer that comes later is dropped. It runs on a thread
   *     of the transport and must not block
   */
  CompletableFuture<Response> call(
      Address server,
      RequestProto request,
      ByteBuffer body,
      Duration timeout,
      Consumer<CompletableFuture<Response>> waiting);
}
