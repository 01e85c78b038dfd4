package io.stele.tablet;

import io.stele.format.OperationDigest;
import io.stele.log.LoggedOperation;
import io.stele.model.Bytes;
import io.stele.model.OperationId;
import io.stele.model.SteleException;
import io.stele.model.TaskProgress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;

/**
 * The operations of one client that a tablet remembers: all at or above {@link #firstIncomplete}
 * that it has applied, and those below that are in flight.
 *
 * <p>Not safe for use by several threads: it belongs to an {@link OperationWindow}.
 */
final class ClientOperations {
  /** The memory of a client without any operations, in bytes. */
  static final long CLIENT_BYTES = 150;

  /** The additional bytes of a client that has operations which are in no file. */
  private static final long RECENT_BYTES = 150;

  /** And while it has some that are in files. */
  private static final long WRITTEN_BYTES = 50;

  private static final long OPERATION_BYTES = 250;

  // What clients without operations share; unchanged.
  private static final RecentOperations NONE_RECENT = new RecentOperations();
  private static final WrittenOperations NONE_WRITTEN = new WrittenOperations();

  /** One operation: in flight while it has a future, done when it has a result. */
  static final class Operation {
    private final ClientOperations client;
    private LoggedOperation logged; // With the result as soon as that is known.
    private long sequence;
    private Optional<CompletableFuture<OperationResult>> future;

    Operation(
        ClientOperations client,
        LoggedOperation logged,
        Optional<CompletableFuture<OperationResult>> future) {
      this.client = client;
      this.logged = logged;
      this.future = future;
    }

    /** The client of the operation, which may be {@link #isForgotten}. */
    ClientOperations client() {
      return client;
    }

    long number() {
      return logged.id().number();
    }

    /** The digest of the operation in eight bytes. */
    long digest() {
      return OperationDigest.folded(logged.digest());
    }

    Bytes result() {
      return logged.result();
    }

    LoggedOperation logged(Bytes withResult) {
      return withResult.equals(logged.result()) ? logged : logged.with(withResult);
    }

    boolean isInFlight() {
      return future.isPresent();
    }

    void end() {
      future = Optional.empty();
    }

    private long bytes() {
      return OPERATION_BYTES + logged.digest().length() + logged.result().length();
    }
  }

  private RecentOperations recent = NONE_RECENT;
  private WrittenOperations written = NONE_WRITTEN;
  private long recentBytes;
  private long firstIncomplete = 1;
  private long highest;
  private long unwritten; // The highest sequence number of its operations; 0: all are in files.
  private long lastSeenMicros;
  private Optional<TaskMemory> task = Optional.empty();
  private boolean forgotten;

  /** The window has forgotten the client, and no longer counts its memory. */
  void forgotten() {
    forgotten = true;
  }

  boolean isForgotten() {
    return forgotten;
  }

  /** The client's memory, in bytes. */
  long bytes() {
    long ofTask = task.isPresent() ? task.get().bytes() : 0; // Asked for each operation.
    long ofRecent = recent == NONE_RECENT ? 0 : RECENT_BYTES + recentBytes;
    long ofWritten = written == NONE_WRITTEN ? 0 : WRITTEN_BYTES + written.bytes();
    return CLIENT_BYTES + ofRecent + ofWritten + ofTask;
  }

  /** How many of its bytes stay until a job ends: none or all. */
  long jobBytes() {
    return task.isPresent() && task.get().job().isPresent() ? bytes() : 0;
  }

  /** The remembered state of a task, if the client is one. */
  Optional<TaskMemory> task() {
    return task;
  }

  /** Marks the client as a task, and returns its state. */
  TaskMemory asTask() {
    if (task.isEmpty()) {
      task = Optional.of(new TaskMemory());
    }
    return task.get();
  }

  /** The job for which it works, if it is a task. */
  Optional<String> job() {
    return task.flatMap(TaskMemory::job);
  }

  /** Takes in how far the task has come: settled records are no longer kept one by one. */
  void recordSettled(TaskProgress said) {
    if (asTask().hear(said)) {
      forgetSettled();
    }
  }

  /** Forgets settled records, except those in flight and a sample. */
  void forgetSettled() {
    long below = settledBelow();
    recent.removeBelow(
        below,
        one -> {
          if (one.isInFlight()) {
            return false;
          }
          asTask().sample(one.number(), one.digest());
          recentBytes -= one.bytes();
          return true;
        });
    written.forEachBelow(below, (number, digest) -> asTask().sample(number, digest));
    written.forgetBelow(below);
  }

  /** All records with lower numbers are settled; 0 if this is no task. */
  private long settledBelow() {
    return task.isPresent() ? task.get().settled().below() : 0;
  }

  /** Marks an operation done; it is kept only if a retry may ask for it individually. */
  void done(Operation operation) {
    if (operation.number() < firstIncomplete) {
      remove(operation);
    } else if (operation.number() < settledBelow()) {
      asTask().sample(operation.number(), operation.digest());
      remove(operation);
    }
  }

  /** By how many bytes the memory drops once everything is in a file. */
  long unwrittenBytes() {
    return recent.stream()
        .mapToLong(one -> one.bytes() - WrittenOperations.bytesOf(one.result()))
        .sum();
  }

  /** Operations with lower numbers are refused. */
  long firstIncomplete() {
    return firstIncomplete;
  }

  /** When the client was last seen, by the tablet's own time. */
  long lastSeenMicros() {
    return lastSeenMicros;
  }

  void seen(long micros) {
    lastSeenMicros = Math.max(lastSeenMicros, micros);
  }

  /** A copy for the same client, without any operations. */
  ClientOperations reduced() {
    ClientOperations reduced = new ClientOperations();
    reduced.firstIncomplete = firstIncomplete;
    reduced.lastSeenMicros = lastSeenMicros;
    reduced.task = task.map(TaskMemory::withoutSample);
    return reduced;
  }

  /** Forgets what {@code live} has forgotten, and takes over when it was last seen. */
  void forgetAs(ClientOperations live) {
    lastSeenMicros = live.lastSeenMicros;
    forgetBelow(live.firstIncomplete);
    live.task.ifPresent(theirs -> recordSettled(new TaskProgress(theirs.job(), theirs.settled())));
  }

  /** The client has used {@code number}, and may have used all lower ones. */
  void used(long number) {
    highest = Math.max(highest, number);
  }

  WrittenOperations written() {
    return written;
  }

  /** Adds operations of a block, in ascending order of {@code numbers}. */
  void restore(long firstIncomplete, long[] numbers, long[] digests, Bytes[] results) {
    int count = numbers.length;
    addWritten(numbers, digests, results);
    used(count == 0 ? 0 : numbers[count - 1]);
    forgetBelow(firstIncomplete);
    written.forgetBelow(this.firstIncomplete);
    forgetSettled();
  }

  /** The operations queued under sequence numbers above {@code above}, up to {@code through}. */
  List<Operation> recent(long above, long through) {
    return recent.stream().filter(one -> one.sequence > above && one.sequence <= through).toList();
  }

  /** Whether nothing is remembered of it but the number below which its operations are refused. */
  boolean isReduced() {
    return recent.isEmpty() && written.size() == 0 && task.isEmpty();
  }

  /** Whether any of its operations, even a forgotten one, is in no file yet. */
  boolean hasRecent() {
    return unwritten > 0 || !recent.isEmpty();
  }

  boolean hasInFlight() {
    return recent.stream().anyMatch(Operation::isInFlight);
  }

  void put(Operation operation) {
    recent = recent == NONE_RECENT ? new RecentOperations() : recent;
    Optional<Operation> before = recent.put(operation);
    recentBytes += operation.bytes() - (before.isPresent() ? before.get().bytes() : 0);
    used(operation.number());
  }

  /** Adds an operation from the log, unless it is here already. */
  void replay(Operation operation, long sequence) {
    operation.sequence = sequence;
    unwritten = Math.max(unwritten, sequence);
    long number = operation.number();
    used(number);
    if (number < settledBelow()) {
      asTask().sample(number, operation.digest());
    } else if (number >= firstIncomplete && recent.get(number).isEmpty()) {
      put(operation);
    }
  }

  void remove(Operation operation) {
    if (recent.remove(operation)) {
      recentBytes -= operation.bytes();
      release();
    }
  }

  /** The operation is in the log's queue under {@code sequence}. */
  void queued(Operation operation, long sequence, Bytes result) {
    long before = operation.bytes();
    operation.sequence = sequence;
    unwritten = Math.max(unwritten, sequence);
    operation.logged = operation.logged(result);
    operation.logged.task().flatMap(TaskProgress::job).ifPresent(job -> asTask().jobIsLogged());
    if (recent.has(operation)) {
      recentBytes += operation.bytes() - before;
    }
  }

  /** Forgets the done operations below {@code number}. */
  void forgetBelow(long number) {
    if (number <= firstIncomplete) {
      return;
    }
    firstIncomplete = number;
    recent.removeBelow(
        number,
        one -> {
          boolean isDone = !one.isInFlight();
          recentBytes -= isDone ? one.bytes() : 0;
          return isDone;
        });
    written.forgetBelow(number);
    release();
  }

  /** Forgets all done operations: new ones have higher numbers than all before. */
  void forgetAll() {
    forgetBelow(highest + 1);
  }

  /** Forgets the older half of the done operations; false if there are none. */
  boolean forgetOlderHalf() {
    long[] done =
        LongStream.concat(
                recent.stream().filter(one -> !one.isInFlight()).mapToLong(Operation::number),
                written.numbers())
            .filter(number -> number >= firstIncomplete)
            .sorted()
            .toArray();
    if (done.length == 0) {
      return false;
    }
    forgetBelow(done[done.length / 2] + 1);
    return true;
  }

  /**
   * Records that the operations up to {@code through} are in an SSTable. Those in flight, which are
   * durable too, stay for whoever waits for them.
   */
  void moveToWritten(long through) {
    unwritten = unwritten <= through ? 0 : unwritten;
    List<Operation> moving = new ArrayList<>();
    recent.removeIf(
        one -> {
          if (one.sequence == 0 || one.sequence > through) {
            return false;
          }
          if (!one.isInFlight()) {
            moving.add(one);
            recentBytes -= one.bytes();
            return true;
          }
          if (one.number() >= firstIncomplete && one.number() >= settledBelow()) {
            moving.add(one); // A file that replaces the one that has it must have it too.
          }
          return false;
        });
    int count = moving.size();
    long[] numbers = new long[count];
    long[] digests = new long[count];
    Bytes[] results = new Bytes[count];
    for (int i = 0; i < count; i++) {
      Operation operation = moving.get(i);
      numbers[i] = operation.number();
      digests[i] = operation.digest();
      results[i] = operation.result();
    }
    addWritten(numbers, digests, results);
    release();
  }

  private void addWritten(long[] numbers, long[] digests, Bytes[] results) {
    if (numbers.length > 0) {
      written = written == NONE_WRITTEN ? new WrittenOperations() : written;
      written.addAll(numbers, digests, results, numbers.length);
    }
  }

  /** Gives back what a client without operations does not need. */
  private void release() {
    recent = recent.isEmpty() ? NONE_RECENT : recent;
    written = written.size() == 0 ? NONE_WRITTEN : written;
  }

  /** The present or future outcome of a known operation. */
  Optional<CompletableFuture<OperationResult>> outcome(OperationId id, Bytes digest) {
    Optional<Operation> recently = recent.get(id.number());
    if (recently.isPresent()) {
      Operation known = recently.get();
      checkSame(id, known.logged.digest().equals(digest));
      return Optional.of(
          known
              .future
              .map(CompletableFuture::copy)
              .orElseGet(() -> OperationResults.decode(id, known.result())));
    }
    int index = written.find(id.number());
    if (index >= 0) {
      checkSame(id, written.digest(index) == OperationDigest.folded(digest));
      return Optional.of(OperationResults.decode(id, written.result(index)));
    }
    return id.number() < settledBelow() ? Optional.of(settled(id, digest)) : Optional.empty();
  }

  private CompletableFuture<OperationResult> settled(OperationId id, Bytes digest) {
    checkSame(id, !asTask().isOther(id.number(), OperationDigest.folded(digest)));
    return CompletableFuture.completedFuture(
        new OperationResult(true, Optional.empty(), Optional.of(asTask().settled())));
  }

  private static void checkSame(OperationId id, boolean same) {
    if (!same) {
      throw SteleException.refused(
          "operation "
              + id
              + " was something else the first time: a retry must be the same to"
              + " the byte (a task that generates it must be deterministic: of its records for"
              + " this table, number "
              + id.number()
              + " differs)");
    }
  }
}
