package io.stele.tabletserver;

import io.stele.runtime.ProcessRuntime;
import io.stele.web.TimeHistogram;
import io.stele.wire.Responder;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.StatusProto;
import java.nio.ByteBuffer;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/**
 * How long a server took to answer requests of the data plane: from when a request was decoded
 * until its answer was handed to the network, with everything that it waited for in between.
 * Requests that were not served are left out, and batches of which some mutation was not applied:
 * most of those fail fast.
 *
 * <p>Safe for use by any number of threads.
 */
final class RequestTimes {
  /** What requests ask for. */
  enum Kind {
    /** Reads of one row. */
    READ("reads of a row"),
    /** Reads of several rows, a page of them. */
    SCAN("pages of scans"),
    /** Batches of mutations. */
    MUTATE("batches of mutations"),
    CHECK_AND_MUTATE("checks with mutations"),
    READ_MODIFY_WRITE("increments and appends");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    /** What they are, for people. */
    String text() {
      return text;
    }
  }

  private final ProcessRuntime runtime;
  private final Map<Kind, TimeHistogram> times = new EnumMap<>(Kind.class);

  /** Nothing was answered yet. */
  RequestTimes(ProcessRuntime runtime) {
    this.runtime = runtime;
    for (Kind kind : Kind.values()) {
      times.put(kind, new TimeHistogram());
    }
  }

  /** The times of one kind. */
  TimeHistogram of(Kind kind) {
    return Objects.requireNonNull(times.get(kind));
  }

  /** Answers with {@code responder} a request that begins now, and counts how long that took. */
  Responder begin(Kind kind, Responder responder) {
    return new Timed(of(kind), runtime.nanoTime(), responder);
  }

  private static boolean wasServed(ResponseProto response) {
    boolean ok = !response.hasStatus() || response.getStatus() == StatusProto.OK;
    return ok && response.getOutcomesCount() == 0; // There are none if all were applied.
  }

  private final class Timed implements Responder {
    private final TimeHistogram histogram;
    private final long beginNanos;
    private final Responder responder;

    Timed(TimeHistogram histogram, long beginNanos, Responder responder) {
      this.histogram = histogram;
      this.beginNanos = beginNanos;
      this.responder = responder;
    }

    @Override
    public void answer(ResponseProto response, ByteBuffer body) {
      responder.answer(response, body);
      if (wasServed(response)) {
        histogram.record(runtime.nanoTime() - beginNanos);
      }
    }

    @Override
    public void take(long bytes) {
      responder.take(bytes);
    }

    @Override
    public void fail(Throwable failure) {
      responder.fail(failure);
    }
  }
}
