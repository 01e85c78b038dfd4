package io.stele.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.Attempts;
import io.stele.metadata.Attempts.Decision;
import io.stele.metadata.Operations;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletLocation;
import io.stele.model.Bytes;
import io.stele.model.Durability;
import io.stele.model.RowOperation;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.Address;
import io.stele.wire.OperationCodec;
import io.stele.wire.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Writes all mutations of one table that one connection writes: decides, for each, when it is sent,
 * and whether again.
 *
 * <p>A mutation goes row queue ({@link Writer}) -> tablet found -> {@link BatchSender} -> outcome.
 * One that looks at the row first is sent alone, in its turn. {@link Attempts} decides whether a
 * failed mutation is retried.
 *
 * <p>Every mutation gets an outcome, whatever is thrown on its way, and not long after its
 * deadline. Safe for use by any number of threads; nothing here blocks.
 */
final class Batcher implements BatchSender.Outcomes {
  /** At most this many time limits have their own source of operation ids. */
  private static final int SOURCES_OF_LIMITS = 16;

  private final ProcessRuntime runtime;
  private final Tablets tablets;
  private final TableId table;

  /**
   * Sources of operation ids by time limit in milliseconds; a source that limits share has minus
   * their common power of two as its key.
   */
  private final ConcurrentMap<Long, Operations> operations = new ConcurrentHashMap<>();

  private final BatchSender sender;

  private final AtomicInteger kept = new AtomicInteger(); // Writers.

  /** A batcher without mutations yet. */
  Batcher(ProcessRuntime runtime, Tablets tablets, TableId table) {
    this.runtime = runtime;
    this.tablets = tablets;
    this.table = table;
    this.sender = new BatchSender(tablets, this);
  }

  /**
   * Where operations with the time limit of {@code named}, which is the table of this batcher, get
   * their ids.
   *
   * <p>A tablet remembers an operation until no earlier one with an id from the same source can be
   * sent again. After that it refuses the operation, should it still arrive. Therefore tables have
   * sources of their own, and so have time limits. When the time of an operation is over, so is the
   * time of those that began before it with the same limit, or within {@link
   * BatchSender#BATCH_TIMEOUT_MIN}. A write whose outcome is unknown because it hangs on its way
   * can then not be applied after a later one. Where a program uses very many limits, those of one
   * power of two share a source: there it takes as long as the longer limit.
   */
  Operations operations(TableRef named) {
    long millis = named.limit().length().toMillis();
    boolean ofItsOwn = operations.size() < SOURCES_OF_LIMITS || operations.containsKey(millis);
    return operations.computeIfAbsent(
        ofItsOwn ? millis : -Long.highestOneBit(millis), any -> new Operations(runtime));
  }

  /**
   * Whether none of the operations that got their ids here may be sent again, and no writer is kept
   * for further ones.
   */
  boolean isIdle() {
    return kept.get() == 0 && operations.values().stream().allMatch(Operations::isIdle);
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
   * <p>What is past the row queue is in one batch: its first mutation, and perhaps followers. The
   * server applies those of a row in their order, and none after one that is to be sent again;
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

    /**
     * Says that this writer is used for more than one call, until {@link #release}: others who
     * write to the table meanwhile get their ids from the same source.
     */
    void keep() {
      kept.incrementAndGet();
    }

    /** Ends {@link #keep}. */
    void release() {
      kept.decrementAndGet();
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
     * Like {@link #submit(RowOperation, Durability)}, for an operation that has begun. Operations
     * on one row must be submitted in the order of their ids.
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

    /**
     * Takes in what an answer says about the records of a task.
     *
     * @return why nothing else in the answer counts; empty: it does
     */
    Optional<? extends Throwable> learnSettled(
        TabletLocation at, Response response, Throwable failure) {
      if (failure != null) {
        return Optional.of(failure);
      }
      try {
        end.met(at);
        operations.hear(OperationCodec.settled(response.header()));
      } catch (RuntimeException | Error e) {
        return Optional.of(e); // Each operation must have an outcome.
      }
      return operations.differs().map(Batcher::unknown);
    }

    /** Takes out what may go together with {@code first}, which was taken before. */
    synchronized List<SubmittedOperation> takeFollowers(
        SubmittedOperation first, int countMax, long bytesMax) {
      return first.row.take(countMax, bytesMax);
    }

    private synchronized void putBack(RowQueue row, List<SubmittedOperation> followers) {
      row.putBack(followers);
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
    step(
        submitted,
        () -> {
          Optional<? extends Throwable> why = Optional.ofNullable(failure).map(Futures::cause);
          if (why.isEmpty()) {
            submitted.attempts.doubted(); // It was applied, whatever is thrown from here on.
            why = submitted.writer.learnSettled(answer.location(), answer.response(), failure);
          }
          if (why.isEmpty()) {
            submitted.applied();
          } else {
            submitted.failed(why.get());
          }
          sendNextSoon(submitted);
        });
  }

  private void located(SubmittedOperation submitted, TabletLocation tablet, Throwable failure) {
    step(
        submitted,
        () -> {
          if (failure == null) {
            sender.add(submitted, tablet);
          } else {
            decide(submitted, submitted.attempts.notSent(failure));
          }
        });
  }

  /** Nothing in the answer tells whether it was this attempt's record that was applied. */
  private static SteleException unknown(SteleException differs) {
    return SteleException.outcomeUnknown(String.valueOf(differs.getMessage()), differs);
  }

  @Override
  public void sent(SubmittedOperation first, List<Optional<? extends Throwable>> failures) {
    List<SubmittedOperation> followers = first.followers;
    try {
      finish(first, failures);
    } catch (RuntimeException | Error e) {
      abandon(first, followers, e);
    }
  }

  /** Ends mutations of a row whose outcome could not be taken; the row goes on. */
  private void abandon(
      SubmittedOperation first, List<SubmittedOperation> followers, Throwable why) {
    first.failed(why);
    followers.forEach(follower -> follower.failed(why));
    sendNextSoon(first);
  }

  /** Ends what has an outcome, and sends the rest of the row again. */
  private void finish(SubmittedOperation first, List<Optional<? extends Throwable>> failures) {
    if (first.followers.isEmpty()) {
      finish(first, failures.get(0));
      return;
    }
    List<SubmittedOperation> followers = first.followers;
    first.followers = List.of();
    List<SubmittedOperation> again = new ArrayList<>();
    Optional<Decision.Again> how = Optional.empty();
    for (int i = 0; i < failures.size(); i++) {
      SubmittedOperation submitted = i == 0 ? first : followers.get(i - 1);
      Optional<Decision.Again> decision =
          outcome(submitted, first.tablet.orElseThrow(), failures.get(i));
      if (decision.isPresent()) {
        again.add(submitted);
        how = how.or(() -> decision);
      }
    }
    if (again.isEmpty()) {
      sendNextSoon(first);
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
        succeed(submitted);
        return Optional.empty();
      }
      Decision decision = submitted.attempts.sent(failure.get());
      if (decision instanceof Decision.Again again) {
        tablets.failed(tablet, again);
        return Optional.of(again);
      }
      why = ((Decision.End) decision).failure();
    } catch (RuntimeException | Error e) {
      why = submitted.attempts.giveUp(e);
    }
    submitted.failed(why);
    return Optional.empty();
  }

  /** The answer says that the mutation was applied. That holds even if this throws. */
  private static void succeed(SubmittedOperation submitted) {
    submitted.attempts.doubted();
    submitted.applied();
  }

  /**
   * Sends the next operation of the row, from a timer: if all that wait in it failed at once, each
   * would recurse into the next.
   */
  private void sendNextSoon(SubmittedOperation ended) {
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
            succeed(submitted);
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
              runtime.after(
                  submitted.attempts.deadline().remaining(), () -> sender.expire(submitted)));
    }
  }

  @Override
  public void notSent(SubmittedOperation late, Address server) {
    step(
        late,
        () ->
            decide(
                late,
                late.attempts.notSent(
                    SteleException.retryLater(
                        "its time was over before it left the queue of calls to " + server))));
  }

  private void fail(SubmittedOperation submitted, Throwable failure) {
    submitted.failed(failure);
    sendNextSoon(submitted);
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
