package io.stele.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.Attempts;
import io.stele.metadata.Attempts.Decision;
import io.stele.metadata.Operations;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletLocation;
import io.stele.model.Bytes;
import io.stele.model.Durability;
import io.stele.model.Mutation;
import io.stele.model.Outstanding;
import io.stele.model.RowOperation;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.runtime.Durations;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.Address;
import io.stele.wire.MutateBatch;
import io.stele.wire.OperationCodec;
import io.stele.wire.QueryCodec;
import io.stele.wire.Response;
import io.stele.wire.data.DataProtos.TabletProto;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;

/**
 * Sends all mutations of one table that one connection writes, those for one tablet server
 * together.
 *
 * <p>A mutation goes row queue ({@link Writer}) -> tablet found -> the server's queue -> batch ->
 * outcome. One that looks at the row first is sent alone, in its turn. A server's queue sends what
 * it has when no call to the server is under way, so that a single mutation does not wait, and
 * otherwise when a batch is full or the last one was answered: batches grow with the load. {@link
 * Attempts} decides whether a failed mutation is retried.
 *
 * <p>Every mutation gets an outcome, whatever is thrown on its way, and not long after its
 * deadline. Safe for use by any number of threads; nothing here blocks. The lock is held only to
 * move mutations between queues, never while calling out.
 */
final class Batcher {
  /** A mutation with less time left does not shorten the time that its batch has. */
  private static final Duration BATCH_TIMEOUT_MIN = Duration.ofMillis(500);

  /** At most this many time limits have their own source of operation ids. */
  private static final int SOURCES_OF_LIMITS = 16;

  private final ProcessRuntime runtime;
  private final Tablets tablets;
  private final TableId table;

  /** By the time limit in milliseconds, or minus the power of two at or below them. */
  private final ConcurrentMap<Long, Operations> operations = new ConcurrentHashMap<>();

  @GuardedBy("this")
  private final Map<ServerQueue.Destination, ServerQueue> queues = new HashMap<>();

  /** A batcher without mutations yet. */
  Batcher(ProcessRuntime runtime, Tablets tablets, TableId table) {
    this.runtime = runtime;
    this.tablets = tablets;
    this.table = table;
  }

  /**
   * Where operations with the time limit of {@code named}, which is the table of this batcher, get
   * their ids.
   *
   * <p>A tablet remembers an operation until no earlier one with an id from the same source can be
   * sent again. After that it refuses the operation, should it still arrive. Therefore tables have
   * sources of their own, and so have time limits. When the time of an operation is over, so is the
   * time of those that began before it with the same limit, or within {@link #BATCH_TIMEOUT_MIN}. A
   * write whose outcome is unknown because it hangs on its way can then not be applied after a
   * later one. Where a program uses very many limits, those of one power of two share a source:
   * there it takes as long as the longer limit.
   */
  Operations operations(TableRef named) {
    long millis = named.limit().length().toMillis();
    boolean ofItsOwn = operations.size() < SOURCES_OF_LIMITS || operations.containsKey(millis);
    return operations.computeIfAbsent(
        ofItsOwn ? millis : -Long.highestOneBit(millis), any -> new Operations(runtime));
  }

  /** A writer whose mutations have ids of {@link #operations}. */
  Writer writer(TableRef named) {
    return writer(named, operations(named));
  }

  /**
   * A writer whose mutations have ids of {@code operations}, and the time limit of {@code named},
   * which is the table of this batcher.
   */
  Writer writer(TableRef named, Operations operations) {
    return new Writer(named, operations);
  }

  /**
   * Submits mutations: those of one row are applied in the order of submission, whatever becomes of
   * each, and their operation ids ascend in that order.
   *
   * <p>What is past the row queue is in one batch: its first mutation, and perhaps some behind it.
   * The server applies those of a row in their order, and none after one that is to be sent again;
   * these go back to the head of the queue. Safe for use by any number of threads.
   */
  final class Writer {
    private final TableRef table;
    private final Operations operations;
    private final TaskEnd end;

    @GuardedBy("this")
    private final Map<Bytes, RowQueue> rows = new HashMap<>(); // Of which one is under way.

    private Writer(TableRef table, Operations operations) {
      this.table = table;
      this.operations = operations;
      this.end = new TaskEnd(tablets, table, operations);
    }

    /** What is to be done when everything was written. */
    TaskEnd end() {
      return end;
    }

    /** Where its mutations get their ids. */
    Operations operations() {
      return operations;
    }

    /** The table written to. */
    TableRef table() {
      return table;
    }

    /**
     * Sends a mutation, which begins now: after those of its row that were submitted to this writer
     * before.
     *
     * @param durability what it must have survived, at least, when it counts as applied
     * @return completes when it was applied, fails with a {@link SteleException} where not
     */
    CompletableFuture<Void> submit(RowOperation operation, Durability durability) {
      return submit(
          operation.row(),
          () -> BegunOperation.of(operation, operations, table.deadline()),
          durability);
    }

    /**
     * The same, of one that has begun. Those of one row must be submitted in the order of their
     * ids.
     */
    CompletableFuture<Void> submit(BegunOperation begun, Durability durability) {
      return submit(begun.operation().row(), () -> begun, durability);
    }

    private CompletableFuture<Void> submit(
        Bytes key, Supplier<BegunOperation> begin, Durability durability) {
      SubmittedOperation submitted;
      boolean first;
      synchronized (this) {
        RowQueue known = rows.get(key);
        first = known == null;
        RowQueue row = known == null ? new RowQueue(key) : known;
        submitted = new SubmittedOperation(this, row, begin.get(), durability);
        if (first) {
          rows.put(row.row, row);
        } else {
          row.add(submitted);
        }
      }
      if (first) {
        locate(submitted);
      }
      return submitted.done;
    }

    /** Takes out what may go together with {@code first}, which was taken before. */
    synchronized List<SubmittedOperation> takeBehind(
        SubmittedOperation first, int countMax, long bytesMax) {
      return first.row.take(countMax, bytesMax);
    }

    private synchronized void putBack(RowQueue row, List<SubmittedOperation> behind) {
      row.putBack(behind);
    }

    /** Takes out the next operation of a row, of which none is under way any more. */
    private synchronized Optional<SubmittedOperation> next(RowQueue row) {
      Optional<SubmittedOperation> next = row.next();
      if (next.isEmpty()) {
        rows.remove(row.row);
      }
      return next;
    }
  }

  private void locate(SubmittedOperation submitted) {
    Optional<SteleException> refusal = submitted.writer.operations.refusal();
    if (refusal.isPresent()) {
      fail(submitted, submitted.attempts.giveUp(refusal.get()));
      return;
    }
    if (submitted.isSingle()) {
      sendSingle(submitted);
      return;
    }
    step(
        submitted,
        () -> {
          CompletableFuture<TabletLocation> found =
              tablets.locate(table, submitted.operation.row(), submitted.attempts.deadline());
          if (!found.isDone()) {
            limit(submitted);
          }
          found.whenComplete((tablet, failure) -> located(submitted, tablet, failure));
        });
  }

  /** Sends an operation that has waited for another of its row. */
  private void sendNext(SubmittedOperation next) {
    try {
      limit(next);
    } catch (RuntimeException | Error e) {
      fail(next, e);
      return;
    }
    locate(next);
  }

  /** Sends an operation that does not travel with others; no other of its row is under way. */
  private void sendSingle(SubmittedOperation submitted) {
    step(
        submitted,
        () ->
            tablets
                .send(
                    new SingleOperation(
                            submitted.writer.table,
                            submitted.operation,
                            submitted.id,
                            submitted.durability,
                            submitted.writer.operations)
                        .request(),
                    submitted.attempts.deadline())
                .whenComplete((answer, failure) -> answered(submitted, answer, failure)));
  }

  private void answered(
      SubmittedOperation submitted, TabletAccess.Answer answer, Throwable failure) {
    Optional<? extends Throwable> why =
        failure == null
            ? hear(submitted, answer.location(), answer.response(), failure)
            : Optional.of(Futures.cause(failure));
    if (why.isEmpty()) {
      submitted.applied();
    } else {
      submitted.failed(why.get());
    }
    goOn(submitted);
  }

  private void located(SubmittedOperation submitted, TabletLocation tablet, Throwable failure) {
    step(
        submitted,
        () -> {
          if (failure == null) {
            enqueue(submitted, tablet);
          } else {
            decide(submitted, submitted.attempts.notSent(failure));
          }
        });
  }

  private void enqueue(SubmittedOperation submitted, TabletLocation tablet) {
    Writer writer = submitted.writer;
    ServerQueue.Destination destination =
        new ServerQueue.Destination(
            tablet.address(), writer.operations, writer.table.limit().length());
    ServerQueue queue;
    synchronized (this) {
      submitted.tablet = Optional.of(tablet);
      queue = queues.computeIfAbsent(destination, ServerQueue::new);
      queue.add(submitted);
    }
    if (submitted.expiry.isPresent() && submitted.attempts.deadline().isOver()) {
      expire(submitted); // Its timer may have run just before it was in the queue.
    }
    sendFrom(queue);
  }

  /** Sends what is due; one thread at a time may call this for a queue. */
  private void sendFrom(ServerQueue queue) {
    while (true) {
      List<SubmittedOperation> batch;
      List<SubmittedOperation> late = new ArrayList<>();
      synchronized (this) {
        if (queue.sending || !queue.isDue()) {
          if (!queue.sending && queue.underWay == 0) {
            queues.remove(queue.destination, queue); // Empty, or it would be due.
          }
          return;
        }
        batch = queue.nextBatch(late);
        queue.underWay += batch.isEmpty() ? 0 : 1;
        queue.sending = true;
      }
      try {
        late.forEach(submitted -> expired(submitted, queue.destination.server()));
        if (!batch.isEmpty()) {
          send(queue, batch);
        }
      } finally {
        synchronized (this) {
          queue.sending = false;
        }
      }
    }
  }

  private void send(ServerQueue queue, List<SubmittedOperation> batch) {
    CompletableFuture<Response> answer;
    try {
      MutateBatch request = new MutateBatch(bytes(batch));
      Duration timeout = batch.get(0).attempts.attemptTimeout();
      TabletLocation at = batch.get(0).tablet.orElseThrow();
      // Neighbours may be of different tablets.
      Map<TabletLocation, TabletProto> named = new HashMap<>();
      TabletProto tablet = named.computeIfAbsent(at, Batcher::name);
      for (SubmittedOperation first : batch) {
        if (!first.tablet.orElseThrow().equals(at)) {
          at = first.tablet.orElseThrow();
          tablet = named.computeIfAbsent(at, Batcher::name);
        }
        timeout = shorter(timeout, add(first, tablet, request));
        for (SubmittedOperation next : first.behind) {
          timeout = shorter(timeout, add(next, tablet, request));
        }
      }
      Outstanding outstanding = queue.destination.operations().outstanding();
      TabletAccess.Message message =
          new TabletAccess.Message(request.header(outstanding), request.body());
      answer =
          tablets.once(
              batch.get(0).tablet.orElseThrow(),
              message,
              Durations.max(timeout, BATCH_TIMEOUT_MIN));
    } catch (RuntimeException | Error e) {
      answer = CompletableFuture.failedFuture(e);
    }
    answer.whenComplete((response, failure) -> receive(queue, batch, response, failure));
  }

  private static TabletProto name(TabletLocation location) {
    return QueryCodec.encode(location.tablet(), location.epoch());
  }

  private static long bytes(List<SubmittedOperation> batch) {
    long bytes = 0;
    for (SubmittedOperation first : batch) {
      bytes += first.bytes;
      for (SubmittedOperation next : first.behind) {
        bytes += next.bytes;
      }
    }
    return bytes;
  }

  private static Duration add(
      SubmittedOperation submitted, TabletProto tablet, MutateBatch request) {
    request.add(
        tablet, Optional.of(submitted.id), submitted.durability, (Mutation) submitted.operation);
    return submitted.attempts.attemptTimeout();
  }

  private static Duration shorter(Duration a, Duration b) {
    return a.compareTo(b) <= 0 ? a : b;
  }

  private void receive(
      ServerQueue queue, List<SubmittedOperation> batch, Response response, Throwable failure) {
    try {
      int count = batch.size();
      for (SubmittedOperation first : batch) {
        count += first.behind.size();
      }
      Optional<? extends Throwable> why =
          hear(batch.get(0), batch.get(0).tablet.orElseThrow(), response, failure);
      List<Optional<? extends Throwable>> outcomes = outcomes(count, response, why);
      int from = 0;
      for (SubmittedOperation first : batch) {
        int end = from + 1 + first.behind.size();
        List<SubmittedOperation> behind = first.behind;
        try {
          finish(first, outcomes.subList(from, end));
        } catch (RuntimeException | Error e) {
          abandon(first, behind, e); // The rest of the batch still gets its outcomes.
        }
        from = end;
      }
    } finally {
      synchronized (this) {
        queue.underWay--;
      }
      sendFrom(queue);
    }
  }

  /** Takes what an answer says about the records of a task; why nothing else in it counts. */
  private static Optional<? extends Throwable> hear(
      SubmittedOperation first, TabletLocation at, Response response, Throwable failure) {
    Operations operations = first.writer.operations;
    try {
      if (failure == null) {
        first.writer.end().met(at);
        operations.hear(OperationCodec.settled(response.header()));
      }
    } catch (RuntimeException | Error e) {
      return Optional.of(e); // Each operation must have an outcome.
    }
    if (failure != null) {
      return Optional.of(failure);
    }
    return operations.differs().map(Batcher::unknown);
  }

  /** Nothing in the answer tells whether it was this attempt's record that was applied. */
  private static SteleException unknown(SteleException differs) {
    return SteleException.outcomeUnknown(String.valueOf(differs.getMessage()), differs);
  }

  /** Ends mutations of a row whose outcome could not be taken; the row goes on. */
  private void abandon(SubmittedOperation first, List<SubmittedOperation> behind, Throwable why) {
    first.failed(why);
    behind.forEach(next -> next.failed(why));
    goOn(first);
  }

  private static List<Optional<? extends Throwable>> outcomes(
      int count, Response response, Optional<? extends Throwable> failure) {
    Optional<? extends Throwable> cause = failure;
    if (cause.isEmpty()) {
      try {
        return List.copyOf(OperationCodec.outcomes(response.check().header(), count));
      } catch (IOException | RuntimeException | Error e) {
        cause = Optional.of(e);
      }
    }
    return Collections.nCopies(count, cause);
  }

  /** Ends what has an outcome, and sends the rest of the row again. */
  private void finish(SubmittedOperation first, List<Optional<? extends Throwable>> outcomes) {
    if (first.behind.isEmpty()) {
      finish(first, outcomes.get(0));
      return;
    }
    List<SubmittedOperation> behind = first.behind;
    first.behind = List.of();
    List<SubmittedOperation> again = new ArrayList<>();
    Optional<Decision.Again> how = Optional.empty();
    for (int i = 0; i < outcomes.size(); i++) {
      SubmittedOperation submitted = i == 0 ? first : behind.get(i - 1);
      Optional<Decision.Again> decision =
          outcome(submitted, first.tablet.orElseThrow(), outcomes.get(i));
      if (decision.isPresent()) {
        again.add(submitted);
        how = how.or(() -> decision);
      }
    }
    if (again.isEmpty()) {
      goOn(first);
    } else {
      first.writer.putBack(first.row, again.subList(1, again.size()));
      Decision decision = how.orElseThrow();
      step(again.get(0), () -> decide(again.get(0), decision));
    }
  }

  /**
   * Ends a mutation with its outcome.
   *
   * @return how to send it again, where that is not its outcome
   */
  private Optional<Decision.Again> outcome(
      SubmittedOperation submitted, TabletLocation tablet, Optional<? extends Throwable> failure) {
    Throwable why;
    try {
      if (failure.isEmpty()) {
        submitted.applied();
        return Optional.empty();
      }
      Decision decision = submitted.attempts.sent(failure.get());
      if (decision instanceof Decision.Again again) {
        tablets.failed(tablet, again);
        return Optional.of(again);
      }
      why = ((Decision.End) decision).failure();
    } catch (RuntimeException | Error e) {
      why = e;
    }
    submitted.failed(why);
    return Optional.empty();
  }

  /**
   * Sends the next operation of the row, from a timer: if all that wait in it failed at once, each
   * would recurse into the next.
   */
  private void goOn(SubmittedOperation ended) {
    ended
        .writer
        .next(ended.row)
        .ifPresent(next -> runtime.after(Duration.ZERO, () -> sendNext(next)));
  }

  private void finish(SubmittedOperation submitted, Optional<? extends Throwable> failure) {
    step(
        submitted,
        () -> {
          if (failure.isEmpty()) {
            submitted.applied();
            submitted.writer.next(submitted.row).ifPresent(this::sendNext);
            return;
          }
          Decision decision = submitted.attempts.sent(failure.get());
          if (decision instanceof Decision.Again again) {
            submitted.tablet.ifPresent(tablet -> tablets.failed(tablet, again));
          }
          decide(submitted, decision);
        });
  }

  private void decide(SubmittedOperation submitted, Decision decision) {
    if (decision instanceof Decision.End end) {
      fail(submitted, end.failure());
      return;
    }
    limit(submitted);
    runtime.after(((Decision.Again) decision).pause(), () -> locate(submitted));
  }

  /** From now on it may wait behind others that have more time. */
  private void limit(SubmittedOperation submitted) {
    if (submitted.expiry.isEmpty()) {
      submitted.expiry =
          Optional.of(
              runtime.after(submitted.attempts.deadline().remaining(), () -> expire(submitted)));
    }
  }

  private void expire(SubmittedOperation submitted) {
    Optional<ServerQueue> queue;
    synchronized (this) {
      queue = submitted.queue;
      queue.ifPresent(waits -> waits.remove(submitted)); // Once: of two that come, one finds it.
    }
    queue.ifPresent(waited -> expired(submitted, waited.destination.server()));
  }

  private void expired(SubmittedOperation submitted, Address server) {
    step(
        submitted,
        () ->
            decide(
                submitted,
                submitted.attempts.notSent(
                    SteleException.retryLater("it waited behind other calls to " + server))));
  }

  private void fail(SubmittedOperation submitted, Throwable failure) {
    submitted.failed(failure);
    goOn(submitted);
  }

  /** Any exception ends the mutation: nothing else would. If it was sent, it may be applied. */
  private void step(SubmittedOperation submitted, Runnable work) {
    try {
      work.run();
    } catch (RuntimeException | Error e) {
      if (!submitted.done.isDone()) {
        fail(submitted, submitted.attempts.giveUp(e));
      }
    }
  }
}
