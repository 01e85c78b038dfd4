package io.stele.log;

import io.stele.files.DurableFiles;
import io.stele.files.WriteLeases;
import io.stele.runtime.Futures;
import io.stele.runtime.IoCallable;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes the segments in the renamed directory of one log, and finds out what is to be listed for
 * each: the segment, its copy, or what was known of one that is gone or given up.
 *
 * <p>One thread asks the NameNode, again and again, and alone touches the state. Whatever is read
 * from DataNodes is read on threads of a pool: a host that vanishes without a word lets each read
 * from it wait for a minute, and only the segment that is read may wait with it.
 *
 * <p>For one call of {@link #closeAll}, by one thread.
 */
final class SegmentClosing {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentClosing.class);

  // recoverLease may start the recovery over, so there are long waits between calls: the first
  // recovery mostly succeeds within seconds, unless a DataNode of the pipeline is dead. A recovery
  // that failed needs another call, once its cause is gone.
  private static final Duration SECOND_CALL = Duration.ofSeconds(4);
  private static final Duration FURTHER_CALLS = Duration.ofSeconds(64);
  private static final int LONGER_CALLS = 2; // Then the waits grow no more.
  private static final int CALLS_UNTIL_LATE = 2; // HDFS has had more than a minute then.
  private static final Duration COPY_ALONE = SECOND_CALL; // HDFS does not close it meanwhile.
  private static final Duration COPY_AGAIN = Duration.ofSeconds(5);

  // HDFS closes a file with a DataNode's next heartbeat, by default 3 s apart. If it takes longer,
  // a DataNode that has the file does not answer, and HDFS waits a minute or more for it.
  private static final Duration COPY_WITHOUT_LEASE = Duration.ofSeconds(6);
  private static final Duration COPY_OPEN_AGAIN = Duration.ofSeconds(20);
  private static final Duration OWNER_AGAIN = Duration.ofSeconds(1); // It asks the lock service.
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

    /** What is read of it now; its result is its copy, or empty if it is to be listed as it is. */
    Optional<CompletableFuture<Optional<Segment>>> reading = Optional.empty();

    long readingSinceNanos;
    boolean copiedWhileOpen; // Whether that was tried.
    long nextOpenCopyNanos; // If it was.
    boolean readWhileOpen; // Whether what is read now began so.
    long nextCopyNanos; // Once it is closed.
    int failedReads;
    int calls;
    long firstCallNanos;
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
  private final Path directory;
  private final WorkerPool readers;
  private final WriteLeases leases;
  private final LogOwner owner;
  private boolean ownerWithoutLease; // As it was found out.
  private long nextOwnerCallNanos;
  private HangingNodes nodes = HangingNodes.NONE;
  private final List<Open> open = new ArrayList<>();

  private final Set<String> closedByHdfs = new HashSet<>(); // Since it was asked to.

  /** What is listed in place of segments, by their names. */
  private final Map<String, Segment> listedAs = new HashMap<>();

  /**
   * The segments in {@code directory}, none of which is closed yet as far as is known.
   *
   * @param owner the server that wrote them
   * @param readers reads and copies segments
   */
  SegmentClosing(
      ProcessRuntime runtime,
      FileSystem fs,
      Path directory,
      LogOwner owner,
      SegmentCopier copier,
      WorkerPool readers)
      throws IOException {
    this.runtime = runtime;
    this.fs = fs;
    this.copier = copier;
    this.directory = directory;
    this.owner = owner;
    this.nextOwnerCallNanos = runtime.nanoTime();
    this.readers = readers;
    this.leases = WriteLeases.in(fs, directory);
    for (Segment segment : LogDirectory.segments(fs, directory)) {
      open.add(new Open(segment, runtime.nanoTime()));
    }
  }

  /**
   * Returns when every segment is closed, copied or given up.
   *
   * @param meanwhile done once after HDFS was asked to close the segments
   * @return what is to be listed in place of segments, by their names; others are listed as they
   *     are
   * @throws IOException if the NameNode could not be asked, or the thread was interrupted
   */
  Map<String, Segment> closeAll(Runnable meanwhile) throws IOException {
    long start = runtime.nanoTime();
    if (!owner.hasEnded()) {
      recoverLeases();
    }
    meanwhile.run();
    while (true) {
      takeCopies();
      copyOpenOnes();
      recoverLeases();
      copyClosedOnes();
      giveUpAccepted();
      open.removeIf(this::isListed);
      if (open.isEmpty()) {
        return listedAs;
      }
      LOG.debug("Waiting for {} segments in {} to be closed or copied", open.size(), directory);
      await(pause(Duration.ofNanos(runtime.nanoTime() - start)));
    }
  }

  private boolean isListed(Open one) {
    return one.listedAsItIs || listedAs.containsKey(one.name);
  }

  private static Duration pause(Duration waited) {
    long part = waited.dividedBy(POLL_PART).toNanos();
    return Duration.ofNanos(Math.max(POLL_MIN.toNanos(), Math.min(part, POLL_MAX.toNanos())));
  }

  /** Waits for {@code pause}, or until a segment is read. */
  private void await(Duration pause) throws IOException {
    CompletableFuture<?>[] reads =
        open.stream().flatMap(one -> one.reading.stream()).toArray(CompletableFuture<?>[]::new);
    try {
      if (reads.length == 0) {
        runtime.sleep(pause);
      } else {
        runtime.await(CompletableFuture.anyOf(reads), pause);
      }
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "closing the segments in " + directory);
    }
  }

  private void recoverLeases() throws IOException {
    for (Open one : open) {
      if (!one.closed && !isListed(one) && recoverLease(one)) {
        one.closed = true;
        if (!one.closedBefore) {
          closedByHdfs.add(one.name);
        }
      }
    }
  }

  /** Asks HDFS to close the segment unless it is time to wait; returns whether it is closed. */
  private boolean recoverLease(Open one) throws IOException {
    try {
      if (leases.isClosed(one.name)) {
        one.closedBefore = one.calls == 0 && !one.copiedWhileOpen;
        return true;
      }
      long now = runtime.nanoTime();
      boolean copying =
          one.reading.isPresent() && now - one.readingSinceNanos < COPY_ALONE.toNanos();
      if (copying || now - one.nextCallNanos < 0) {
        return false;
      }
      if (one.calls++ == 0) {
        one.firstCallNanos = now;
      }
      one.nextCallNanos = now + untilNextCall(one.calls).toNanos();
      if (one.calls > CALLS_UNTIL_LATE) {
        LOG.warn(
            "HDFS has not closed {} yet: the tablets of that server wait for it. The logs of the"
                + " NameNode and the DataNodes say why; if they say \"Block length mismatch\","
                + " restart that DataNode. If its last block is lost for good, stele log check says"
                + " how to continue without it",
            one.segment.path());
      }
      return leases.recover(one.name);
    } catch (FileNotFoundException e) {
      gone(one, e);
      return false;
    }
  }

  private static Duration untilNextCall(int calls) {
    return calls == 1 ? SECOND_CALL : FURTHER_CALLS.multipliedBy(Math.min(calls - 1, LONGER_CALLS));
  }

  /** Starts to copy open segments, if what is known of their owner allows it. */
  private void copyOpenOnes() throws IOException {
    for (Open one : open) {
      boolean maybeDue = !one.closed && one.reading.isEmpty() && !isListed(one);
      if (maybeDue && isDueWhileOpen(one) && !isClosedNow(one)) {
        one.copiedWhileOpen = true;
        one.nextOpenCopyNanos = runtime.nanoTime() + COPY_OPEN_AGAIN.toNanos();
        one.readWhileOpen = true;
        copy(one, false);
      }
    }
  }

  /** Whether it is time to copy an open segment. */
  private boolean isDueWhileOpen(Open one) {
    long now = runtime.nanoTime();
    if (one.copiedWhileOpen && now - one.nextOpenCopyNanos < 0) {
      return false;
    }
    return owner.hasEnded()
        || (one.calls > 0
            && now - one.firstCallNanos >= COPY_WITHOUT_LEASE.toNanos()
            && isOwnerWithoutLease());
  }

  private boolean isOwnerWithoutLease() {
    long now = runtime.nanoTime();
    if (!ownerWithoutLease && now - nextOwnerCallNanos >= 0) {
      nextOwnerCallNanos = now + OWNER_AGAIN.toNanos();
      try {
        ownerWithoutLease = owner.isWithoutLease();
      } catch (IOException e) {
        LOG.info("Whether the owner of {} has a lease is not known: {}", directory, e.toString());
      }
      if (ownerWithoutLease) {
        avoidHangingNodes();
      }
    }
    return ownerWithoutLease;
  }

  /** Copies are to be where nothing hangs: HDFS cannot close a segment that is on such a node. */
  private void avoidHangingNodes() {
    Set<String> notClosed =
        open.stream().filter(one -> !one.closed).map(one -> one.name).collect(Collectors.toSet());
    LOG.info("HDFS has not closed {} in {}: they are copied", notClosed, directory);
    try {
      nodes = HangingNodes.of(fs, directory, closedByHdfs, notClosed);
    } catch (IOException e) {
      LOG.info("Where the segments in {} are is not known: {}", directory, e.toString());
    }
  }

  /** Makes files where nothing hangs, as far as is known. */
  Supplier<DurableFiles> files() {
    HangingNodes now = nodes;
    return () -> new DurableFiles(fs).preferring(now.best(runtime.random()));
  }

  /** Whether there is no open file of that name any more. */
  private boolean isClosedNow(Open one) throws IOException {
    try {
      return leases.isClosed(one.name);
    } catch (FileNotFoundException e) {
      gone(one, e);
      return true;
    }
  }

  /** Starts to copy closed segments, unless everything in them is on disk anyway. */
  private void copyClosedOnes() {
    long now = runtime.nanoTime();
    for (Open one : open) {
      if (one.closed && one.reading.isEmpty() && !isListed(one) && now - one.nextCopyNanos >= 0) {
        one.readWhileOpen = false;
        copy(one, one.closedBefore);
      }
    }
  }

  /** Starts to copy the segment, unless it may have a summary, and has. */
  private void copy(Open one, boolean mayHaveSummary) {
    Supplier<DurableFiles> files = files();
    read(
        one,
        () ->
            mayHaveSummary && hasSummary(one.segment)
                ? Optional.empty()
                : Optional.of(copier.copy(one.segment, files)));
  }

  private void read(Open one, IoCallable<Optional<Segment>> work) {
    CompletableFuture<Optional<Segment>> result = new CompletableFuture<>();
    one.reading = Optional.of(result);
    one.readingSinceNanos = runtime.nanoTime();
    readers.execute(() -> Futures.complete(result, work));
  }

  private boolean hasSummary(Segment segment) {
    try {
      return SegmentSummary.read(fs, segment).isPresent();
    } catch (IOException e) {
      LOG.info("{} cannot be read now: {}", segment.path(), e.toString());
      return false;
    }
  }

  /** Takes the results of the reads that are done. */
  private void takeCopies() throws IOException {
    for (Open one : open) {
      if (one.reading.filter(CompletableFuture::isDone).isPresent()) {
        CompletableFuture<Optional<Segment>> done = one.reading.get();
        one.reading = Optional.empty();
        try {
          take(one, Futures.await(runtime, done, "copying " + one.segment.path()));
        } catch (IOException e) {
          checkNotInterrupted(e);
          copyFailed(one, e);
        }
      }
    }
  }

  private void take(Open one, Optional<Segment> copy) throws IOException {
    copy.ifPresentOrElse(segment -> listedAs.put(one.name, segment), () -> one.listedAsItIs = true);
    if (!one.closed) {
      leases.recover(one.name); // HDFS would keep it open for long.
    }
  }

  private void copyFailed(Open one, IOException why) {
    if (one.readWhileOpen) {
      LOG.info("HDFS must close {} first: {}", one.segment.path(), why.toString());
      return;
    }
    one.nextCopyNanos = runtime.nanoTime() + COPY_AGAIN.toNanos();
    if (!(why instanceof SegmentCopier.UnreadableException)) {
      LOG.warn(
          "The tablets of a dead server wait until {} can be copied. It was not ended in order, so"
              + " its last records may be on too few nodes: {}",
          one.segment.path(),
          why.toString());
    } else if (why.getCause() instanceof FileNotFoundException missing) {
      gone(one, missing);
    } else {
      LOG.warn("It cannot be copied: {}", why.getMessage());
      one.listedAsItIs = ++one.failedReads == READS_MAX; // Only tablets that need it wait then.
    }
  }

  private static void checkNotInterrupted(IOException failure) throws IOException {
    for (Throwable one = failure; one != null; one = one.getCause()) {
      if (Futures.isInterruption(one)) {
        throw failure;
      }
    }
  }

  /**
   * Nobody deletes single segments of a renamed log: the list says that there was one, so that it
   * is missed.
   */
  private void gone(Open one, FileNotFoundException e) {
    LOG.warn("{} is gone: it was there when its server was fenced", one.segment.path(), e);
    listedAs.put(one.name, one.segment);
  }

  /** Gives up those segments that HDFS has had time to close, and whose loss is accepted. */
  private void giveUpAccepted() throws IOException {
    List<Open> late =
        open.stream()
            .filter(one -> !one.closed && !isListed(one) && one.calls > CALLS_UNTIL_LATE)
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
      listedAs.put(one.name, one.segment);
    }
  }
}
