package io.stele.wire;

import io.stele.wire.data.DataProtos.RequestProto;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * The caller's side of the data plane: the seam between clients and tablet servers, crossed over
 * the network by {@link DataClient} and without one in a simulation.
 *
 * <p>Safe for use by any number of threads.
 */
public interface DataPlane {
  /** No body. */
  ByteBuffer EMPTY = ByteBuffer.allocate(0);

  /**
   * Sends a request and returns at once.
   *
   * <p>The future completes with whatever the server answered, be its status OK or not; with a
   * {@link CallException} where no answer came, which tells whether the request may have been
   * executed; with a {@link io.stele.model.SteleException} where the request is too large to send.
   * It completes on a thread of the transport, which what hangs on it must not block.
   *
   * @param server where to
   * @param request the header; call id and remaining time are set by the transport
   * @param body copied before this returns
   * @param timeout how long to wait for the answer, connecting included
   */
  CompletableFuture<Response> call(
      Address server, RequestProto request, ByteBuffer body, Duration timeout);

  /**
   * Waits for an answer.
   *
   * @throws CallException where none came
   * @throws InterruptedIOException where the thread was interrupted, which it then still is; the
   *     request may have been executed
   */
  static Response await(CompletableFuture<Response> answer) throws IOException {
    try {
      return answer.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      InterruptedIOException interrupted =
          new InterruptedIOException("interrupted while waiting for a tablet server");
      interrupted.initCause(e);
      throw interrupted;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      if (e.getCause() instanceof CallException failure) {
        throw failure;
      }
      throw new IOException(e.getCause());
    }
  }
}
