package io.stele.log;

import io.stele.files.LeavingDataNodes;
import io.stele.model.Durability;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.Task;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The commit log of one kind of tablets in one tablet-server process: any thread may append
 * records; they are acknowledged in the same order, after a flush that many of them share.
 *
 * <p>Two threads write, one at a time, each to its own file (§6). The active one appends all
 * waiting records to its segment, flushes once, and completes their futures; the next batch gathers
 * during the flush. The other ends its last segment and creates a standby segment: when a segment
 * is full, fails or is slow, no write waits for the NameNode. A few more are spare: one takes the
 * place of a thread that is stuck in a call to the file system. They share a {@link
 * CommitPipeline}, which also detects slow flushes; each runs a {@link LogWriter}.
 *
 * <p><b>Failures.</b> An exception from a stream ends that stream. The records of the failed batch
 * are appended again, first, to the next segment, so that a sequence number never has two meanings
 * and no record overtakes another. The same happens to a batch whose flush is slow. A replay skips
 * records it has seen. A flush that reached fewer replicas than {@link LogOptions#replicasMin}
 * acknowledges nothing and ends its segment as well.
 *
 * <p>An outage of the file system, however long, does not end the log: attempts go on, records
 * wait, and after a few failures in a row new ones are refused. When the directory is gone (a
 * master has fenced this server) or the file system can never be written again, the log fails for
 * good: every record that waits fails with OUTCOME_UNKNOWN, and {@code onFailure} is called once,
 * which must end the process.
 *
 * <p>Safe for use by any number of threads.
 */
public final class CommitLog implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CommitLog.class);

  /**
   * How many segments a writer deletes between two of its own: more than one, so that a backlog
   * shrinks, and few, so that there is soon a standby segment.
   */
  private static final int DELETED_BY_WRITER_MAX = 4;

  private final LogLocation location;
  private final LogOptions options;
  private final Consumer<IOException> onFailure;
  private final SegmentLedger ledger;
  private final CommitPipeline pipeline;
  private volatile List<Task> tasks = List.of();
  private final Lock deleting; // Held during I/O, by the thread that deletes segments.

  private CommitLog(
      ProcessRuntime runtime,
      LogLocation location,
      LogOptions options,
      Consumer<IOException> onFailure) {
    this.location = location;
    this.options = options;
    this.onFailure = onFailure;
    this.ledger = new SegmentLedger(runtime);
    this.pipeline = new CommitPipeline(runtime, options, ledger);
    this.deleting = runtime.newLock();
  }

  /**
   * Begins a log: its first segment is created before this returns.
   *
   * @param onFailure called once, on a thread of the log, when the log has failed for good: the
   *     server must exit, at once and without acknowledging anything
   * @throws IOException if the directory is missing or has segments of this kind, or the file
   *     system cannot flush
   */
  public static CommitLog open(
      ProcessRuntime runtime,
      LogLocation location,
      LogOptions options,
      Consumer<IOException> onFailure)
      throws IOException {
    CommitLog log = new CommitLog(runtime, location, options, onFailure);
    log.start();
    return log;
  }

  private void start() throws IOException {
    LogWriter.Shared shared =
        new LogWriter.Shared(
            location,
            options.replicasMin(),
            pipeline,
            ledger,
            this::fail,
            this::deleteSomeUnneeded);
    List<LogWriter> writers =
        pipeline.writers().stream().map(state -> new LogWriter(shared, state)).toList();
    writers.get(0).createFirst();
    tasks =
        pipeline.start(
            "commit-log-" + location.kind().toString(),
            writers.stream().<Runnable>map(writer -> writer::run).toList(),
            this::watch);
  }

  private void watch() {
    try {
      pipeline.watch();
    } catch (RuntimeException | Error e) {
      fail(new IOException("the watchdog of the commit log has failed: " + e, e));
    }
  }

  /**
   * Appends a record that none follows, with the log's own durability: see {@link
   * #append(LogRecord, Durability, boolean)}.
   */
  public CompletableFuture<Void> append(LogRecord record) {
    return append(record, options.durability(), false);
  }

  /**
   * Appends a record. Blocks only briefly, to queue the record; ask {@link #refusal()} first,
   * before anything is changed.
   *
   * <p>The future completes when the record is as durable as asked, and after the futures of all
   * records appended before it. Its callbacks run on the log's thread and must not block. The
   * future fails with a {@link SteleException}: OUTCOME_UNKNOWN when the log failed with the record
   * in it, RETRY_LATER when the log had already ended, so that the record is not in it.
   *
   * @param durability at least this; never less than the log's own
   * @param moreFollow whether the caller appends more at once. The record is then written with the
   *     next one, of any caller, that none follows, or at {@link #flushSoon}: a flush costs more
   *     than a record, and one flush may do for all
   */
  public CompletableFuture<Void> append(
      LogRecord record, Durability durability, boolean moreFollow) {
    WaitingRecord waiting =
        new WaitingRecord(record, options.durability().and(durability), moreFollow);
    if (!pipeline.add(waiting)) {
      waiting.done.completeExceptionally(
          SteleException.retryLater(
              "the commit log in "
                  + location.directory()
                  + " is closed and the write was not made: try again, the"
                  + " tablet will be served elsewhere"));
    }
    return waiting.done;
  }

  /** Has the records appended so far written soon; does not wait for it. */
  public void flushSoon() {
    pipeline.flushSoon();
  }

  /**
   * Why no new records should be appended now: {@link LogOptions#queuedBytesMax} bytes wait, or
   * segments failed, or had too few replicas, again and again. Empty if they may be.
   */
  public Optional<String> refusal() {
    return pipeline.refusal();
  }

  /**
   * Everything of {@code tablet} up to {@code sequence} is in SSTables that METADATA names: deletes
   * the segments that no tablet needs any more.
   */
  public void release(TabletId tablet, long sequence) {
    ledger.release(tablet, sequence);
    deleteUnneeded();
  }

  /** {@code tablet} was unloaded, with all its records in SSTables. */
  public void forget(TabletId tablet) {
    release(tablet, Long.MAX_VALUE);
  }

  /**
   * The oldest segment that some tablet needs; empty if none does. When it is too old, or too many
   * segments follow it, have its tablets make minor compactions, so that a quiet tablet does not
   * hold the log forever; and if it is still being written, {@link #roll}.
   */
  public Optional<OldestNeeded> oldestNeeded() {
    return ledger.oldest();
  }

  /**
   * The tablets with acknowledged records in a segment of which writing or closing failed, and in
   * no SSTable yet. The records are in the file, but the file system may have trouble with its last
   * block. Have the tablets make minor compactions at once, so that nothing depends on that block.
   */
  public SortedSet<TabletId> inFailedSegments() {
    return ledger.inFailedSegments();
  }

  /**
   * Keeps segments from being deleted while something reads them, such as a replication, until
   * {@link #unhold}; not beyond the end of this process. Nothing in Stele holds segments yet.
   *
   * @param holder whose; what it held before is held no more
   * @param from the oldest segment it needs
   * @return the oldest that it has now: a later one where some were deleted before
   */
  public long hold(String holder, long from) {
    long oldest = ledger.hold(holder, from);
    deleteUnneeded();
    return oldest;
  }

  /** Keeps nothing more for {@code holder}, and deletes segments that are no longer needed. */
  public void unhold(String holder) {
    ledger.unhold(holder);
    deleteUnneeded();
  }

  /** Who keeps segments, and from which on. */
  public SortedMap<String, Long> holders() {
    return ledger.holders();
  }

  /** Ends the segment being written, after the records that wait now, so that it can be deleted. */
  public void roll() {
    pipeline.roll();
  }

  /**
   * Leaves the open segments of which fewer than {@link LogOptions#replicasMin} replicas are on
   * DataNodes that stay: an operator takes the others away, and HDFS does not count open files. The
   * log goes on in another segment once there is one. Asks the NameNode.
   *
   * @return whether it leaves any that it did not leave before
   */
  public boolean leaveDataNodes() throws IOException {
    Set<Long> segments = new HashSet<>();
    for (Path file :
        LeavingDataNodes.openFiles(location.fs(), location.directory(), options.replicasMin())) {
      LogDirectory.segment(file, 0)
          .filter(segment -> segment.kind() == location.kind())
          .ifPresent(segment -> segments.add(segment.number()));
    }
    return pipeline.leave(segments);
  }

  /** The log's counters so far. */
  public LogStatistics statistics() {
    return pipeline.statistics();
  }

  /** Like {@link #close}, without waiting. */
  public void beginToClose() {
    pipeline.close();
  }

  /**
   * Writes the records that wait, closes the segments and ends the log, which then refuses records.
   * A stream that hangs, and that no record waits for, delays this for some seconds and is then
   * left open.
   */
  @Override
  public void close() {
    pipeline.close();
    if (tasks.stream().anyMatch(Task::isCurrent)) {
      return;
    }
    boolean interrupted = false;
    for (boolean ended = false; !ended; ) {
      try {
        pipeline.awaitEnd();
        ended = true;
      } catch (InterruptedException e) {
        interrupted = true; // The records that wait are still to be written.
      }
    }
    if (interrupted) {
      Futures.interruptAgain();
    }
  }

  /** Waits until there is a standby segment, or the log has ended. */
  void awaitStandby() throws InterruptedException {
    pipeline.awaitStandby();
  }

  /**
   * The log's writers and its watch; they end after {@link #close}, except for a writer whose
   * stream hangs.
   */
  List<Task> tasks() {
    return tasks;
  }

  private void deleteUnneeded() {
    boolean deleted = true;
    while (deleted && ledger.unneeded().isPresent()) {
      deleting.lock();
      try {
        deleted = deleteNext();
      } finally {
        deleting.unlock();
      }
    } // Look again after unlocking: a writer does not wait for the lock.
  }

  /**
   * Deletes segments on the thread of a writer, which has a standby segment to create: it does not
   * wait for another thread that deletes, and leaves a backlog to the next call.
   */
  private void deleteSomeUnneeded() {
    boolean deleted = true;
    for (int i = 0; i < DELETED_BY_WRITER_MAX && deleted && ledger.unneeded().isPresent(); i++) {
      if (!deleting.tryLock()) {
        return; // Whoever has it looks again, or leaves it to the next call, as this does.
      }
      try {
        deleted = deleteNext();
      } finally {
        deleting.unlock();
      }
    }
  }

  /**
   * Deletes the lowest segment if it is unneeded, so that those that are left have no gaps; false
   * if it cannot be deleted now. Called with {@link #deleting}.
   */
  private boolean deleteNext() {
    Optional<Long> next = ledger.unneeded();
    if (next.isEmpty()) {
      return true; // Another thread was faster.
    }
    Path file = location.segment(next.get());
    try {
      boolean existed = location.fs().delete(file, false);
      LOG.debug("Deleted the unneeded segment {}: {}", file, existed);
      ledger.deleted(next.get());
      return true;
    } catch (IOException e) {
      LOG.warn("Cannot delete the unneeded segment {} yet; will retry", file, e);
      return false;
    }
  }

  private void fail(IOException cause) {
    Optional<List<WaitingRecord>> unknown = pipeline.fail();
    if (unknown.isEmpty()) {
      return; // It had failed before.
    }
    LOG.error("The commit log in {} has failed and stays closed", location.directory(), cause);
    SteleException outcome =
        SteleException.outcomeUnknown(
            "the commit log in "
                + location.directory()
                + " has failed: the mutation may or may not be in it",
            cause);
    try {
      onFailure.accept(cause);
    } finally {
      for (WaitingRecord waiting : unknown.get()) {
        waiting.done.completeExceptionally(outcome);
      }
    }
  }
}
