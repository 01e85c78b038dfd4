package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Durability;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.Outstanding;
import io.stele.model.RowOperation;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A client of one tablet that nobody else writes to. It sends operations under ids, knows what each
 * must come to, and checks that the tablet is what those it has taken make it, in order: none that
 * was acknowledged is missing, none is there in part, none twice.
 *
 * <p>Used by one thread at a time.
 */
final class TabletClient {
  private static final long PATIENCE_SECONDS = 20;

  /** An operation under a number of its own in the tablet's sequence, if the tablet took it. */
  private static final class Sent {
    final RowOperation operation;
    final OperationId id;
    boolean answerLost;
    Mutation resolved;
    OperationResult expected;
    CompletableFuture<OperationResult> future = new CompletableFuture<>();

    Sent(RowOperation operation, OperationId id, boolean answerLost) {
      this.operation = operation;
      this.id = id;
      this.answerLost = answerLost;
    }

    boolean isAcknowledged() {
      return future.isDone() && !future.isCompletedExceptionally();
    }
  }

  private final long name;
  private final AtomicLong nowMicros;
  private final Durability durability;
  private final PlainModel durable; // After the first `counted` operations.
  private PlainModel queued; // After all that were sent.
  private long counted;
  private final List<Sent> pending = new ArrayList<>(); // Those above `counted`, in order.
  private long nextNumber = 1;
  private long operations;

  /**
   * A client of a tablet that has taken {@code counted} operations, whose outcome is {@code
   * durable}.
   */
  TabletClient(
      long name, AtomicLong nowMicros, Durability durability, PlainModel durable, long counted) {
    this.name = name;
    this.nowMicros = nowMicros;
    this.durability = durability;
    this.durable = durable;
    this.queued = durable.copy();
    this.counted = counted;
  }

  /** One that goes on for a part of the tablet, after {@link #check}. */
  TabletClient ofChild(long childName) {
    assertThat(pending).isEmpty();
    return new TabletClient(childName, nowMicros, durability, durable.copy(), counted);
  }

  /** How many operations were sent. */
  long operations() {
    return operations;
  }

  /** What the table holds once all is done that was sent. */
  PlainModel queued() {
    return queued;
  }

  /** Sends an operation, and does not wait. */
  void send(Tablet tablet, RowOperation operation, boolean answerLost) {
    nowMicros.addAndGet(10);
    operations++;
    Sent sent = new Sent(operation, new OperationId(name, 1, nextNumber++), answerLost);
    send(tablet, sent, firstIncomplete(sent));
  }

  /** Waits until the last operation sent has been answered, whatever the answer. */
  void awaitLast() {
    if (!pending.isEmpty()) {
      pending.get(pending.size() - 1).future.handle((result, failure) -> true).join();
    }
  }

  private void send(Tablet tablet, Sent sent, long firstIncomplete) {
    Optional<PlainOperations.Evaluated> evaluated =
        PlainOperations.evaluate(queued, sent.operation, nowMicros.get());
    CompletableFuture<OperationResult> future = tablet.apply(request(sent, firstIncomplete));
    if (evaluated.isEmpty()) {
      // Refused, once what it was refused for is durable: it takes no place in the order.
      return;
    }
    if (future.isCompletedExceptionally() && isKnown(future)) {
      return;
    }
    sent.future = future;
    sent.resolved = evaluated.get().mutation();
    sent.expected = evaluated.get().result();
    queued.apply(sent.resolved);
    pending.add(sent);
  }

  private OperationRequest request(Sent sent, long firstIncomplete) {
    return new OperationRequest(
        sent.operation, Optional.of(sent.id), Outstanding.from(firstIncomplete), durability);
  }

  private static boolean isKnown(CompletableFuture<OperationResult> failed) {
    try {
      failed.join();
      return false;
    } catch (CompletionException e) {
      assertThat(e.getCause()).isInstanceOf(SteleException.class);
      SteleException.Code code = ((SteleException) e.getCause()).code();
      assertThat(code).as("%s", e.getCause()).isNotEqualTo(SteleException.Code.CORRUPTION);
      return code != SteleException.Code.OUTCOME_UNKNOWN;
    }
  }

  private long firstIncomplete(Sent sent) {
    return pending.stream()
        .filter(one -> one.answerLost || !one.isAcknowledged())
        .mapToLong(one -> one.id.number())
        .min()
        .orElse(sent.id.number());
  }

  /** Waits until everything sent has been answered, whatever the answer. */
  void await() throws Exception {
    for (Sent sent : pending) {
      try {
        sent.future.handle((result, failure) -> true).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
      } catch (TimeoutException e) {
        throw new AssertionError("no answer to " + sent.operation, e);
      }
    }
  }

  /**
   * The tablet, in which nothing is in flight, holds what a prefix of the operations sent has made
   * of the table; those acknowledged are in it, with the results they must have, and those refused
   * are not. What is in it is durable.
   */
  int check(Tablet tablet) throws IOException {
    int survived = countSurvivors(tablet);
    checkRows(tablet);
    return survived;
  }

  private int countSurvivors(Tablet tablet) {
    int least = 0;
    int most = pending.size();
    for (int i = pending.size() - 1; i >= 0; i--) {
      Sent sent = pending.get(i);
      if (sent.isAcknowledged()) {
        least = Math.max(least, i + 1);
        assertThat(sent.future.join()).as("result of %s", sent.operation).isEqualTo(sent.expected);
      } else if (sent.future.isCompletedExceptionally() && isKnown(sent.future)) {
        most = i;
      }
    }
    int survived = (int) (tablet.readPoint() - counted);
    assertThat(survived).as("operations in the tablet, of those sent last").isBetween(least, most);
    for (Sent sent : pending.subList(0, survived)) {
      durable.apply(sent.resolved);
    }
    counted = tablet.readPoint();
    return survived;
  }

  /** As {@link #check}, of a tablet that has lost nothing; forgets what is done. */
  void checkAll(Tablet tablet) throws Exception {
    await();
    int survived = countSurvivors(tablet);
    assertThat(survived).isEqualTo(pending.size());
    pending.clear();
    checkRows(tablet);
  }

  /** The tablet's rows are those of the durable operations. */
  void checkRows(Tablet tablet) throws IOException {
    RowRange extent = tablet.extent();
    assertThat(tablet.read(ReadRequest.of(RowQuery.ALL)).rows())
        .isEqualTo(PlainQueries.rows(durable, RowQuery.ALL, extent, nowMicros.get()));
  }

  /** Fresh reads of a tablet that loses nothing meanwhile agree with all that was sent. */
  void checkQueued(Tablet tablet, RowQuery query) throws IOException {
    assertThat(tablet.read(ReadRequest.of(query)).rows())
        .isEqualTo(PlainQueries.rows(queued, query, tablet.extent(), nowMicros.get()));
  }

  /**
   * Tries again what it has no answer to, in the tablet opened anew: what had survived is answered
   * as it was, and not done again; the rest is done once.
   */
  void sendAgain(Tablet tablet) throws Exception {
    int survived = check(tablet);
    List<Sent> before = new ArrayList<>(pending);
    pending.clear();
    queued = durable.copy();
    long first = before.isEmpty() ? 0 : before.get(0).id.number();
    for (int i = 0; i < before.size(); i++) {
      Sent sent = before.get(i);
      if (i < survived && sent.isAcknowledged() && !sent.answerLost) {
        continue;
      }
      nowMicros.addAndGet(10);
      if (i < survived) {
        assertThat(answer(tablet, request(sent, first)))
            .as("%s, tried again", sent.operation)
            .isEqualTo(sent.expected);
      } else {
        send(tablet, sent, first);
        if (!pending.isEmpty() && pending.get(pending.size() - 1) == sent) {
          OperationResult result = sent.future.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
          assertThat(answer(tablet, request(sent, first))).isEqualTo(result);
        }
      }
    }
    checkAll(tablet);
  }

  private static OperationResult answer(Tablet tablet, OperationRequest request) throws Exception {
    return tablet.apply(request).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }
}
