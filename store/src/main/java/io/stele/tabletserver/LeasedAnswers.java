package io.stele.tabletserver;

import io.stele.model.SteleException;
import io.stele.runtime.Futures;
import io.stele.tablet.RowOutOfRangeException;
import io.stele.wire.DataPlane;
import io.stele.wire.NotServingTabletException;
import io.stele.wire.Responder;
import io.stele.wire.data.DataProtos.ResponseProto;
import java.nio.ByteBuffer;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets answers leave only under a valid lease, which is checked after the request was evaluated: a
 * server that was cut off must not give an answer that its successor contradicts. RETRY_LATER
 * leaves without one, since it tells nothing about rows.
 *
 * <p>Safe for use by any number of threads.
 */
final class LeasedAnswers {
  private static final Logger LOG = LoggerFactory.getLogger(LeasedAnswers.class);

  /** The answer to a write, encoded. */
  record Answer(ResponseProto header, ByteBuffer body) {
    Answer(ResponseProto header) {
      this(header, DataPlane.EMPTY);
    }
  }

  private final BooleanSupplier mayAnswer;
  private final RequestCounts counts = new RequestCounts();

  /** Asks {@code mayAnswer} just before each answer leaves. */
  LeasedAnswers(BooleanSupplier mayAnswer) {
    this.mayAnswer = mayAnswer;
  }

  /** What was answered. */
  RequestCounts counts() {
    return counts;
  }

  /** Answers a read. */
  void read(Responder responder, ResponseProto.Builder answer, ByteBuffer body) {
    if (mayAnswer.getAsBoolean()) {
      counts.read(answer.getRows());
      responder.answer(answer.build(), body);
    } else {
      send(
          responder,
          SteleException.retryLater(
              "this server's lease has run out, so its answer may be out of date: try again"));
    }
  }

  /** Answers a write. Called by the write's completion, whose exceptions would be lost. */
  void write(Responder responder, Supplier<Answer> answer) {
    try {
      if (mayAnswer.getAsBoolean()) {
        Answer made = answer.get();
        responder.answer(made.header(), made.body());
      } else {
        send(
            responder,
            new SteleException(
                SteleException.Code.OUTCOME_UNKNOWN,
                "this server's lease has run out: the write may or may not have been applied"));
      }
    } catch (RuntimeException | Error e) {
      LOG.error("Cannot encode the answer to a write", e);
      send(
          responder,
          new SteleException(
              SteleException.Code.OUTCOME_UNKNOWN,
              "the write was applied, but its answer could not be sent: " + e,
              e));
    }
  }

  /** Answers that a request failed. */
  void fail(Responder responder, Throwable failure) {
    Throwable why = meaning(failure);
    boolean saysNothing =
        why instanceof SteleException known && known.code() == SteleException.Code.RETRY_LATER;
    if (saysNothing || mayAnswer.getAsBoolean()) {
      send(responder, why);
    } else {
      // A refusal or damage tells what the tablet holds, too.
      send(
          responder,
          new SteleException(
              SteleException.Code.OUTCOME_UNKNOWN,
              "the request failed after this server's lease had run out",
              why));
    }
  }

  private void send(Responder responder, Throwable failure) {
    counts.notServed(failure);
    responder.fail(failure);
  }

  /** What a failure within a tablet means to the client. */
  static Throwable meaning(Throwable failure) {
    Throwable cause = Futures.cause(failure);
    return cause instanceof RowOutOfRangeException
        ? new NotServingTabletException(String.valueOf(cause.getMessage()))
        : cause;
  }
}
