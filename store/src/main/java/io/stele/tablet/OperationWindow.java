package io.stele.tablet;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.format.MalformedException;
import io.stele.log.LoggedOperation;
import io.stele.model.Bytes;
import io.stele.model.OperationForgottenException;
import io.stele.model.OperationId;
import io.stele.model.Outstanding;
import io.stele.model.SteleException;
import io.stele.model.TaskProgress;
import io.stele.runtime.ProcessRuntime;
import io.stele.tablet.ClientOperations.Operation;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The operations of its clients that a tablet remembers, so that a retry is applied only once. This
 * is the scheme of RIFL (Lee et al., SOSP 2015), in which the client says which operations may be
 * forgotten.
 *
 * <p>For each client it keeps the lowest number that may still be retried. It refuses operations
 * below that number, and knows every operation at or above it that this tablet has applied, with
 * its result. A client that was silent for longer than the window is reduced to a number above all
 * that it ever sent here. After sixteen windows it is forgotten, and everything it sent lies before
 * the <em>horizon</em>.
 *
 * <p><b>Time</b> is the tablet's own ({@link TabletTime}). An unknown client says how long its
 * operations have been in progress. If that is less than the time since the horizon, none of them
 * can have been applied here and forgotten. Otherwise they are refused.
 *
 * <p>An operation is <em>recent</em> until a minor compaction has written it to an SSTable's block,
 * and <em>written</em> from then on. Each block has the operations that were recent when the block
 * was written: the blocks of a tablet's files and its log together have everything that it
 * remembers.
 *
 * <p><b>Memory</b> is bounded: {@link OperationRoom} says what is forgotten to make room, and when
 * a new operation is refused because there is none.
 *
 * <p><b>Tasks</b> say with each request which of their records are settled, so that these need not
 * be remembered one by one ({@link TaskMemory}). The writes of a job's tasks are remembered until
 * the job is over, not for a fixed time. So an unknown task of a live job is a new one, if the job
 * was found to be live after this window was opened, and nothing of the job was forgotten since:
 * {@link #admit} records that.
 *
 * <p>A merged tablet knows the operations of both its predecessors. A client may be known from one
 * of them and forgotten by the other. So even a known client must have begun a new operation after
 * the merged horizon.
 *
 * <p>Safe for use by any number of threads.
 */
final class OperationWindow {
  /**
   * Operations that another process may have sent can have been in progress for at most this long.
   */
  private static final int WINDOWS_IF_REPEATABLE = OperationRoom.WINDOWS_KEPT / 2;

  private static final String SILENT = "its client was silent, or has older ones in progress,";

  /** The result of {@link #begin}: a new operation, or a known one and its outcome. */
  record Begun(Operation operation, Optional<CompletableFuture<OperationResult>> known) {}

  private final ProcessRuntime runtime;
  private final Duration window;
  private final long windowMicros;

  @GuardedBy("this")
  private final RememberedClients clients;

  @GuardedBy("this")
  private final AdmittedJobs admitted = new AdmittedJobs();

  @GuardedBy("this")
  private final TabletTime time;

  @GuardedBy("this")
  private final OperationRoom room;

  /** The empty window of a new tablet; close it. */
  OperationWindow(ProcessRuntime runtime, Duration window, OperationBudget budget) {
    this.runtime = runtime;
    this.window = window;
    this.windowMicros = TimeUnit.MICROSECONDS.convert(window);
    this.clients = new RememberedClients(budget);
    this.time = new TabletTime(runtime, OperationRoom.silentMinMicros(windowMicros) / 2);
    this.room = new OperationRoom(clients, time, windowMicros);
  }

  /** An empty window of the same length that no budget counts. */
  OperationWindow ofSameLength() {
    return new OperationWindow(runtime, window, OperationBudget.unlimited());
  }

  /**
   * Begins an operation, or finds the original operation if this is a retry.
   *
   * @param future completed by the caller, if the operation is new
   * @throws SteleException REFUSED if the id may be older than what is remembered, or belongs to
   *     another operation; RETRY_LATER if there is no room to remember another operation
   */
  synchronized Begun begin(
      OperationId id,
      Outstanding outstanding,
      Bytes digest,
      CompletableFuture<OperationResult> future) {
    long firstIncomplete = outstanding.firstIncomplete();
    if (firstIncomplete > id.number()) {
      throw SteleException.refused(
          "operation "
              + id
              + " is below "
              + firstIncomplete
              + ", the oldest that its client says it may still retry");
    }
    Optional<String> job = outstanding.task().flatMap(TaskProgress::job);
    job.ifPresent(admitted::check);
    OperationRoom.Owner owner =
        job.isPresent() ? OperationRoom.Owner.JOB : OperationRoom.Owner.CLIENT;
    ClientName name = ClientName.of(id);
    Optional<ClientOperations> remembered = clients.find(name);
    if (remembered.isEmpty()) {
      if (job.isEmpty() && time.mayBeForgotten(() -> ageMicros(outstanding))) {
        throw tooOld(id, SILENT);
      }
      if (!room.makeFor(owner)) {
        throw room.full();
      }
    }
    ClientOperations client = remembered.isPresent() ? remembered.get() : clients.client(name);
    client.seen(time.nowMicros());
    if (outstanding.task().isPresent()) {
      recordSettled(id, client, outstanding.task().get());
    }
    clients.change(client, one -> one.forgetBelow(firstIncomplete));
    Optional<CompletableFuture<OperationResult>> known = client.outcome(id, digest);
    LoggedOperation toLog =
        new LoggedOperation(
            id, firstIncomplete, digest, Bytes.EMPTY, toLog(client, outstanding.task()));
    Operation operation = new Operation(client, toLog, Optional.of(future));
    if (known.isPresent()) {
      return new Begun(operation, known);
    }
    if (job.isEmpty() && time.mayBeKnownInPart(() -> ageMicros(outstanding))) {
      throw tooOld(id, SILENT);
    }
    checkNotBelow(id, client);
    boolean hasOwnRoom = client.isReduced() && job.isEmpty();
    if (!room.makeFor(owner) && !hasOwnRoom) {
      throw room.full();
    }
    checkNotBelow(id, client); // Making room may have forgotten some of its operations.
    clients.change(client, one -> one.put(operation));
    return new Begun(operation, Optional.empty());
  }

  @GuardedBy("this")
  private void recordSettled(OperationId id, ClientOperations client, TaskProgress said) {
    if (contradicts(client, said)) {
      throw SteleException.refused(
          "operation "
              + id
              + " is of a task whose attempts differ: of its records for this table one with a"
              + " number below "
              + said.settled().below()
              + " was another before. A task must write the same records in the same order");
    }
    clients.change(client, one -> one.recordSettled(said));
  }

  private static boolean contradicts(ClientOperations client, TaskProgress said) {
    return client.task().map(task -> task.contradicts(said.settled())).orElse(false);
  }

  /** What the log must record about a task: its job, but only until the log has it. */
  private static Optional<TaskProgress> toLog(
      ClientOperations client, Optional<TaskProgress> said) {
    return said.map(
        task ->
            client.asTask().isJobLogged()
                ? new TaskProgress(Optional.empty(), task.settled())
                : task);
  }

  /** Whether tasks of a job may {@link #begin} operations here. */
  synchronized boolean admits(String job) {
    return admitted.has(job);
  }

  /** How many jobs have ended here, for {@link #admit}. */
  synchronized long jobsEnded() {
    return admitted.ended();
  }

  /**
   * Records that the job was found to be live: its tasks may begin operations.
   *
   * @param before the result of {@link #jobsEnded} before the job was looked up; if a job has ended
   *     since, nothing happens
   */
  synchronized void admit(String job, long before) {
    admitted.admit(job, before);
  }

  /** Ends a job: forgets what its tasks wrote. */
  synchronized void endJob(String job) {
    admitted.end(job);
    for (Map.Entry<ClientName, ClientOperations> one : clients.inOrder()) {
      if (one.getValue().job().equals(Optional.of(job))) {
        clients.remove(one.getKey(), one.getValue());
      }
    }
  }

  /** The jobs about which something is remembered here. */
  synchronized Set<String> jobs() {
    Set<String> jobs = clients.jobs();
    jobs.addAll(admitted.names());
    return jobs;
  }

  /** Records how far a task has come, without an operation. */
  synchronized void settle(OperationId task, TaskProgress said) {
    Optional<ClientOperations> known = clients.find(ClientName.of(task));
    if (known.isPresent() && !contradicts(known.get(), said)) {
      clients.change(known.get(), one -> one.recordSettled(said));
    }
  }

  private void checkNotBelow(OperationId id, ClientOperations client) {
    if (id.number() < client.firstIncomplete()) {
      throw tooOld(id, "its client had said that it would not be tried again, or was silent");
    }
  }

  /** For how long a client's operations may have been in progress. */
  private long ageMicros(Outstanding outstanding) {
    return outstanding
        .age()
        .map(length -> TimeUnit.MICROSECONDS.convert(length))
        .orElse(WINDOWS_IF_REPEATABLE * windowMicros);
  }

  private static SteleException tooOld(OperationId id, String why) {
    return new OperationForgottenException(
        "operation "
            + id
            + " is older than the window: "
            + why
            + " for too long. Nothing was changed now; whether it was applied before is no longer known");
  }

  /** See {@link OperationRoom#needsCompaction}. */
  synchronized boolean needsCompaction(long much) {
    return room.needsCompaction(much);
  }

  /** See {@link OperationRoom#unwrittenBytes}. */
  synchronized long unwrittenBytes() {
    return room.unwrittenBytes();
  }

  /** Forgets an operation that was not queued: a retry of it counts as a new operation. */
  synchronized void abandon(Operation operation) {
    change(operation, client -> client.remove(operation));
  }

  /** Records the sequence number under which an operation is queued, and its future result. */
  synchronized void queued(Operation operation, long sequence, Bytes result) {
    change(operation, client -> client.queued(operation, sequence, result));
  }

  /** Records that an operation is durable. */
  synchronized void done(Operation operation) {
    operation.end();
    change(operation, client -> client.done(operation));
  }

  /** Adds an operation from the log. */
  synchronized void replay(LoggedOperation logged, long sequence) {
    ClientOperations client = clients.client(ClientName.of(logged.id()));
    client.seen(time.nowMicros());
    clients.change(
        client,
        one -> {
          logged.task().ifPresent(said -> replay(one, said));
          one.forgetBelow(logged.firstIncomplete());
          LoggedOperation itself = // The task is known by now.
              new LoggedOperation(
                  logged.id(), logged.firstIncomplete(), logged.digest(), logged.result());
          one.replay(new Operation(one, itself, Optional.empty()), sequence);
        });
  }

  private static void replay(ClientOperations client, TaskProgress said) {
    client.recordSettled(said);
    if (said.job().isPresent()) {
      client.asTask().jobIsLogged();
    }
  }

  /**
   * Adds the operations of a block that {@link #encodeRecent} or {@link #encodeWritten} wrote, with
   * a corrected time; blocks may be added in any order.
   *
   * @param micros the tablet's own time when the block was written, if later than the block says;
   *     see {@link io.stele.record.FileRef}
   * @param merged whether the tablet was merged with another since then
   */
  synchronized void restore(Bytes block, long micros, boolean merged) throws MalformedException {
    OperationsBlock.Reader in = OperationsBlock.read(block);
    long later = time.restore(in.header(), micros, merged);
    while (in.hasNext()) {
      ClientOperations client = clients.client(in.next());
      client.seen(in.lastSeenMicros() + later);
      clients.restore(client, in);
    }
  }

  /**
   * Called when everything is restored and replayed. Forgets what exceeds the budget, and the
   * clients that a block written later no longer knows.
   */
  synchronized void restored() {
    room.restored();
  }

  /**
   * A block of the operations above one sequence number, up to and including another; empty if
   * there is nothing to remember. First forgets clients that were silent for too long.
   */
  synchronized Bytes encodeRecent(long above, long through) {
    room.expire();
    OperationsBlock.Writer out = OperationsBlock.write(time.header());
    for (Map.Entry<ClientName, ClientOperations> one : clients.inOrder()) {
      List<Operation> recent = one.getValue().recent(above, through);
      out.client(one.getKey(), one.getValue(), recent.size());
      recent.forEach(each -> out.operation(each.number(), each.digest(), each.result()));
    }
    return out.block();
  }

  /** Records that the operations up to a sequence number are in SSTables. */
  synchronized void moveToWritten(long through) {
    room.compacted();
    for (Map.Entry<ClientName, ClientOperations> one : clients.inOrder()) {
      clients.change(one.getValue(), client -> client.moveToWritten(through));
    }
  }

  /**
   * Forgets everything that {@code live} has forgotten; {@code live} knew everything this window
   * knows.
   */
  void forgetAs(OperationWindow live) {
    Map<ClientName, ClientOperations> known;
    OperationsBlock.Header now;
    synchronized (live) {
      now = live.time.header();
      known = live.clients.reduced();
    }
    synchronized (this) {
      time.follow(now);
      for (Map.Entry<ClientName, ClientOperations> one : clients.inOrder()) {
        Optional<ClientOperations> theirs = Optional.ofNullable(known.get(one.getKey()));
        if (theirs.isPresent()) {
          one.getValue().forgetAs(theirs.get());
        } else {
          clients.remove(one.getKey(), one.getValue());
        }
      }
    }
  }

  /** The written operations as a block; empty if there is nothing to remember. */
  synchronized Bytes encodeWritten() {
    OperationsBlock.Writer out = OperationsBlock.write(time.header());
    for (Map.Entry<ClientName, ClientOperations> one : clients.inOrder()) {
      ClientOperations client = one.getValue();
      out.client(one.getKey(), client, client.written().size());
      client.written().forEach(out::operation);
    }
    return out.block();
  }

  @GuardedBy("this")
  private void change(Operation operation, Consumer<ClientOperations> change) {
    if (!operation.client().isForgotten()) {
      clients.change(operation.client(), change);
    }
  }

  /** The window's memory, in bytes. */
  synchronized long bytes() {
    return clients.memory().bytes();
  }

  /** Returns its share of the budget. The window can still be used, but is not counted. */
  synchronized void close() {
    clients.memory().close();
  }
}
