package io.stele.metadata;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.format.OperationDigest;
import io.stele.model.OperationId;
import io.stele.model.Outstanding;
import io.stele.model.RowOperation;
import io.stele.model.Settled;
import io.stele.model.SteleException;
import io.stele.model.TaskProgress;
import io.stele.runtime.Durations;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.Watermark;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;

/**
 * Numbers the operations of one client, and keeps track of those that tablets must still remember.
 *
 * <p>Safe for use by any number of threads.
 */
public final class Operations {
  /** Operations that begin within this time of each other always have the same age. */
  private static final Duration SAME_AGE = Duration.ofMillis(10);

  /** Operations that begin further apart than this never have the same age. */
  private static final Duration SAME_AGE_MAX = Duration.ofSeconds(10);

  /** The older the oldest operation, the fewer begins are noted while it is under way. */
  private static final int SAME_AGE_PART = 64;

  private final OperationId first;
  private final Optional<String> job;
  private final Optional<TaskRecords> task;
  private final ProcessRuntime runtime;

  @GuardedBy("this")
  private final Watermark incomplete;

  /** The begin of operations that may be sent again, and of some before them; oldest first. */
  @GuardedBy("this")
  private final ArrayDeque<Begun> begun = new ArrayDeque<>();

  /**
   * When operations from {@code number} on began, by both clocks: a suspended machine stops one of
   * them.
   */
  private record Begun(long number, long nanos, long wallMillis) {
    Duration since(Begun earlier) {
      Duration counted = Duration.ofNanos(nanos - earlier.nanos);
      Duration shown = Duration.ofMillis(wallMillis - earlier.wallMillis);
      return Durations.max(counted, shown);
    }
  }

  /** A new client, named at random. */
  public Operations(ProcessRuntime runtime) {
    this(runtime, OperationId.first(runtime.random()), Optional.empty(), Optional.empty());
  }

  private Operations(
      ProcessRuntime runtime, OperationId first, Optional<String> job, Optional<TaskRecords> task) {
    this.runtime = runtime;
    this.first = first;
    this.job = job;
    this.task = task;
    this.incomplete = new Watermark(first.number());
  }

  /**
   * The records of a task, from {@code first} on, which another attempt may send again. Tablets are
   * never told to forget what was applied, only that they need not remember it record by record.
   *
   * @param job for which the task works: tablets remember its records as long as the job is live
   */
  public static Operations repeatable(
      ProcessRuntime runtime, OperationId first, Optional<String> job) {
    return new Operations(runtime, first, job, Optional.of(new TaskRecords(first.number())));
  }

  /**
   * A new id for {@code operation}. When the operation will not be sent again, {@link #complete} or
   * {@link #fail} the id.
   */
  public synchronized OperationId begin(RowOperation operation) {
    long number = incomplete.begin();
    if (task.isPresent()) {
      task.get().add(OperationDigest.folded(OperationDigest.of(operation)));
    } else {
      noteBegin(number);
    }
    return new OperationId(first.clientHigh(), first.clientLow(), number);
  }

  @GuardedBy("this")
  private void noteBegin(long number) {
    Begun now = now(number);
    if (begun.isEmpty() || now.since(begun.getLast()).compareTo(sameAge(now)) > 0) {
      begun.add(now);
    }
  }

  @GuardedBy("this")
  private Duration sameAge(Begun now) {
    Duration part = now.since(begun.getFirst()).dividedBy(SAME_AGE_PART);
    return Durations.max(SAME_AGE, Durations.min(part, SAME_AGE_MAX));
  }

  private Begun now(long number) {
    return new Begun(number, runtime.nanoTime(), runtime.wallClock().millis());
  }

  /** The operation was applied and will not be sent again: tablets may forget its result. */
  public synchronized void complete(OperationId id) {
    incomplete.end(id.number());
    long lowest = incomplete.lowest();
    task.ifPresent(records -> records.settle(lowest));
  }

  /** The operation will not be sent again, and was not applied, or its outcome is unknown. */
  public synchronized void fail(OperationId id) {
    task.ifPresent(TaskRecords::stop);
    incomplete.end(id.number());
  }

  /**
   * Takes in what tablets said with their answers; call it before these operations are completed.
   */
  public synchronized void hear(Iterable<Settled> answers) {
    task.ifPresent(records -> answers.forEach(records::hear));
  }

  /** Why a task must send nothing more. */
  public synchronized Optional<SteleException> refusal() {
    return task.flatMap(TaskRecords::refusal);
  }

  /** The failure of a task whose records differ from those of an earlier attempt. */
  public synchronized Optional<SteleException> differs() {
    return task.flatMap(TaskRecords::differs);
  }

  /**
   * The failure of a task that has written all its records but lacks some of an earlier attempt.
   */
  public synchronized Optional<SteleException> missing() {
    return task.flatMap(TaskRecords::missing);
  }

  /** The id of any operation that a task began; empty if this is not a task. */
  public Optional<OperationId> task() {
    return task.map(records -> first);
  }

  /** Whether no operation is under way. */
  public synchronized boolean isIdle() {
    return incomplete.isEmpty();
  }

  /** Which operations may be sent again. */
  public synchronized Outstanding outstanding() {
    if (task.isPresent()) {
      return new Outstanding(
          first.number(),
          Optional.empty(),
          Optional.of(new TaskProgress(job, task.get().settled())));
    }
    if (incomplete.isEmpty()) {
      begun.clear();
      return Outstanding.from(incomplete.next());
    }
    return new Outstanding(incomplete.lowest(), Optional.of(age()));
  }

  /** How long the oldest operation has been under way, or a little longer. */
  @GuardedBy("this")
  private Duration age() {
    Begun oldest = begun.remove();
    while (!begun.isEmpty() && begun.getFirst().number() <= incomplete.lowest()) {
      oldest = begun.remove();
    }
    begun.addFirst(oldest);
    return now(incomplete.next()).since(oldest);
  }
}
