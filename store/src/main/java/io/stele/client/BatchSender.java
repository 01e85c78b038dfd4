package io.stele.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletLocation;
import io.stele.model.Mutation;
import io.stele.model.Outstanding;
import io.stele.runtime.Durations;
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

/**
 * Sends mutations in batches: those that wait for one tablet server together.
 *
 * <p>A server's queue sends what it has when no call to the server is under way, so that a single
 * mutation does not wait, and otherwise when a batch is full or the last one was answered: batches
 * grow with the load. What became of each mutation is for the {@link Batcher}, which also decides
 * whether to send it again.
 *
 * <p>Every mutation added is handed back once, whatever is thrown on its way. Safe for use by any
 * number of threads; nothing here blocks. The lock is held only to move mutations between queues,
 * never while calling out.
 */
final class BatchSender {
  /** A mutation with less time left does not shorten the time that its batch has. */
  static final Duration BATCH_TIMEOUT_MIN = Duration.ofMillis(500);

  private final Tablets tablets;
  private final Outcomes outcomes;

  @GuardedBy("this")
  private final Map<ServerQueue.Destination, ServerQueue> queues = new HashMap<>();

  /** Takes what became of mutations. None of these calls comes while a lock is held. */
  interface Outcomes {
    /**
     * A mutation and its followers were sent together.
     *
     * @param failures why each was not applied, or why that is not known; empty: it was
     */
    void sent(SubmittedOperation first, List<Optional<? extends Throwable>> failures);

    /** The deadline of a mutation was over before it was sent. */
    void notSent(SubmittedOperation late, Address server);
  }

  BatchSender(Tablets tablets, Outcomes outcomes) {
    this.tablets = tablets;
    this.outcomes = outcomes;
  }

  /** Sends a mutation, the first of its row, to the server of {@code tablet}. */
  void add(SubmittedOperation submitted, TabletLocation tablet) {
    Batcher.Writer writer = submitted.writer;
    ServerQueue.Destination destination =
        new ServerQueue.Destination(
            tablet.address(), writer.operations(), writer.table().limit().length());
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

  /** Takes a mutation out, whose deadline is over; does nothing where it does not wait here. */
  void expire(SubmittedOperation submitted) {
    Optional<ServerQueue> queue;
    synchronized (this) {
      queue = submitted.queue;
      queue.ifPresent(waits -> waits.remove(submitted)); // Once: of two that come, one finds it.
    }
    queue.ifPresent(waited -> outcomes.notSent(submitted, waited.destination.server()));
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
        late.forEach(submitted -> outcomes.notSent(submitted, queue.destination.server()));
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
      TabletProto tablet = named.computeIfAbsent(at, BatchSender::name);
      for (SubmittedOperation first : batch) {
        if (!first.tablet.orElseThrow().equals(at)) {
          at = first.tablet.orElseThrow();
          tablet = named.computeIfAbsent(at, BatchSender::name);
        }
        timeout = Durations.min(timeout, add(first, tablet, request));
        for (SubmittedOperation follower : first.followers) {
          timeout = Durations.min(timeout, add(follower, tablet, request));
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
      for (SubmittedOperation follower : first.followers) {
        bytes += follower.bytes;
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

  private void receive(
      ServerQueue queue, List<SubmittedOperation> batch, Response response, Throwable failure) {
    try {
      int count = batch.size();
      for (SubmittedOperation first : batch) {
        count += first.followers.size();
      }
      SubmittedOperation one = batch.get(0); // All are of one writer's source of ids.
      Optional<? extends Throwable> why =
          one.writer.learnSettled(one.tablet.orElseThrow(), response, failure);
      List<Optional<? extends Throwable>> failures = failures(count, response, why);
      int from = 0;
      for (SubmittedOperation first : batch) {
        int end = from + 1 + first.followers.size();
        outcomes.sent(first, failures.subList(from, end));
        from = end;
      }
    } finally {
      synchronized (this) {
        queue.underWay--;
      }
      sendFrom(queue);
    }
  }

  private static List<Optional<? extends Throwable>> failures(
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
}
