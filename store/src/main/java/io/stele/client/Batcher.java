package io.stele.client;

import io.stele.metadata.Operations;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletLocation;
import io.stele.model.Bytes;
import io.stele.model.Durability;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.SteleException;
import io.stele.runtime.Futures;
import io.stele.wire.Address;
import io.stele.wire.MutateBatch;
import io.stele.wire.OperationCodec;
import io.stele.wire.QueryCodec;
import io.stele.wire.Response;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Sends mutations of one table, those for one tablet server together.
 *
 * <p>A mutation goes row queue -> tablet found -> the server's lane -> batch -> outcome. At most
 * one mutation of a row is past the row queue, so that those of a row stay in order however often
 * one is tried again. A lane sends what there is when it has nothing under way, so that a single
 * mutation does not wait, and otherwise when a batch is full or the last one came back: batches
 * grow with the load by themselves.
 *
 * <p>Safe for use by any number of threads; nothing here blocks. The lock is held only to move
 * mutations between queues, never while calling out.
 */
final class Batcher {
  /** A batch is full with so many bytes. */
  private static final int BATCH_BYTES = 1 << 20;

  /** A batch is full with so many mutations. */
  private static final int BATCH_MUTATIONS = 1000;

  /** How many batches may be under way to one server: one is applied while the next travels. */
  private static final int BATCHES_UNDER_WAY = 2;

  private final Tablets tablets;
  private final TableRef table;
  private final Operations operations;
  private final Map<Bytes, ArrayDeque<Pending>> rows = new HashMap<>();
  private final Map<Address, Lane> lanes = new HashMap<>();

  /** A mutation on its way. */
  private static final class Pending {
    final Mutation mutation;
    final OperationId id;
    final Durability durability;
    final long bytes;
    final Tries tries;
    final CompletableFuture<Void> done = new CompletableFuture<>();
    TabletLocation tablet;

    Pending(Mutation mutation, OperationId id, Durability durability, Tries tries) {
      this.mutation = mutation;
      this.id = id;
      this.durability = durability;
      this.bytes = bytes(mutation);
      this.tries = tries;
    }
  }

  /** What waits for, and is under way to, one server. Guarded by the batcher's lock. */
  private static final class Lane {
    final ArrayDeque<Pending> waiting = new ArrayDeque<>();
    long waitingBytes;
    int underWay;
    boolean sending;

    boolean isDue() {
      boolean full = waitingBytes >= BATCH_BYTES || waiting.size() >= BATCH_MUTATIONS;
      return !waiting.isEmpty() && (underWay == 0 || (full && underWay < BATCHES_UNDER_WAY));
    }

    List<Pending> nextBatch() {
      List<Pending> batch = new ArrayList<>();
      long bytes = 0;
      while (!waiting.isEmpty()
          && batch.size() < BATCH_MUTATIONS
          && (batch.isEmpty() || bytes + waiting.peek().bytes <= BATCH_BYTES)) {
        Pending next = waiting.poll();
        bytes += next.bytes;
        batch.add(next);
      }
      waitingBytes -= bytes;
      return batch;
    }
  }

  /**
   * A batcher without mutations yet.
   *
   * @param operations where the mutations' ids come from
   */
  Batcher(Tablets tablets, TableRef table, Operations operations) {
    this.tablets = tablets;
    this.table = table;
    this.operations = operations;
  }

  /** The table written to. */
  TableRef table() {
    return table;
  }

  /** About how much a mutation takes on the wire, and at least what it takes in memory. */
  static long bytes(Mutation mutation) {
    long bytes = 64 + mutation.row().length();
    for (Edit edit : mutation.edits()) {
      bytes += 64;
      if (edit instanceof Edit.Put put) {
        bytes += put.qualifier().length() + put.value().length();
      }
    }
    return bytes;
  }

  /**
   * Sends a mutation: after those of its row that were submitted before.
   *
   * @param durability what it must have survived, at least, when it counts as applied
   * @return completes when it was applied, fails with a {@link SteleException} where not
   */
  CompletableFuture<Void> submit(Mutation mutation, Durability durability) {
    Pending pending;
    boolean first;
    synchronized (this) { // Numbers ascend in the order of submission.
      pending = new Pending(mutation, operations.begin(), durability, new Tries(table));
      ArrayDeque<Pending> behind = rows.get(mutation.row());
      first = behind == null;
      if (first) {
        rows.put(mutation.row(), new ArrayDeque<>(1));
      } else {
        behind.add(pending);
      }
    }
    if (first) {
      locate(pending);
    }
    return pending.done;
  }

  private void locate(Pending pending) {
    tablets
        .locate(table.id(), pending.mutation.row(), pending.tries.deadline())
        .whenComplete(
            (tablet, failure) -> {
              if (failure == null) {
                enqueue(pending, tablet);
              } else {
                Throwable cause = Futures.cause(failure);
                decide(pending, pending.tries.afterLocating(cause), cause);
              }
            });
  }

  private void enqueue(Pending pending, TabletLocation tablet) {
    Lane lane;
    synchronized (this) {
      pending.tablet = tablet;
      lane = lanes.computeIfAbsent(tablet.address(), server -> new Lane());
      lane.waiting.add(pending);
      lane.waitingBytes += pending.bytes;
    }
    sendFrom(lane);
  }

  /** Sends whatever is due; one thread at a time does so for a lane. */
  private void sendFrom(Lane lane) {
    while (true) {
      List<Pending> batch;
      synchronized (this) {
        if (lane.sending || !lane.isDue()) {
          return;
        }
        lane.sending = true;
        lane.underWay++;
        batch = lane.nextBatch();
      }
      try {
        send(lane, batch);
      } finally {
        synchronized (this) {
          lane.sending = false;
        }
      }
    }
  }

  private void send(Lane lane, List<Pending> batch) {
    MutateBatch request = new MutateBatch();
    Pending oldest = batch.get(0);
    CompletableFuture<Response> answer;
    try {
      for (Pending pending : batch) {
        TabletLocation tablet = pending.tablet;
        request.add(
            QueryCodec.encode(tablet.tablet(), tablet.epoch()),
            Optional.of(pending.id),
            pending.durability,
            pending.mutation);
      }
      TabletAccess.Message message =
          new TabletAccess.Message(request.header(operations.firstIncomplete()), request.body());
      answer = tablets.once(oldest.tablet, message, oldest.tries.tryTimeout());
    } catch (RuntimeException e) {
      answer = CompletableFuture.failedFuture(e);
    }
    answer.whenComplete((response, failure) -> receive(lane, batch, response, failure));
  }

  private void receive(Lane lane, List<Pending> batch, Response response, Throwable failure) {
    synchronized (this) {
      lane.underWay--;
    }
    List<Optional<? extends Throwable>> outcomes = outcomes(batch.size(), response, failure);
    for (int i = 0; i < batch.size(); i++) {
      Pending pending = batch.get(i);
      if (outcomes.get(i).isEmpty()) {
        pending.done.complete(null);
        finish(pending);
      } else {
        Throwable cause = outcomes.get(i).get();
        Tries.Verdict verdict = pending.tries.afterSending(cause);
        if (verdict == Tries.Verdict.ELSEWHERE) {
          tablets.invalidate(pending.tablet);
        }
        decide(pending, verdict, cause);
      }
    }
    sendFrom(lane);
  }

  private static List<Optional<? extends Throwable>> outcomes(
      int count, Response response, Throwable failure) {
    Throwable cause;
    try {
      if (failure == null) {
        return List.copyOf(OperationCodec.outcomes(response.check().header(), count));
      }
      cause = Futures.cause(failure);
    } catch (IOException | RuntimeException e) {
      cause = e;
    }
    return Collections.nCopies(count, Optional.of(cause));
  }

  private void decide(Pending pending, Tries.Verdict verdict, Throwable cause) {
    String what = "changing row \"" + pending.mutation.row() + "\" of table " + table.name();
    if (verdict == Tries.Verdict.FAIL) {
      pending.done.completeExceptionally(pending.tries.failed(what, cause));
      finish(pending);
      return;
    }
    Duration pause = pending.tries.pause(table.runtime().random());
    if (pending.tries.hasTime(pause)) {
      table.runtime().after(pause, () -> locate(pending));
    } else {
      pending.done.completeExceptionally(pending.tries.timedOut(what, cause));
      finish(pending);
    }
  }

  /** The mutation has its outcome: the next of its row may go. */
  private void finish(Pending pending) {
    operations.complete(pending.id);
    Pending next;
    synchronized (this) {
      next = rows.get(pending.mutation.row()).poll();
      if (next == null) {
        rows.remove(pending.mutation.row());
      }
    }
    if (next != null) {
      locate(next);
    }
  }
}
