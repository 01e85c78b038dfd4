package io.stele.log;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.files.NameSpace;
import io.stele.model.TabletKind;
import io.stele.runtime.FreshRead;
import io.stele.runtime.Futures;
import io.stele.runtime.Permits;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The segments of one kind in a fenced log: their list, its sorted files, and small segments that
 * are not sorted, in memory: each is read or opened once for all tablets that are replayed from it.
 * A list that could not be read is tried again.
 *
 * <p>Safe for use by any number of threads; its users are counted by {@link FencedLogs}.
 */
final class ReplayedLog implements SortedSegments, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ReplayedLog.class);

  private final FileSystem fs;
  private final Path directory;
  private final TabletKind kind;
  private final Permits memory;
  private final Lock opening; // One thread opens, the others wait for it.
  private final FreshRead<AcceptedLosses> accepted;
  private final AtomicInteger users = new AtomicInteger();

  @GuardedBy("opening")
  private Optional<List<Segment>> segments = Optional.empty();

  @GuardedBy("opening")
  private final Map<Path, SortedSegment> sorted = new HashMap<>(); // By segment.

  @GuardedBy("opening")
  private final Set<Path> lost = new HashSet<>(); // Segments that must be read themselves.

  @GuardedBy("opening")
  private int taken; // Of the memory.

  /**
   * The segments of {@code kind} in {@code directory}.
   *
   * @param memory for segments that are not sorted, in bytes
   */
  ReplayedLog(
      ProcessRuntime runtime, FileSystem fs, Path directory, TabletKind kind, Permits memory) {
    this.fs = fs;
    this.directory = directory;
    this.kind = kind;
    this.memory = memory;
    this.opening = runtime.newLock();
    this.accepted =
        new FreshRead<>(
            runtime,
            () -> {
              NameSpace.catchUp(fs, directory);
              return AcceptedLosses.read(fs, directory);
            });
  }

  /** How many replays read it. */
  AtomicInteger users() {
    return users;
  }

  /** What operators had accepted at that time by the runtime's clock, or later. */
  AcceptedLosses accepted(long sinceNanos) throws IOException {
    return accepted.since(sinceNanos);
  }

  /** See {@link FencedLog#segments}. */
  List<Segment> segments() throws IOException {
    opening.lock();
    try {
      if (segments.isEmpty()) {
        segments = Optional.of(FencedLog.segments(fs, directory, kind));
      }
      return segments.get();
    } finally {
      opening.unlock();
    }
  }

  /**
   * A segment's records by tablet; empty if the segment itself must be read. Sorting may still be
   * under way while tablets that need not wait for it are replayed, so that is found out each time.
   */
  @Override
  public Optional<SortedSegment> of(Segment segment) throws IOException {
    opening.lock();
    try {
      if (lost.contains(segment.path())) {
        return Optional.empty();
      }
      Optional<SortedSegment> known = Optional.ofNullable(sorted.get(segment.path()));
      if (known.isEmpty()) {
        known = open(segment);
        known.ifPresent(opened -> sorted.put(segment.path(), opened));
      }
      return known;
    } finally {
      opening.unlock();
    }
  }

  @GuardedBy("opening")
  private Optional<SortedSegment> open(Segment segment) throws IOException {
    try {
      Optional<SortedFile> file = SortedFile.open(fs, segment);
      if (file.isPresent()) {
        return Optional.of(file.get());
      }
    } catch (IOException e) {
      giveUp(segment, "The sorted copy of {} cannot be opened", e);
      return Optional.empty();
    }
    return read(segment);
  }

  /** Reads a segment into memory if there is room. */
  @GuardedBy("opening")
  private Optional<SortedSegment> read(Segment segment) throws IOException {
    long bytes = SegmentInMemory.bytes(segment);
    if (bytes > Integer.MAX_VALUE || !memory.tryAcquire((int) bytes)) {
      return Optional.empty();
    }
    boolean read = false;
    try {
      SortedSegment records = SegmentInMemory.read(fs, segment);
      taken += (int) bytes;
      read = true;
      return Optional.of(records);
    } catch (IOException e) {
      giveUp(segment, "{} cannot be read for all tablets at once", e);
      return Optional.empty();
    } finally {
      if (!read) {
        memory.release((int) bytes);
      }
    }
  }

  @GuardedBy("opening")
  private void giveUp(Segment segment, String message, IOException failure) throws IOException {
    if (Futures.isInterruption(failure)) {
      throw failure;
    }
    LOG.warn(message, segment.path(), failure);
    lost.add(segment.path());
  }

  @Override
  public void lost(Segment segment) {
    opening.lock();
    try {
      lost.add(segment.path());
    } finally {
      opening.unlock();
    }
  }

  /** Call it when nobody uses the log any more. */
  @Override
  public void close() {
    opening.lock();
    try {
      for (SortedSegment one : sorted.values()) {
        try {
          one.close();
        } catch (IOException | RuntimeException e) {
          LOG.warn("A segment of {} that was only read could not be closed", directory, e);
        }
      }
      sorted.clear();
      lost.clear();
      memory.release(taken);
      taken = 0;
    } finally {
      opening.unlock();
    }
  }
}
