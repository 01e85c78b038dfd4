package io.stele.log;

import io.stele.files.NameSpace;
import io.stele.files.WriteLeases;
import io.stele.runtime.FanOut;
import io.stele.runtime.Futures;
import io.stele.runtime.IoConsumer;
import io.stele.runtime.Permits;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fences a dead server's log: {@link #rename}s it, then {@link #close}s its segments. After that no
 * write of that process is acknowledged, however late it wakes; everything acknowledged before is
 * kept.
 *
 * <p>First the directory is renamed, so that no new segment can be created in it; then the lease of
 * every segment is recovered, so that the next flush of an open one fails; when all are closed,
 * they are listed for replay ({@link FencedLog}). A segment that its server has not ended in order
 * is copied, and the copy listed: so what is listed is on disk, on enough nodes, including the
 * records that were about to be acknowledged ({@link SegmentCopier}). If the process is known to
 * have ended, nobody waits until HDFS has closed such a segment. Nor does anybody wait for a
 * segment that HDFS does not close if an operator has accepted its loss. Each step may be repeated,
 * by another master too: a fence that was interrupted is called again.
 *
 * <p>The server may still hold its lock, and may still answer reads until its lease is over; its
 * tablets must not be given to others before that. Safe for use by any number of threads.
 */
public final class LogFence {
  private static final Logger LOG = LoggerFactory.getLogger(LogFence.class);

  // recoverLease may start the recovery over, so there are long waits between calls: the first
  // recovery mostly succeeds within seconds, unless a DataNode of the pipeline is dead. A recovery
  // that failed needs another call, once its cause is gone.
  private static final Duration SECOND_CALL = Duration.ofSeconds(4);
  private static final Duration FURTHER_CALLS = Duration.ofSeconds(64);
  private static final int LONGER_CALLS = 2; // Then the waits grow no more.
  private static final int CALLS_UNTIL_LATE = 2; // HDFS has had more than a minute then.
  private static final int COPIERS = 4; // A dead server leaves one or two open segments per log.
  private static final int COPIES_AT_ONCE = 8; // Of all fences: each takes some 6 MiB of memory.
  private static final Duration COPY_AGAIN = Duration.ofSeconds(5);
  private static final int READS_MAX = 3; // A segment that fails this often is damaged.
  private static final Duration POLL_MIN = Duration.ofMillis(10);
  private static final Duration POLL_MAX = Duration.ofSeconds(1);
  private static final int POLL_PART = 20; // Of the time waited so far: no more is lost by it.

  /** A segment that cannot be listed yet. */
  private static final class Open {
    final Segment segment;
    final String name;
    boolean closed;
    boolean closedBefore; // The fence found it closed.
    boolean listedAsItIs;
    boolean copyTried; // While it was open.
    long nextCopyNanos; // Once it is closed.
    int reads; // That failed.
    int calls;
    long nextCallNanos;

    Open(Segment segment, long nowNanos) {
      this.segment = segment;
      this.name = segment.path().getName();
      this.nextCallNanos = nowNanos;
      this.nextCopyNanos = nowNanos;
    }
  }

  private final ProcessRuntime runtime;
  private final FileSystem fs;
  private final SegmentCopier copier;
  private final Permits copies;

  /** A fence for the logs in {@code fs}, with the default minimum of replicas. */
  public LogFence(ProcessRuntime runtime, FileSystem fs) {
    this(runtime, fs, LogOptions.DEFAULT.replicasMin());
  }

  /**
   * A fence for the logs in {@code fs}.
   *
   * @param replicasMin how many replicas a copy of a segment must have, as the segments had
   */
  public LogFence(ProcessRuntime runtime, FileSystem fs, int replicasMin) {
    this.runtime = runtime;
    this.fs = fs;
    this.copier = new SegmentCopier(runtime, fs, replicasMin);
    this.copies = new Permits(runtime, COPIES_AT_ONCE);
  }

  /**
   * Renames {@code directory} to {@code fenced}: no segment can be created any more.
   *
   * @param directory {@code logs/<serverId>}
   * @param fenced {@code recovery/<serverId>}; the directory above it is made
   * @return {@code fenced}; empty if the server had no log directory
   * @throws IOException if it failed: call again
   */
  public Optional<Path> rename(Path directory, Path fenced) throws IOException {
    NameSpace.catchUp(fs, directory); // Another master may have fenced it, or begun to.
    boolean renamedBefore = fs.exists(fenced);
    if (fs.exists(directory)) {
      if (renamedBefore) {
        deleteEmpty(directory, fenced);
        return Optional.of(fenced);
      }
      fs.mkdirs(fenced.getParent());
      if (!fs.rename(directory, fenced) && !fs.exists(fenced)) {
        throw new IOException("cannot rename " + directory + " to " + fenced);
      }
    } else if (!renamedBefore && !fs.exists(fenced)) { // Else another has renamed it just now.
      return Optional.empty();
    }
    return Optional.of(fenced);
  }

  /**
   * HDFS's client repeats the creation of a directory if the NameNode fails over, which may bring
   * back the old name, empty. Segments are not created in a directory that is not there.
   */
  private void deleteEmpty(Path directory, Path fenced) throws IOException {
    if (fs.listStatus(directory).length > 0) {
      throw new IOException(
          "both "
              + directory
              + " and "
              + fenced
              + " exist: a log directory was created again after"
              + " it was fenced. Inspect both before you delete either. If the server never had its"
              + " lock (its log then says nothing of being ready), delete the first");
    }
    if (fs.delete(directory, false)) {
      LOG.warn("Deleted {}: it was created again, and empty, after it was fenced", directory);
    }
  }

  /**
   * Returns when every segment in {@code fenced}, which was renamed, is closed or copied, and the
   * list of them is written: nothing of that server is acknowledged any more.
   *
   * @param ended whether the server's process is known to have ended; silence is no evidence
   * @param meanwhile done once after HDFS was asked to close the segments, before this waits for
   *     that; not done if the list is there already
   * @throws IOException if a step failed, or the thread was interrupted: call again
   */
  public void close(Path fenced, BooleanSupplier ended, Runnable meanwhile) throws IOException {
    if (!FencedLog.isListed(fs, fenced)) {
      Map<String, Segment> instead = closeAll(fenced, ended, meanwhile);
      NameSpace.catchUp(fs, fenced); // The DataNodes have closed them, not this process.
      if (!fs.exists(fenced)) {
        throw new FileNotFoundException(
            fenced + " is gone: another master has deleted that log, which nothing needs");
      }
      FencedLog.list(runtime, fs, fenced, instead);
    }
  }

  /** Returns what is listed in place of segments, by their names. */
  private Map<String, Segment> closeAll(Path directory, BooleanSupplier ended, Runnable meanwhile)
      throws IOException {
    WriteLeases leases = WriteLeases.in(fs, directory);
    Map<String, Segment> instead = new ConcurrentHashMap<>();
    long start = runtime.nanoTime();
    List<Open> open = new ArrayList<>();
    for (Segment segment : LogDirectory.segments(fs, directory)) {
      open.add(new Open(segment, start));
    }
    if (!ended.getAsBoolean()) {
      lookForClosed(leases, open, instead);
    }
    meanwhile.run();
    while (true) {
      if (ended.getAsBoolean()) {
        each(
            open.stream().filter(one -> !one.closed && !one.copyTried).toList(),
            one -> copyOpen(leases, one, instead));
      }
      lookForClosed(leases, open, instead);
      long now = runtime.nanoTime();
      each(
          open.stream().filter(one -> one.closed && now - one.nextCopyNanos >= 0).toList(),
          one -> copyClosed(one, instead));
      giveUpAccepted(directory, open, instead);
      open.removeIf(one -> one.listedAsItIs || instead.containsKey(one.name));
      if (open.isEmpty()) {
        return instead;
      }
      LOG.debug("Waiting for {} segments in {} to be closed or copied", open.size(), directory);
      try {
        runtime.sleep(pause(Duration.ofNanos(runtime.nanoTime() - start)));
      } catch (InterruptedException e) {
        throw Futures.interrupted(e, "closing the segments in " + directory);
      }
    }
  }

  private void lookForClosed(WriteLeases leases, List<Open> open, Map<String, Segment> instead)
      throws IOException {
    for (Open one : open) {
      one.closed |= !instead.containsKey(one.name) && isClosed(leases, one, instead);
    }
  }

  /** Gives up those segments that HDFS has had time to close, and whose loss is accepted. */
  private void giveUpAccepted(Path directory, List<Open> all, Map<String, Segment> instead)
      throws IOException {
    List<Open> late =
        all.stream()
            .filter(one -> !one.closed && !instead.containsKey(one.name))
            .filter(one -> one.calls > CALLS_UNTIL_LATE)
            .toList();
    if (late.isEmpty()) {
      return;
    }
    AcceptedLosses accepted = AcceptedLosses.read(fs, directory);
    for (Open one : late) {
      if (!accepted.hasWhole(one.segment)) {
        if (!accepted.hasIfOpen(one.segment)) {
          continue;
        }
        Set<AcceptedLosses.Loss> loss =
            Set.of(new AcceptedLosses.Loss(one.name, AcceptedLosses.WHOLE));
        AcceptedLosses.write(fs, directory, one.name + ".open", loss);
      }
      LOG.warn("{} is given up, as an operator has allowed", one.segment.path());
      instead.put(one.name, one.segment);
    }
  }

  private static Duration untilNextCall(int calls) {
    return calls == 1 ? SECOND_CALL : FURTHER_CALLS.multipliedBy(Math.min(calls - 1, LONGER_CALLS));
  }

  private static Duration pause(Duration waited) {
    long part = waited.dividedBy(POLL_PART).toNanos();
    return Duration.ofNanos(Math.max(POLL_MIN.toNanos(), Math.min(part, POLL_MAX.toNanos())));
  }

  /** All at once: to copy a few bytes takes as many calls of HDFS as to copy many. */
  private void each(List<Open> some, IoConsumer<Open> work) throws IOException {
    if (some.isEmpty()) {
      return;
    }
    try (WorkerPool copiers = runtime.pool("segment-copier", COPIERS)) {
      FanOut.eachIo(runtime, copiers, COPIERS + 1, some, work, "copying segments");
    }
  }

  private void copyOpen(WriteLeases leases, Open open, Map<String, Segment> instead)
      throws IOException {
    try {
      if (leases.isClosed(open.name)) {
        return;
      }
    } catch (FileNotFoundException e) {
      gone(open, instead, e);
      return;
    }
    open.copyTried = true;
    try {
      instead.put(open.name, copy(open));
    } catch (IOException e) {
      checkNotInterrupted(e);
      LOG.info("HDFS must close {} first: {}", open.segment.path(), e.toString());
      return;
    }
    leases.recover(open.name); // HDFS would keep it open for long.
  }

  /** Copies a closed segment, unless everything in it is on disk anyway. */
  private void copyClosed(Open closed, Map<String, Segment> instead) throws IOException {
    if (closed.closedBefore && hasSummary(closed.segment)) {
      closed.listedAsItIs = true;
      return;
    }
    try {
      instead.put(closed.name, copy(closed));
    } catch (SegmentCopier.UnreadableException e) {
      checkNotInterrupted(e);
      closed.nextCopyNanos = runtime.nanoTime() + COPY_AGAIN.toNanos();
      if (e.getCause() instanceof FileNotFoundException missing) {
        gone(closed, instead, missing);
      } else {
        LOG.warn("It cannot be copied: {}", e.getMessage());
        closed.listedAsItIs = ++closed.reads == READS_MAX; // Only tablets that need it wait then.
      }
    } catch (IOException e) {
      checkNotInterrupted(e);
      LOG.warn(
          "The tablets of a dead server wait until {} can be copied. It was not ended in order, so"
              + " its last records may be on too few nodes: {}",
          closed.segment.path(),
          e.toString());
      closed.nextCopyNanos = runtime.nanoTime() + COPY_AGAIN.toNanos();
    }
  }

  private Segment copy(Open one) throws IOException {
    try {
      copies.acquire(1);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "copying " + one.segment.path());
    }
    try {
      return copier.copy(one.segment);
    } finally {
      copies.release(1);
    }
  }

  private static void checkNotInterrupted(IOException failure) throws IOException {
    for (Throwable one = failure; one != null; one = one.getCause()) {
      if (Futures.isInterruption(one)) {
        throw failure;
      }
    }
  }

  private boolean hasSummary(Segment segment) {
    try {
      return SegmentSummary.read(fs, segment).isPresent();
    } catch (IOException e) {
      LOG.info("{} cannot be read now: {}", segment.path(), e.toString());
      return false;
    }
  }

  /**
   * Nobody deletes single segments of a renamed log: the list says that there was one, so that it
   * is missed.
   */
  private static void gone(Open open, Map<String, Segment> instead, FileNotFoundException e) {
    LOG.warn("{} is gone: it was there when its server was fenced", open.segment.path(), e);
    instead.put(open.name, open.segment);
  }

  private boolean isClosed(WriteLeases leases, Open segment, Map<String, Segment> instead)
      throws IOException {
    try {
      if (segment.closed) {
        return true;
      }
      if (leases.isClosed(segment.name)) {
        segment.closedBefore = segment.calls == 0 && !segment.copyTried;
        return true;
      }
      long now = runtime.nanoTime();
      if (now - segment.nextCallNanos < 0) {
        return false;
      }
      segment.calls++;
      segment.nextCallNanos = now + untilNextCall(segment.calls).toNanos();
      if (segment.calls > CALLS_UNTIL_LATE) {
        LOG.warn(
            "HDFS has not closed {} yet: the tablets of that server wait for it. The logs of the"
                + " NameNode and the DataNodes say why; if they say \"Block length mismatch\","
                + " restart that DataNode. If its last block is lost for good, stele log check says"
                + " how to go on without it",
            segment.segment.path());
      }
      return leases.recover(segment.name);
    } catch (FileNotFoundException e) {
      gone(segment, instead, e);
      return false;
    }
  }
}
