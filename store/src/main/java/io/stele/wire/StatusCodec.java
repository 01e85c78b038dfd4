package io.stele.wire;

import io.stele.model.CorruptionException;
import io.stele.model.OperationForgottenException;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.StatusProto;

/** Failures as statuses of the data plane, and back. */
public final class StatusCodec {
  private StatusCodec() {}

  /** The status that tells of {@code failure}; INTERNAL for what is not of Stele's own. */
  public static StatusProto status(Throwable failure) {
    if (failure instanceof NotServingTabletException) {
      return StatusProto.NOT_SERVING_TABLET;
    }
    if (failure instanceof SteleException known) {
      return switch (known.code()) {
        case NOT_FOUND -> StatusProto.NOT_FOUND;
        case ALREADY_EXISTS, REFUSED -> StatusProto.REFUSED; // No request here creates anything.
        case RETRY_LATER -> StatusProto.RETRY_LATER;
        case OUTCOME_UNKNOWN -> StatusProto.OUTCOME_UNKNOWN;
        case CORRUPTION -> StatusProto.CORRUPTION;
      };
    }
    return failure instanceof CorruptionException ? StatusProto.CORRUPTION : StatusProto.INTERNAL;
  }

  /** The answer that tells of {@code failure}. */
  public static ResponseProto response(Throwable failure) {
    ResponseProto.Builder response =
        ResponseProto.newBuilder().setStatus(status(failure)).setMessage(message(failure));
    if (failure instanceof OperationForgottenException) {
      response.setForgotten(true);
    }
    return response.build();
  }

  /** What to say of {@code failure}: never empty. */
  public static String message(Throwable failure) {
    return failure instanceof SteleException && failure.getMessage() != null
        ? failure.getMessage()
        : failure.toString();
  }

  /** The exception that {@code status} and {@code message} told of. */
  public static SteleException exception(StatusProto status, String message) {
    return switch (status) {
      case OK -> throw new IllegalArgumentException("OK is not a failure");
      case NOT_SERVING_TABLET -> new NotServingTabletException(message);
      case NOT_FOUND -> new SteleException(Code.NOT_FOUND, message);
      case REFUSED -> new SteleException(Code.REFUSED, message);
      case RETRY_LATER -> new SteleException(Code.RETRY_LATER, message);
      case OUTCOME_UNKNOWN, INTERNAL -> new SteleException(Code.OUTCOME_UNKNOWN, message);
      case CORRUPTION -> new SteleException(Code.CORRUPTION, message);
    };
  }
}
