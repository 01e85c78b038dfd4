package io.stele.wire;

import io.stele.wire.data.DataProtos.ResponseProto;
import java.nio.ByteBuffer;

/**
 * Takes the answer to one request: exactly one, from any thread, now or later.
 *
 * <p>Every request must be answered, however late: an unanswered one counts against the server's
 * limits forever. Answering never blocks and never throws for what happened to the connection; an
 * answer that no caller waits for is dropped.
 */
public interface Responder {
  /**
   * Answers.
   *
   * @param response the header; the call id is set by the transport, and the status where there is
   *     none, to OK
   * @param body copied before this returns
   * @throws IllegalStateException if the request has been answered already
   */
  void answer(ResponseProto response, ByteBuffer body);

  /**
   * Counts memory that answering takes beside the request's own, until the answer is given. Called
   * before that memory is taken, by one thread at a time.
   *
   * @throws io.stele.model.SteleException RETRY_LATER where other requests have it at the moment,
   *     REFUSED where there is not so much for all requests together
   */
  default void take(long bytes) {}

  /** Answers without a body. */
  default void answer(ResponseProto response) {
    answer(response, DataPlane.EMPTY);
  }

  /** Answers with a failure, under the status that {@link StatusCodec} maps it to. */
  default void fail(Throwable failure) {
    answer(StatusCodec.response(failure));
  }
}
