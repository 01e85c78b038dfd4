package io.stele.metadata;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.format.RowCodec;
import io.stele.lock.LockService;
import io.stele.metadata.Attempts.Decision;
import io.stele.metadata.Attempts.Effect;
import io.stele.metadata.Attempts.Patience;
import io.stele.metadata.Attempts.Purpose;
import io.stele.model.Bytes;
import io.stele.model.CheckAndMutate;
import io.stele.model.Durability;
import io.stele.model.OperationForgottenException;
import io.stele.model.OperationId;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.model.TableId;
import io.stele.runtime.Deadline;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.CallException;
import io.stele.wire.DataPlane;
import io.stele.wire.OperationCodec;
import io.stele.wire.QueryCodec;
import io.stele.wire.Response;
import io.stele.wire.data.DataProtos.ReadProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * Sends a request for a row to the server that has the row's tablet: locates the tablet, sends, and
 * retries (elsewhere, later) until the deadline, as {@link Attempts} decides.
 *
 * <p>The reported outcome is always right. If time runs out or a refusal arrives after an attempt
 * that may have changed something, the failure is OUTCOME_UNKNOWN. Every other failure says that
 * nothing was changed.
 *
 * <p>Safe for use by any number of threads. Nothing here blocks. Futures complete on threads of the
 * transport: callbacks must not block.
 */
public final class TabletAccess implements AutoCloseable {
  private static final int FIRST_ATTEMPT_OF_LEASE = 4;

  private final ProcessRuntime runtime;
  private final DataPlane plane;

  @GuardedBy("this")
  private Operations operations;

  private final TabletLocator locator;
  private final Patience patience;

  /** A request, built anew for every attempt because it names the tablet. */
  @FunctionalInterface
  public interface Call {
    /** The message to send to {@code location}. */
    Message to(TabletLocation location);

    /**
     * The tablet refused the change because it may have forgotten it, but it was certainly not
     * applied: gives it an id that no tablet has heard of, if the call can do that.
     *
     * @return whether to send it again
     */
    default boolean takeOtherId() {
      return false;
    }
  }

  /**
   * A call, and the row whose tablet receives it.
   *
   * @param purpose what it does; a change carries an operation id
   */
  public record RowRequest(TableId table, Bytes row, Purpose purpose, Call call) {}

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
   * @param next where the next rows may be; empty: the table has no more rows
   * @param readPoint the point the rows were read at
   */
  public record Rows(List<Row> rows, Optional<Bytes> next, long readPoint) {
    public Rows {
      rows = List.copyOf(rows);
    }
  }

  /**
   * Access over {@code plane}; the root tablet's place is read from {@code locks}.
   *
   * @param lease of the tablet servers. A request for METADATA without an answer for a quarter of
   *     it is sent again, because a tablet may not be served while its record is being changed. The
   *     last attempts take a whole lease: a server that hangs or is cut off for longer has lost the
   *     tablet
   */
  public TabletAccess(ProcessRuntime runtime, LockService locks, DataPlane plane, Duration lease) {
    this.patience = new Patience(lease.dividedBy(FIRST_ATTEMPT_OF_LEASE), lease);
    this.runtime = runtime;
    this.plane = plane;
    this.operations = new Operations(runtime);
    this.locator = new TabletLocator(runtime, locks, this);
  }

  /** The known locations. */
  public TabletLocator locator() {
    return locator;
  }

  /**
   * Sends {@code request} to the tablet that contains its row until it is answered or the deadline
   * is over.
   *
   * <p>The future fails with a {@link SteleException}: that of the server (NOT_FOUND, REFUSED,
   * CORRUPTION), RETRY_LATER if time ran out and nothing was done, OUTCOME_UNKNOWN if something may
   * have been done.
   */
  public CompletableFuture<Answer> send(RowRequest request, Deadline deadline) {
    Sending sending = new Sending(request, new Attempts(runtime, request.purpose(), deadline));
    sending.next();
    return sending.result;
  }

  /**
   * Sends one request to one server, once. The future fails as if the connection had been lost when
   * no answer has come for some time and the tablet is on another server by now: a server that
   * stands still, or cannot be reached, may never answer.
   *
   * @param message changes nothing, or carries operation ids, so that it may be sent again
   * @param timeout how long to wait for the answer
   */
  public CompletableFuture<Response> once(TabletLocation to, Message message, Duration timeout) {
    return plane.call(
        to.address(),
        message.header(),
        message.body(),
        timeout,
        answer ->
            locator
                .isElsewhere(to)
                .thenAccept(
                    elsewhere -> {
                      if (elsewhere) {
                        String text = "no answer from " + to.server() + ", which has lost ";
                        answer.completeExceptionally(new CallException(text + to.tablet(), true));
                      }
                    }));
  }

  /**
   * The rows of {@code query} in METADATA's tablet that contains {@code at}, as many as one answer
   * holds.
   */
  public CompletableFuture<Rows> rows(TableId table, Bytes at, RowQuery query, Deadline deadline) {
    Purpose purpose =
        Purpose.of(Effect.READ, () -> "reading table " + table + " from row \"" + at + "\" on")
            .with(patience);
    Call call =
        location ->
            Message.of(
                RequestProto.newBuilder()
                    .setRead(
                        ReadProto.newBuilder()
                            .setTablet(QueryCodec.encode(location.tablet(), location.epoch()))
                            .setQuery(QueryCodec.encode(query))));
    return converted(send(new RowRequest(table, at, purpose, call), deadline), TabletAccess::rows);
  }

  private static Rows rows(Answer answer) {
    try {
      ResponseProto header = answer.response().header();
      RowRange extent = answer.location().extent();
      Optional<Bytes> next =
          header.getMore()
              ? Optional.of(Bytes.wrap(header.getNextRow().toByteArray()))
              : Optional.of(extent.end()).filter(end -> !end.isEmpty());
      return new Rows(RowCodec.read(answer.response().body()), next, header.getReadPoint());
    } catch (IOException e) {
      throw new SteleException(
          Code.CORRUPTION,
          "an answer of " + answer.location().server() + " cannot be decoded: " + e.getMessage(),
          e);
    }
  }

  /**
   * Whether the predicate held in METADATA; the mutation is applied once even if answers are lost.
   */
  public CompletableFuture<Boolean> checkAndMutate(
      TableId table, CheckAndMutate operation, Deadline deadline) {
    Change change = new Change(operation);
    Purpose purpose =
        Purpose.of(
                Effect.CHANGE_WITH_ID,
                () -> "changing row \"" + operation.row() + "\" of table " + table)
            .with(patience);
    CompletableFuture<Answer> sent =
        send(new RowRequest(table, operation.row(), purpose, change), deadline);
    sent.whenComplete((answer, failure) -> change.end());
    return converted(sent, answer -> answer.response().header().getMatched());
  }

  /** What numbers the changes of METADATA that begin now. */
  private synchronized Operations operations() {
    return operations;
  }

  /** Gives this process another name, unless it has one already. */
  private synchronized Operations otherOperations(Operations known) {
    if (operations == known) {
      operations = new Operations(runtime);
    }
    return operations;
  }

  /**
   * A change of METADATA, under its present id.
   *
   * <p>All changes of this process are under one name, so that a tablet remembers one client for
   * each process. Therefore a change that waits for a METADATA tablet for long makes all later ones
   * look as old, and another tablet that does not know this process refuses them. Then they go on
   * under another name.
   */
  private final class Change implements Call {
    private final CheckAndMutate operation;

    @GuardedBy("this")
    private Operations named;

    @GuardedBy("this")
    private OperationId id;

    @GuardedBy("this")
    private boolean ended;

    Change(CheckAndMutate operation) {
      this.operation = operation;
      Operations now = operations();
      this.named = now;
      this.id = now.begin(operation);
    }

    @Override
    public synchronized Message to(TabletLocation location) {
      return Message.of(
          RequestProto.newBuilder()
              .setCheckAndMutate(
                  OperationCodec.encode(
                      QueryCodec.encode(location.tablet(), location.epoch()),
                      Optional.of(id),
                      named.outstanding(),
                      Durability.HFLUSH, // METADATA's own log asks for more.
                      operation)));
    }

    @Override
    public synchronized boolean takeOtherId() {
      if (ended) {
        return false;
      }
      named.complete(id);
      named = otherOperations(named);
      id = named.begin(operation);
      return true;
    }

    /** It will not be sent again. */
    synchronized void end() {
      if (!ended) {
        ended = true;
        named.complete(id);
      }
    }
  }

  /** An answer changed by {@code convert}; cancelling the future stops further attempts. */
  public static <T> CompletableFuture<T> converted(
      CompletableFuture<Answer> sent, Function<Answer, T> convert) {
    CompletableFuture<T> converted = sent.thenApply(convert);
    converted.whenComplete(
        (value, failure) -> {
          if (converted.isCancelled()) {
            sent.cancel(false);
          }
        });
    return converted;
  }

  /** Abandons the requests in progress; the data plane and the lock service stay open. */
  @Override
  public void close() {
    locator.close();
  }

  /** One request and its attempts, which run one after another. */
  private final class Sending {
    private final RowRequest request;
    private final Attempts attempts; // Each attempt is handed over to the next by a future.
    private final CompletableFuture<Answer> result = new CompletableFuture<>();

    Sending(RowRequest request, Attempts attempts) {
      this.request = request;
      this.attempts = attempts;
    }

    void next() {
      if (!result.isDone()) { // Otherwise it was cancelled.
        step(
            () ->
                locator
                    .locate(request.table(), request.row(), attempts.deadline())
                    .whenComplete(this::located));
      }
    }

    private void located(TabletLocation location, Throwable failure) {
      step(
          () -> {
            if (failure != null) {
              decide(attempts.notSent(failure));
              return;
            }
            if (attempts.isTooLate()) {
              decide(attempts.notSent(SteleException.retryLater("its tablet was found too late")));
              return;
            }
            Message message = request.call().to(location);
            CompletableFuture<Response> answer =
                request.purpose().effect() == Effect.CHANGE
                    ? plane.call(
                        location.address(),
                        message.header(),
                        message.body(),
                        attempts.attemptTimeout())
                    : once(location, message, attempts.attemptTimeout());
            answer.whenComplete((response, lost) -> answered(location, response, lost));
          });
    }

    private void answered(TabletLocation location, Response response, Throwable lost) {
      step(
          () -> {
            Throwable failure = lost;
            if (failure == null) {
              try {
                result.complete(new Answer(response.check(), location));
                return;
              } catch (SteleException e) {
                failure = e;
              }
            }
            if (failure instanceof OperationForgottenException
                && !attempts.mayHaveBegun()
                && request.call().takeOtherId()) {
              failure = SteleException.retryLater(String.valueOf(failure.getMessage()));
            }
            Decision decision = attempts.sent(failure);
            if (decision instanceof Decision.Again again) {
              locator.doubt(location, again);
            }
            decide(decision);
          });
    }

    private void decide(Decision decision) {
      if (decision instanceof Decision.Again again) {
        runtime.after(again.pause(), this::next);
      } else {
        result.completeExceptionally(((Decision.End) decision).failure());
      }
    }

    /** Runs work; any exception ends the request, because nothing else would. */
    private void step(Runnable work) {
      try {
        work.run();
      } catch (RuntimeException e) {
        result.completeExceptionally(failure(e));
      } catch (Error e) {
        result.completeExceptionally(e);
      }
    }

    /** An earlier attempt at a change may have been applied: this must not look like a refusal. */
    private RuntimeException failure(RuntimeException unexpected) {
      return request.purpose().effect() == Effect.READ
          ? unexpected
          : SteleException.outcomeUnknown(
              request.purpose().what().get() + ": it may or may not have been applied", unexpected);
    }
  }
}
