package io.stele.wire;

import io.stele.model.OperationForgottenException;
import io.stele.model.SteleException;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.StatusProto;
import java.nio.ByteBuffer;
import java.time.Duration;

/** What a tablet server answered. Immutable except for the read position in the body. */
public final class Response {
  private final ResponseProto header;
  private final ByteBuffer body;

  /** An answer of {@code header} and {@code body}; the body must not change any more. */
  public Response(ResponseProto header, ByteBuffer body) {
    this.header = header;
    this.body = body;
  }

  /** The answer's header. */
  public ResponseProto header() {
    return header;
  }

  /** The answer's body: a view of its own for every caller, backed by an array. */
  public ByteBuffer body() {
    return body.duplicate();
  }

  /** How the request went. */
  public StatusProto status() {
    return header.getStatus();
  }

  /**
   * This answer, if its status is OK.
   *
   * @throws SteleException otherwise, with the server's message; a tablet that is not served there
   *     comes as RETRY_LATER, a failure inside the server as OUTCOME_UNKNOWN
   */
  public Response check() {
    if (status() == StatusProto.RETRY_LATER && header.hasRetryAfterMillis()) {
      throw new RetryAfterException(
          header.getMessage(),
          Duration.ofMillis(Integer.toUnsignedLong(header.getRetryAfterMillis())));
    }
    if (status() == StatusProto.REFUSED && header.getForgotten()) {
      throw new OperationForgottenException(header.getMessage());
    }
    if (status() != StatusProto.OK) {
      throw StatusCodec.exception(status(), header.getMessage());
    }
    return this;
  }
}
