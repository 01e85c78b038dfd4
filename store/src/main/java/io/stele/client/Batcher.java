package io.stele.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.Attempts;
import io.stele.metadata.Attempts.Decision;
import io.stele.metadata.Attempts.Effect;
import io.stele.metadata.Operations;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletLocation;
import io.stele.model.Bytes;
import io.stele.model.Durability;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.OperationSize;
import io.stele.model.Outstanding;
import io.stele.model.RowOperation;
import io.stele.model.SteleException;
import io.stele.runtime.Futures;
import io.stele.wire.Address;
import io.stele.wire.MutateBatch;
import io.stele.wire.OperationCodec;
import io.stele.wire.QueryCodec;
import io.stele.wire.Response;
import io.stele.wire.data.DataProtos.TabletProto;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

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
  /** The bytes of a full batch. */
  private static final int BATCH_BYTES = 1 << 20;

  /** The mutations of a full batch. */
  private static final int BATCH_MUTATIONS = 1000;

  /** How many batches may be under way to one server: one is applied while the next travels. */
  private static final int BATCHES_UNDER_WAY = 2;

  /** A mutation with less time left does not shorten the time that its batch has. */
  private static final Duration BATCH_TIMEOUT_MIN = Duration.ofMillis(500);

  /** What a request of its own costs, in bytes of a buffer. */
  private static final long SINGLE_BYTES = 4 << 10;

  private final Tablets tablets;
  private final TableRef table;

  @GuardedBy("this")
  private final Map<Destination, ServerQueue> queues = new HashMap<>();

  /** A mutation on its way. */
  private final class Pending {
    final Writer writer;
    final RowOperation operation;
    final OperationId id;
    final Durability durability;
    final long bytes;
    final Attempts attempts;
    final CompletableFuture<Void> done = new CompletableFuture<>();

    // Guarded by the batcher.
    Optional<TabletLocation> tablet = Optional.empty(); // Where it was last sent.
    Optional<ServerQueue> queue = Optional.empty(); // In which it waits.
    boolean expires; // Whether a timer removes it from a queue when its deadline is over.
    List<Pending> behind = List.of(); // Of its row, in the same batch.

    Pending(Writer writer, RowOperation operation, OperationId id, Durability durability) {
      this.writer = writer;
      this.operation = operation;
      this.id = id;
      this.durability = durability;
      this.bytes = bytes(operation);
      this.attempts =
          table.attempts(
              Effect.CHANGE_WITH_ID,
              () -> "changing row \"" + operation.row() + "\" of table " + table.name());
    }

    /** Whether it does not travel with others. */
    boolean isSingle() {
      return operation.kind() != RowOperation.Kind.MUTATION;
    }
  }

  /** A batch goes to one server and has ids of one client. */
  private record Destination(Address server, Operations operations) {}

  /** What waits for, and is under way to, one destination. Guarded by the batcher. */
  private static final class ServerQueue {
    final Destination destination;
    final Set<Pending> waiting = new LinkedHashSet<>();
    long waitingBytes;
    int underWay;
    boolean sending;

    ServerQueue(Destination destination) {
      this.destination = destination;
    }

    boolean isDue() {
      boolean full = waitingBytes >= BATCH_BYTES || waiting.size() >= BATCH_MUTATIONS;
      return !waiting.isEmpty() && (underWay == 0 || (full && underWay < BATCHES_UNDER_WAY));
    }

    void add(Pending pending) {
      pending.queue = Optional.of(this);
      waiting.add(pending);
      waitingBytes += pending.bytes;
    }

    void remove(Pending pending) {
      waiting.remove(pending);
      taken(pending);
    }

    private void taken(Pending pending) {
      pending.queue = Optional.empty();
      waitingBytes -= pending.bytes;
    }

    /**
     * Takes a batch out, the first mutation of each row: with it goes what waits behind it, where
     * there is room. Mutations whose deadline is over go to {@code late} instead.
     */
    List<Pending> nextBatch(List<Pending> late) {
      List<Pending> batch = new ArrayList<>();
      long bytes = 0;
      for (Iterator<Pending> all = waiting.iterator();
          all.hasNext() && batch.size() < BATCH_MUTATIONS; ) {
        Pending next = all.next();
        if (next.attempts.deadline().isOver()) {
          late.add(next);
        } else if (batch.isEmpty() || bytes + next.bytes <= BATCH_BYTES) {
          bytes += next.bytes;
          batch.add(next);
        } else {
          break;
        }
        all.remove();
        taken(next);
      }
      int count = batch.size();
      for (Pending first : batch) {
        if (count < BATCH_MUTATIONS && bytes < BATCH_BYTES) {
          first.behind =
              first.writer.takeBehind(first, BATCH_MUTATIONS - count, BATCH_BYTES - bytes);
          count += first.behind.size();
          for (Pending next : first.behind) {
            bytes += next.bytes;
          }
        }
      }
      return batch;
    }
  }

  /** A batcher without mutations yet. */
  Batcher(Tablets tablets, TableRef table) {
    this.tablets = tablets;
    this.table = table;
  }

  /**
   * Roughly the bytes of an operation on the wire; at least its bytes in memory. One that is sent
   * alone counts for what a request costs, so that a buffer does not have thousands under way.
   */
  static long bytes(RowOperation operation) {
    if (!(operation instanceof Mutation mutation)) {
      return SINGLE_BYTES + OperationSize.of(operation);
    }
    long bytes = 64L + mutation.row().length();
    for (Edit edit : mutation.edits()) {
      bytes += 64;
      if (edit instanceof Edit.Put put) {
        bytes += (long) put.qualifier().length() + put.value().length();
      }
    }
    return bytes;
  }

  /** A writer whose mutations have ids of {@code operations}. */
  Writer writer(Operations operations) {
    return new Writer(operations);
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
    private final Operations operations;
    private final TaskEnd end;

    @GuardedBy("this")
    private final Map<Bytes, ArrayDeque<Pending>> rows = new HashMap<>();

    private Writer(Operations operations) {
      this.operations = operations;
      this.end = new TaskEnd(tablets, table, operations);
    }

    /** What is to be done when everything was written. */
    TaskEnd end() {
      return end;
    }

    /** The table written to. */
    TableRef table() {
      return table;
    }

    /**
     * Sends a mutation: after those of its row that were submitted to this writer before.
     *
     * @param durability what it must have survived, at least, when it counts as applied
     * @return completes when it was applied, fails with a {@link SteleException} where not
     */
    CompletableFuture<Void> submit(RowOperation operation, Durability durability) {
      Pending pending;
      boolean first;
      synchronized (this) {
        pending = new Pending(this, operation, operations.begin(operation), durability);
        ArrayDeque<Pending> behind = rows.get(operation.row());
        first = behind == null;
        if (behind == null) {
          rows.put(operation.row(), new ArrayDeque<>(1));
        } else {
          behind.add(pending);
        }
      }
      if (first) {
        locate(pending);
      }
      return pending.done;
    }

    /** Takes out what may go together with {@code first}, which was taken before. */
    private synchronized List<Pending> takeBehind(Pending first, int countMax, long bytesMax) {
      ArrayDeque<Pending> queue = rows.getOrDefault(first.operation.row(), new ArrayDeque<>(0));
      List<Pending> behind = List.of();
      long bytes = 0;
      for (Pending next = queue.peek(); next != null; next = queue.peek()) {
        bytes += next.bytes;
        if (behind.size() == countMax
            || bytes > bytesMax
            || next.attempts.deadline().isOver()
            || next.isSingle()) {
          break;
        }
        if (behind.isEmpty()) {
          behind = new ArrayList<>();
        }
        behind.add(queue.remove());
      }
      return behind;
    }

    /** Puts mutations back before those that wait. */
    private synchronized void putBack(Bytes row, List<Pending> behind) {
      ArrayDeque<Pending> queue = rows.computeIfAbsent(row, none -> new ArrayDeque<>());
      for (int i = behind.size() - 1; i >= 0; i--) {
        queue.addFirst(behind.get(i));
      }
    }

    private synchronized Optional<Pending> next(Bytes row) {
      ArrayDeque<Pending> behind = Objects.requireNonNull(rows.get(row)); // While one is under way.
      if (behind.isEmpty()) {
        rows.remove(row);
      }
      return Optional.ofNullable(behind.poll());
    }
  }

  private void locate(Pending pending) {
    Optional<SteleException> refusal = pending.writer.operations.refusal();
    if (refusal.isPresent()) {
      fail(pending, refusal.get());
      return;
    }
    if (pending.isSingle()) {
      sendSingle(pending);
      return;
    }
    step(
        pending,
        () ->
            tablets
                .locate(table.id(), pending.operation.row(), pending.attempts.deadline())
                .whenComplete((tablet, failure) -> located(pending, tablet, failure)));
  }

  /** Sends an operation that does not travel with others; no other of its row is under way. */
  private void sendSingle(Pending pending) {
    step(
        pending,
        () ->
            tablets
                .send(
                    new SingleOperation(
                            table,
                            pending.operation,
                            pending.id,
                            pending.durability,
                            pending.writer.operations)
                        .request(),
                    pending.attempts.deadline())
                .whenComplete((answer, failure) -> answered(pending, answer, failure)));
  }

  private void answered(Pending pending, TabletAccess.Answer answer, Throwable failure) {
    Operations operations = pending.writer.operations;
    Optional<? extends Throwable> why = Optional.ofNullable(failure).map(Futures::cause);
    if (why.isEmpty()) {
      pending.writer.end().met(answer.location());
      operations.hear(OperationCodec.settled(answer.response().header()));
      why = operations.differs();
    }
    if (why.isEmpty()) {
      operations.complete(pending.id);
      pending.done.complete(null);
    } else {
      operations.fail(pending.id);
      pending.done.completeExceptionally(why.get());
    }
    goOn(pending.writer, pending.operation.row());
  }

  private void located(Pending pending, TabletLocation tablet, Throwable failure) {
    step(
        pending,
        () -> {
          if (failure == null) {
            enqueue(pending, tablet);
          } else {
            decide(pending, pending.attempts.notSent(failure));
          }
        });
  }

  private void enqueue(Pending pending, TabletLocation tablet) {
    Destination destination = new Destination(tablet.address(), pending.writer.operations);
    ServerQueue queue;
    synchronized (this) {
      pending.tablet = Optional.of(tablet);
      queue = queues.computeIfAbsent(destination, ServerQueue::new);
      queue.add(pending);
    }
    sendFrom(queue);
  }

  /** Sends what is due; one thread at a time may call this for a queue. */
  private void sendFrom(ServerQueue queue) {
    while (true) {
      List<Pending> batch;
      List<Pending> late = new ArrayList<>();
      synchronized (this) {
        if (queue.sending || !queue.isDue()) {
          if (!queue.sending && queue.underWay == 0) {
            queues.remove(queue.destination, queue); // Empty, or it would be due.
          }
          return;
        }
        queue.sending = true;
        batch = queue.nextBatch(late);
        queue.underWay += batch.isEmpty() ? 0 : 1;
      }
      try {
        late.forEach(pending -> expired(pending, queue.destination.server()));
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

  private void send(ServerQueue queue, List<Pending> batch) {
    CompletableFuture<Response> answer;
    try {
      MutateBatch request = new MutateBatch();
      Duration timeout = batch.get(0).attempts.attemptTimeout();
      for (Pending first : batch) {
        TabletLocation at = first.tablet.orElseThrow();
        TabletProto tablet = QueryCodec.encode(at.tablet(), at.epoch());
        timeout = shorter(timeout, add(first, tablet, request));
        for (Pending next : first.behind) {
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
              timeout.compareTo(BATCH_TIMEOUT_MIN) < 0 ? BATCH_TIMEOUT_MIN : timeout);
    } catch (RuntimeException | Error e) {
      answer = CompletableFuture.failedFuture(e);
    }
    answer.whenComplete((response, failure) -> receive(queue, batch, response, failure));
  }

  private static Duration add(Pending pending, TabletProto tablet, MutateBatch request) {
    request.add(tablet, Optional.of(pending.id), pending.durability, (Mutation) pending.operation);
    return pending.attempts.attemptTimeout();
  }

  private static Duration shorter(Duration a, Duration b) {
    return a.compareTo(b) <= 0 ? a : b;
  }

  private void receive(
      ServerQueue queue, List<Pending> batch, Response response, Throwable failure) {
    try {
      int count = batch.size();
      for (Pending first : batch) {
        count += first.behind.size();
      }
      Operations operations = queue.destination.operations();
      if (failure == null) {
        batch.get(0).writer.end().met(batch.get(0).tablet.orElseThrow());
        operations.hear(OperationCodec.settled(response.header()));
      }
      Throwable differs = operations.differs().orElse(null);
      List<Optional<? extends Throwable>> outcomes =
          outcomes(count, response, differs == null ? failure : differs);
      int from = 0;
      for (Pending first : batch) {
        int end = from + 1 + first.behind.size();
        List<Pending> behind = first.behind;
        try {
          finish(first, outcomes.subList(from, end));
        } catch (RuntimeException | Error e) {
          abandon(first, behind, e); // The others of the batch have outcomes all the same.
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

  /** Ends mutations of a row whose outcome could not be taken; the row goes on. */
  private void abandon(Pending first, List<Pending> behind, Throwable why) {
    endUnlessDone(first, why);
    behind.forEach(next -> endUnlessDone(next, why));
    goOn(first.writer, first.operation.row());
  }

  private static void endUnlessDone(Pending pending, Throwable why) {
    pending.writer.operations.fail(pending.id);
    pending.done.completeExceptionally(why);
  }

  private static List<Optional<? extends Throwable>> outcomes(
      int count, Response response, Throwable failure) {
    Throwable cause;
    try {
      if (failure == null) {
        return List.copyOf(OperationCodec.outcomes(response.check().header(), count));
      }
      cause = failure;
    } catch (IOException | RuntimeException | Error e) {
      cause = e;
    }
    return Collections.nCopies(count, Optional.of(cause));
  }

  /** Ends what has an outcome, and sends the rest of the row again. */
  private void finish(Pending first, List<Optional<? extends Throwable>> outcomes) {
    if (first.behind.isEmpty()) {
      finish(first, outcomes.get(0));
      return;
    }
    List<Pending> behind = first.behind;
    first.behind = List.of();
    List<Pending> again = new ArrayList<>();
    Optional<Decision.Again> how = Optional.empty();
    for (int i = 0; i < outcomes.size(); i++) {
      Pending pending = i == 0 ? first : behind.get(i - 1);
      Optional<Decision.Again> decision =
          outcome(pending, first.tablet.orElseThrow(), outcomes.get(i));
      if (decision.isPresent()) {
        again.add(pending);
        how = how.or(() -> decision);
      }
    }
    if (again.isEmpty()) {
      goOn(first.writer, first.operation.row());
    } else {
      first.writer.putBack(first.operation.row(), again.subList(1, again.size()));
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
      Pending pending, TabletLocation tablet, Optional<? extends Throwable> failure) {
    Throwable why;
    try {
      if (failure.isEmpty()) {
        pending.writer.operations.complete(pending.id);
        pending.done.complete(null);
        return Optional.empty();
      }
      Decision decision = pending.attempts.sent(failure.get());
      if (decision instanceof Decision.Again again) {
        if (again.elsewhere()) {
          tablets.invalidate(tablet);
        }
        return Optional.of(again);
      }
      why = ((Decision.End) decision).failure();
    } catch (RuntimeException | Error e) {
      why = e;
    }
    pending.writer.operations.fail(pending.id);
    pending.done.completeExceptionally(why);
    return Optional.empty();
  }

  /** Sends the next mutation of a row. */
  private void goOn(Writer writer, Bytes row) {
    writer.next(row).ifPresent(next -> table.runtime().after(Duration.ZERO, () -> locate(next)));
  }

  private void finish(Pending pending, Optional<? extends Throwable> failure) {
    step(
        pending,
        () -> {
          if (failure.isEmpty()) {
            pending.writer.operations.complete(pending.id);
            pending.done.complete(null);
            pending.writer.next(pending.operation.row()).ifPresent(this::locate);
            return;
          }
          Decision decision = pending.attempts.sent(failure.get());
          if (decision instanceof Decision.Again again && again.elsewhere()) {
            pending.tablet.ifPresent(tablets::invalidate);
          }
          decide(pending, decision);
        });
  }

  private void decide(Pending pending, Decision decision) {
    if (decision instanceof Decision.End end) {
      fail(pending, end.failure());
      return;
    }
    boolean firstFailure;
    synchronized (this) {
      firstFailure = !pending.expires;
      pending.expires = true;
    }
    if (firstFailure) { // From now on it may wait behind others that have more time.
      table.runtime().after(pending.attempts.deadline().remaining(), () -> expire(pending));
    }
    table.runtime().after(((Decision.Again) decision).pause(), () -> locate(pending));
  }

  private void expire(Pending pending) {
    Optional<ServerQueue> queue;
    synchronized (this) {
      queue = pending.queue;
      queue.ifPresent(waits -> waits.remove(pending));
    }
    queue.ifPresent(waited -> expired(pending, waited.destination.server()));
  }

  private void expired(Pending pending, Address server) {
    step(
        pending,
        () ->
            decide(
                pending,
                pending.attempts.notSent(
                    SteleException.retryLater("it waited behind other calls to " + server))));
  }

  private void fail(Pending pending, Throwable failure) {
    pending.writer.operations.fail(pending.id);
    pending.done.completeExceptionally(failure);
    // On a timer: if all that wait behind it failed at once, each would recurse into the next.
    goOn(pending.writer, pending.operation.row());
  }

  /** Any exception ends the mutation: nothing else would. */
  private void step(Pending pending, Runnable work) {
    try {
      work.run();
    } catch (RuntimeException | Error e) {
      if (!pending.done.isDone()) {
        fail(pending, e);
      }
    }
  }
}
