package io.stele.metadata;

import io.stele.lock.LockService;
import io.stele.model.Bytes;
import io.stele.model.CheckAndMutate;
import io.stele.model.Durability;
import io.stele.model.OperationId;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.model.TableId;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.CallException;
import io.stele.wire.DataPlane;
import io.stele.wire.OperationCodec;
import io.stele.wire.QueryCodec;
import io.stele.wire.Response;
import io.stele.wire.RowCodec;
import io.stele.wire.data.DataProtos.ReadProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.StatusProto;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Sends a request for a row to whichever server has the row's tablet: locates it, sends, and tries
 * again (elsewhere, later) until the deadline.
 *
 * <p>The outcome is right at all times: what may be sent twice is sent until it is answered; what
 * may not is sent once; and where the time ends, or a refusal comes, after an attempt that may have
 * been executed, the failure is OUTCOME_UNKNOWN. Every other failure says that nothing was done.
 *
 * <p>Safe for use by any number of threads. Nothing here blocks. Futures complete on threads of the
 * transport: callbacks must not block.
 */
public final class TabletAccess implements AutoCloseable {
  private static final Duration ATTEMPT_MAX = Duration.ofSeconds(15);

  private final ProcessRuntime runtime;
  private final DataPlane plane;
  private final Operations operations;
  private final TabletLocator locator;
  private volatile boolean closed;

  /** Whether a request may be sent again after an attempt that may have been executed. */
  public enum Repeat {
    /** It changes nothing: always, and its outcome is never in doubt. */
    READ,
    /** It carries an operation id by which the tablet knows it again: always. */
    BY_ID,
    /** Doing it twice is not like doing it once: never. */
    NEVER
  }

  /** A request, made anew for every attempt as it names the tablet. */
  @FunctionalInterface
  public interface Call {
    /** What to send to {@code location}. */
    Message to(TabletLocation location);
  }

  /** A header and a body. */
  public record Message(RequestProto header, ByteBuffer body) {
    /** A request without a body. */
    public static Message of(RequestProto.Builder header) {
      return new Message(header.build(), DataPlane.EMPTY);
    }
  }

  /**
   * An answer whose status is OK.
   *
   * @param location the tablet that answered
   */
  public record Answer(Response response, TabletLocation location) {}

  /**
   * Rows of one tablet.
   *
   * @param next where the next rows may be; none: there are no more in the table
   * @param readPoint the point the rows were read at
   */
  public record Rows(List<Row> rows, Optional<Bytes> next, long readPoint) {
    public Rows {
      rows = List.copyOf(rows);
    }
  }

  /** Access over {@code plane}, with the root tablet's place known from {@code locks}. */
  public TabletAccess(ProcessRuntime runtime, LockService locks, DataPlane plane) {
    this.runtime = runtime;
    this.plane = plane;
    this.operations = new Operations(runtime);
    this.locator = new TabletLocator(runtime, locks, this);
  }

  /** The locations known. */
  public TabletLocator locator() {
    return locator;
  }

  /** The numbers of the operations sent with ids of this process. */
  public Operations operations() {
    return operations;
  }

  /**
   * Sends {@code call} to the tablet with {@code row} until it is answered or the deadline is over.
   *
   * <p>The future fails with a {@link SteleException}: that of the server (NOT_FOUND, REFUSED,
   * CORRUPTION), RETRY_LATER where time ended and nothing was done, OUTCOME_UNKNOWN where something
   * may have been done.
   */
  public CompletableFuture<Answer> send(
      TableId table, Bytes row, Repeat repeat, Call call, Deadline deadline) {
    Attempts attempts = new Attempts(table, row, repeat, call, deadline);
    attempts.next();
    return attempts.result;
  }

  /** The rows of {@code query} in the tablet with {@code at} in it, as many as come at once. */
  public CompletableFuture<Rows> rows(TableId table, Bytes at, RowQuery query, Deadline deadline) {
    return send(
            table,
            at,
            Repeat.READ,
            location ->
                Message.of(
                    RequestProto.newBuilder()
                        .setRead(
                            ReadProto.newBuilder()
                                .setTablet(QueryCodec.encode(location.tablet(), location.epoch()))
                                .setQuery(QueryCodec.encode(query)))),
            deadline)
        .thenApply(TabletAccess::rows);
  }

  private static Rows rows(Answer answer) {
    try {
      var header = answer.response().header();
      RowRange extent = answer.location().extent();
      Optional<Bytes> next =
          header.getMore()
              ? Optional.of(Bytes.wrap(header.getNextRow().toByteArray()))
              : Optional.of(extent.end()).filter(end -> !end.isEmpty());
      return new Rows(RowCodec.read(answer.response().body()), next, header.getReadPoint());
    } catch (IOException e) {
      throw new SteleException(
          Code.CORRUPTION, "an answer of " + answer.location().server() + ": " + e.getMessage(), e);
    }
  }

  /** Whether the predicate held; applied once whatever answers are lost. */
  public CompletableFuture<Boolean> checkAndMutate(
      TableId table, CheckAndMutate operation, Deadline deadline) {
    OperationId id = operations.begin();
    return send(
            table,
            operation.row(),
            Repeat.BY_ID,
            location ->
                Message.of(
                    RequestProto.newBuilder()
                        .setCheckAndMutate(
                            OperationCodec.encode(
                                QueryCodec.encode(location.tablet(), location.epoch()),
                                Optional.of(id),
                                operations.firstIncomplete(),
                                Durability.HFLUSH, // METADATA's own log asks for more.
                                operation))),
            deadline)
        .whenComplete((answer, failure) -> operations.complete(id))
        .thenApply(answer -> answer.response().header().getMatched());
  }

  /** Gives up what is under way; the data plane and the lock service stay open. */
  @Override
  public void close() {
    closed = true;
    locator.close();
  }

  /** One request and its attempts, which follow each other: never two at a time. */
  private final class Attempts {
    private final TableId table;
    private final Bytes row;
    private final Repeat repeat;
    private final Call call;
    private final Deadline deadline;
    private final Backoff backoff = new Backoff(runtime);
    private final CompletableFuture<Answer> result = new CompletableFuture<>();
    // Touched by one attempt after the other, each handed over by a future.
    private boolean inDoubt;
    private Throwable last;

    Attempts(TableId table, Bytes row, Repeat repeat, Call call, Deadline deadline) {
      this.table = table;
      this.row = row;
      this.repeat = repeat;
      this.call = call;
      this.deadline = deadline;
    }

    void next() {
      if (result.isDone()) {
        return; // Cancelled.
      }
      if (closed) {
        fail(SteleException.retryLater("this connection to the cluster is closed"));
        return;
      }
      if (deadline.isOver()) {
        fail(
            SteleException.retryLater(
                "table "
                    + table
                    + " row \""
                    + row
                    + "\": no answer in time"
                    + (last == null ? "" : "; last: " + last.getMessage())));
        return;
      }
      locator.locate(table, row, deadline).whenComplete(this::located);
    }

    private void located(TabletLocation location, Throwable failure) {
      if (failure != null) {
        Throwable why = Futures.cause(failure);
        if (why instanceof IOException
            || (why instanceof SteleException known && known.code() == Code.RETRY_LATER)) {
          later(why);
        } else {
          fail(why);
        }
        return;
      }
      try {
        Message message = call.to(location);
        Duration patience = deadline.remaining();
        plane
            .call(
                location.address(),
                message.header(),
                message.body(),
                patience.compareTo(ATTEMPT_MAX) < 0 ? patience : ATTEMPT_MAX)
            .whenComplete((response, lost) -> answered(location, response, lost));
      } catch (RuntimeException e) {
        fail(e);
      }
    }

    private void answered(TabletLocation location, Response response, Throwable failure) {
      if (failure != null) {
        Throwable why = Futures.cause(failure);
        if (why instanceof CallException lost) {
          locator.invalidate(location);
          if (lost.mayHaveExecuted()) {
            doubt(lost);
          } else {
            later(lost);
          }
        } else {
          fail(why);
        }
        return;
      }
      if (response.status() == StatusProto.OK) {
        result.complete(new Answer(response, location));
        return;
      }
      SteleException why = refusal(response);
      switch (response.status()) {
        case NOT_SERVING_TABLET -> {
          locator.invalidate(location);
          later(why);
        }
        case RETRY_LATER -> later(why);
        case OUTCOME_UNKNOWN, INTERNAL -> doubt(why);
        default -> fail(why);
      }
    }

    private SteleException refusal(Response response) {
      try {
        response.check();
        throw new IllegalStateException("an answer that is OK was taken for a failure");
      } catch (SteleException e) {
        return e;
      }
    }

    private void doubt(Throwable why) {
      inDoubt |= repeat != Repeat.READ;
      if (repeat == Repeat.NEVER) {
        fail(why);
      } else {
        later(why);
      }
    }

    private void later(Throwable why) {
      last = why;
      backoff.schedule(deadline, this::next);
    }

    private void fail(Throwable why) {
      if (inDoubt) {
        result.completeExceptionally(
            SteleException.outcomeUnknown(
                "table "
                    + table
                    + " row \""
                    + row
                    + "\": an attempt may have been executed; then: "
                    + why.getMessage(),
                why));
      } else {
        result.completeExceptionally(why);
      }
    }
  }
}
