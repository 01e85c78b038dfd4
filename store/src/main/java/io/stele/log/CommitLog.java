package io.stele.log;

import io.stele.model.Durability;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The commit log of one kind of tablets in one tablet-server process: records go in from any
 * thread, and come back acknowledged, in the order they went in, after a flush that many of them
 * share.
 *
 * <p>One thread of the log takes all records that wait, appends them to the newest segment, flushes
 * once, and completes their futures. While it flushes the next batch gathers.
 *
 * <p><b>Failures.</b> An exception from a stream ends that stream. The records of the failed batch
 * are appended again, first, to the next segment, so that a sequence number never stands for two
 * things and no record overtakes another; a reader drops what it sees twice. When the directory is
 * gone (a master has fenced this server) or too many segments in a row have failed, the log fails
 * for good: every record that waits fails with OUTCOME_UNKNOWN, and {@code onFailure} is called
 * once, which must end the process.
 *
 * <p>Safe for use by any number of threads.
 */
public final class CommitLog implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CommitLog.class);
  private static final Duration PAUSE_MAX = Duration.ofSeconds(5);

  private enum State {
    OPEN,
    CLOSING,
    CLOSED,
    FAILED
  }

  private final FileSystem fs;
  private final SegmentFiles files;
  private final Path directory;
  private final ServerId server;
  private final LogKind kind;
  private final LogOptions options;
  private final Consumer<IOException> onFailure;
  private final SegmentLedger ledger = new SegmentLedger();
  private final Object deleting = new Object();
  private final Thread appender;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition work = lock.newCondition();
  private final Condition room = lock.newCondition();
  // Guarded by lock.
  private ArrayDeque<WaitingRecord> queue = new ArrayDeque<>();
  private long queuedBytes;
  private boolean rollAsked;
  private State state = State.OPEN;

  // Only the appender (and the constructor before it) touches these.
  private LogWriter writer;
  private long nextNumber = 1;
  private long previousSegment;
  private long previousAcknowledgedBytes;

  // Written by the appender only, read by anyone.
  private volatile LogStatistics statistics = new LogStatistics(0, 0, 0, 0, 0, 0);

  private CommitLog(
      FileSystem fs,
      Path directory,
      ServerId server,
      LogKind kind,
      LogOptions options,
      Consumer<IOException> onFailure) {
    this.fs = fs;
    this.files = new SegmentFiles(fs);
    this.directory = directory;
    this.server = server;
    this.kind = kind;
    this.options = options;
    this.onFailure = onFailure;
    this.appender = new Thread(this::run, "commit-log-" + kind.prefix());
    appender.setDaemon(true);
  }

  /**
   * Begins a log: its first segment is created before this returns.
   *
   * @param directory the process's own, made by {@link LogDirectory#create}
   * @param onFailure called once, on the log's thread, when the log has failed for good: the server
   *     must exit, at once and without acknowledging anything
   * @throws IOException where the directory is missing or has segments of this kind, or the file
   *     system cannot flush
   */
  public static CommitLog open(
      FileSystem fs,
      Path directory,
      ServerId server,
      LogKind kind,
      LogOptions options,
      Consumer<IOException> onFailure)
      throws IOException {
    CommitLog log = new CommitLog(fs, directory, server, kind, options, onFailure);
    log.openSegment();
    log.appender.start();
    return log;
  }

  /** Appends a record with the log's own durability: see {@link #append(LogRecord, Durability)}. */
  public CompletableFuture<Void> append(LogRecord record) {
    return append(record, options.durability());
  }

  /**
   * Appends a record. Never blocks but for the moment of queueing; ask {@link #hasRoom()} first,
   * before anything is changed.
   *
   * <p>The future completes when the record is as durable as asked, and after the futures of all
   * records appended before it. What depends on it runs on the log's thread, which waits for it: it
   * must be short, and must not wait for another record. The future fails with a {@link
   * SteleException}: OUTCOME_UNKNOWN when the log failed with the record in it, RETRY_LATER when
   * the log had already ended, so that the record is not in it.
   *
   * @param durability at least this; never less than the log's own
   */
  public CompletableFuture<Void> append(LogRecord record, Durability durability) {
    Durability least =
        options.durability().compareTo(durability) >= 0 ? options.durability() : durability;
    WaitingRecord waiting = new WaitingRecord(record, least);
    lock.lock();
    try {
      if (state == State.OPEN) {
        queue.add(waiting);
        queuedBytes += waiting.body.length;
        work.signal();
        return waiting.done;
      }
    } finally {
      lock.unlock();
    }
    waiting.done.completeExceptionally(
        SteleException.retryLater(
            "the commit log in "
                + directory
                + " has ended and nothing was written: try again, the"
                + " tablet will be served elsewhere"));
    return waiting.done;
  }

  /** Whether less waits than {@link LogOptions#queuedBytesMax}; where not, refuse or wait. */
  public boolean hasRoom() {
    lock.lock();
    try {
      return queuedBytes < options.queuedBytesMax();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until there is room, the log has ended or {@code timeout} has passed.
   *
   * @return whether there is room
   */
  public boolean awaitRoom(Duration timeout) throws InterruptedException {
    long left = timeout.toNanos();
    lock.lockInterruptibly();
    try {
      while (queuedBytes >= options.queuedBytesMax() && state == State.OPEN && left > 0) {
        left = room.awaitNanos(left);
      }
      return queuedBytes < options.queuedBytesMax() && state == State.OPEN;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Says that everything of {@code tablet} up to {@code sequence} is in SSTables that METADATA
   * names, and deletes the segments that nobody needs any more.
   */
  public void release(TabletId tablet, long sequence) {
    ledger.release(tablet, sequence);
    deleteUnneeded();
  }

  /** Says that {@code tablet} was unloaded with all its records in SSTables. */
  public void forget(TabletId tablet) {
    release(tablet, Long.MAX_VALUE);
  }

  /**
   * What keeps the oldest segment from being deleted; empty where there is only the one being
   * written. When there are too many segments, have these tablets make minor compactions.
   */
  public Optional<OldestNeeded> oldestNeeded() {
    return ledger.oldest();
  }

  /** Has the segment being written closed after what waits now, so that it can be deleted later. */
  public void roll() {
    lock.lock();
    try {
      rollAsked = true;
      work.signal();
    } finally {
      lock.unlock();
    }
  }

  /** What the log has done so far. */
  public LogStatistics statistics() {
    LogStatistics so = statistics;
    lock.lock();
    try {
      return new LogStatistics(
          so.records(), so.bytes(), so.flushes(), so.segments(), so.failures(), queuedBytes);
    } finally {
      lock.unlock();
    }
  }

  /** The directory with the log's segments. */
  public Path directory() {
    return directory;
  }

  /** Writes what waits, closes the segment and ends the log; records after that are refused. */
  @Override
  public void close() {
    lock.lock();
    try {
      if (state == State.OPEN) {
        state = State.CLOSING;
        work.signal();
      }
    } finally {
      lock.unlock();
    }
    boolean interrupted = false;
    while (appender.isAlive() && Thread.currentThread() != appender) {
      try {
        appender.join();
      } catch (InterruptedException e) {
        interrupted = true; // What waits is still to be written.
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  // The appender, from here on.

  private void run() {
    List<WaitingRecord> batch = new ArrayList<>();
    try {
      while (take(batch)) {
        if (!batch.isEmpty()) {
          write(batch);
          acknowledge(batch);
        }
        if (writer != null && rollDue()) {
          nextSegment();
        }
      }
      closeSegment();
    } catch (IOException e) {
      fail(batch, e);
    } catch (RuntimeException | Error e) {
      fail(batch, new IOException("the commit log's thread has failed: " + e, e));
    }
  }

  /** Waits for work and moves it to {@code batch}; false when the log is closed and empty. */
  private boolean take(List<WaitingRecord> batch) {
    batch.clear();
    lock.lock();
    try {
      while (queue.isEmpty() && !rollAsked && state == State.OPEN) {
        work.awaitUninterruptibly();
      }
      if (queue.isEmpty() && state == State.CLOSING) {
        state = State.CLOSED;
        return false;
      }
      long bytes = 0;
      while (!queue.isEmpty() && bytes < options.batchBytesMax()) {
        WaitingRecord next = queue.remove();
        bytes += next.body.length;
        batch.add(next);
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  private boolean rollDue() {
    lock.lock();
    try {
      boolean asked = rollAsked && queue.isEmpty();
      if (asked) {
        rollAsked = false;
      }
      return (asked && writer.hasRecords()) || writer.position() >= options.segmentBytes();
    } finally {
      lock.unlock();
    }
  }

  /** Returns when the batch is durable, in this segment or the next that takes it. */
  private void write(List<WaitingRecord> batch) throws IOException {
    Duration pause = options.retryPause();
    for (int attempt = 1; ; attempt++) {
      try {
        if (writer == null) {
          openSegment();
        }
        append(batch);
        return;
      } catch (IOException e) {
        count(0, 0, 0, 0, 1);
        endStream(e);
        if (isFatal(e) || attempt >= options.attemptsMax()) {
          throw e;
        }
        LOG.warn(
            "Writing to the commit log in {} failed; {} records go to the next segment",
            directory,
            batch.size(),
            e);
        pause(pause, e);
        pause = pause.multipliedBy(2).compareTo(PAUSE_MAX) < 0 ? pause.multipliedBy(2) : PAUSE_MAX;
      }
    }
  }

  private void append(List<WaitingRecord> batch) throws IOException {
    Durability durability = Durability.HFLUSH;
    for (WaitingRecord waiting : batch) {
      ledger.writing(waiting.tablet, waiting.sequence);
      writer.append(waiting.body, waiting.bodyCrc);
      if (waiting.durability == Durability.HSYNC) {
        durability = Durability.HSYNC;
      }
    }
    writer.flush(durability);
    ledger.grown(writer.position());
  }

  private void openSegment() throws IOException {
    long number = nextNumber++;
    Path file = LogDirectory.segment(directory, kind, number);
    ledger.opening(number, file);
    writer =
        LogWriter.create(
            files,
            file,
            new SegmentHeader(kind, server, number, previousSegment, previousAcknowledgedBytes));
    previousSegment = number;
    previousAcknowledgedBytes = writer.position();
    count(0, 0, 0, 1, 0);
  }

  private void endStream(Throwable failure) {
    if (writer != null) {
      previousAcknowledgedBytes = writer.flushedBytes();
      writer.abandon(failure);
      writer = null;
    }
  }

  private void nextSegment() {
    LogWriter full = writer;
    closeSegment();
    try {
      openSegment();
    } catch (IOException e) {
      LOG.warn("Cannot begin the segment after {} of {} yet", full.header().number(), directory, e);
      count(0, 0, 0, 0, 1); // The next batch tries again.
    }
    deleteUnneeded();
  }

  // Everything in the segment is acknowledged, so a failure to close it loses nothing.
  private void closeSegment() {
    if (writer != null) {
      LogWriter full = writer;
      previousAcknowledgedBytes = full.flushedBytes();
      writer = null;
      try {
        full.close();
      } catch (IOException e) {
        LOG.warn("Closing segment {} of {} failed", full.header().number(), directory, e);
        full.abandon(e);
      }
    }
  }

  private void acknowledge(List<WaitingRecord> batch) {
    long bytes = 0;
    for (WaitingRecord waiting : batch) {
      bytes += waiting.body.length;
    }
    lock.lock();
    try {
      queuedBytes -= bytes;
      room.signalAll();
    } finally {
      lock.unlock();
    }
    count(batch.size(), bytes, 1, 0, 0);
    for (WaitingRecord waiting : batch) {
      waiting.done.complete(null);
    }
  }

  // In order, and none before the one before it is gone, so that what is left has no gaps.
  private void deleteUnneeded() {
    synchronized (deleting) {
      for (Optional<Path> file = ledger.unneeded(); file.isPresent(); file = ledger.unneeded()) {
        try {
          boolean existed = fs.delete(file.get(), false);
          LOG.debug("Deleted {}, which nobody needs any more: {}", file.get(), existed);
          ledger.deleted();
        } catch (IOException e) {
          LOG.warn("Cannot delete {} yet, which nobody needs any more", file.get(), e);
          return;
        }
      }
    }
  }

  private boolean isFatal(IOException e) {
    if (e instanceof SegmentFiles.CannotFlushException) {
      return true;
    }
    try {
      return !fs.exists(directory); // Fenced: nothing may bring it back.
    } catch (IOException unknown) {
      e.addSuppressed(unknown);
      return false; // The file system is away; the next attempt shows more.
    }
  }

  private void pause(Duration pause, IOException failure) throws IOException {
    try {
      TimeUnit.NANOSECONDS.sleep(pause.toNanos());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failure;
    }
  }

  private void fail(List<WaitingRecord> batch, IOException cause) {
    List<WaitingRecord> unknown = new ArrayList<>(batch);
    lock.lock();
    try {
      state = State.FAILED;
      unknown.addAll(queue);
      queue = new ArrayDeque<>();
      room.signalAll();
    } finally {
      lock.unlock();
    }
    LOG.error("The commit log in {} has failed for good", directory, cause);
    SteleException outcome =
        SteleException.outcomeUnknown(
            "the commit log in " + directory + " has failed: the mutation may or may not be in it",
            cause);
    try {
      onFailure.accept(cause);
    } finally {
      for (WaitingRecord waiting : unknown) {
        waiting.done.completeExceptionally(outcome);
      }
    }
  }

  private void count(long records, long bytes, long flushes, long segments, long failures) {
    LogStatistics so = statistics;
    statistics =
        new LogStatistics(
            so.records() + records,
            so.bytes() + bytes,
            so.flushes() + flushes,
            so.segments() + segments,
            so.failures() + failures,
            0);
  }
}
