package io.stele.log;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.files.NameSpace;
import io.stele.model.TabletKind;
import io.stele.runtime.FreshRead;
import io.stele.runtime.Futures;
import io.stele.runtime.Permits;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
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

  /** A host that vanishes without a word lets the opening of a file wait for a minute. */
  private static final Duration OPENING_MAX = Duration.ofSeconds(5);

  private final ProcessRuntime runtime;
  private final FileSystem fs;
  private final Path directory;
  private final TabletKind kind;
  private final Permits memory;
  private final Lock listing; // One thread reads the list, the others wait for it.
  private final FreshRead<AcceptedLosses> accepted;
  private final AtomicInteger users = new AtomicInteger();

  @GuardedBy("listing")
  private Optional<List<Segment>> segments = Optional.empty();

  private final Map<Path, Place> places = new ConcurrentHashMap<>(); // By segment.

  /** What is read in place of one segment, once it is opened. */
  private static final class Place {
    final Lock opening; // One thread opens it, others that need this segment wait.
    volatile boolean lost; // The segment itself must be read.

    @GuardedBy("opening")
    Optional<SortedSegment> records = Optional.empty();

    @GuardedBy("opening")
    int memoryBytes;

    Place(Lock opening) {
      this.opening = opening;
    }
  }

  /**
   * The segments of {@code kind} in {@code directory}.
   *
   * @param memory for segments that are not sorted, in bytes
   */
  ReplayedLog(
      ProcessRuntime runtime, FileSystem fs, Path directory, TabletKind kind, Permits memory) {
    this.runtime = runtime;
    this.fs = fs;
    this.directory = directory;
    this.kind = kind;
    this.memory = memory;
    this.listing = runtime.newLock();
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
    listing.lock();
    try {
      if (segments.isEmpty()) {
        segments = Optional.of(FencedLog.segments(fs, directory, kind));
      }
      return segments.get();
    } finally {
      listing.unlock();
    }
  }

  /**
   * A segment's records by tablet; empty if the segment itself must be read. Sorting may still be
   * under way while tablets that need not wait for it are replayed, so that is found out each time.
   */
  @Override
  public Optional<SortedSegment> of(Segment segment) throws IOException {
    Place place = place(segment);
    place.opening.lock();
    try {
      if (place.lost) {
        return Optional.empty();
      }
      if (place.records.isEmpty()) {
        place.records = open(segment, place);
      }
      return place.records;
    } finally {
      place.opening.unlock();
    }
  }

  private Place place(Segment segment) {
    return places.computeIfAbsent(segment.path(), any -> new Place(runtime.newLock()));
  }

  @GuardedBy("place.opening")
  private Optional<SortedSegment> open(Segment segment, Place place) throws IOException {
    try {
      if (fs.exists(SortedFormat.path(segment))) {
        Optional<SortedFile> file = openSorted(segment);
        if (file.isPresent()) {
          return Optional.of(file.get());
        }
      }
    } catch (IOException e) {
      giveUp(segment, place, "The sorted copy of {} cannot be opened", e);
      return Optional.empty();
    }
    return read(segment, place);
  }

  /** Opens a sorted file, which has one replica, unless its node does not answer. */
  private Optional<SortedFile> openSorted(Segment segment) throws IOException {
    CompletableFuture<Optional<SortedFile>> opened = new CompletableFuture<>();
    runtime.start(
        "sorted-file", () -> Futures.complete(opened, () -> SortedFile.open(fs, segment)));
    boolean done = false;
    try {
      done = runtime.await(opened, OPENING_MAX);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "opening the sorted copy of " + segment.path());
    } finally {
      if (!done) {
        opened.thenAccept(late -> late.ifPresent(this::close));
      }
    }
    if (!done) {
      throw new IOException("no DataNode has answered in " + OPENING_MAX);
    }
    return Futures.await(runtime, opened, "opening the sorted copy of " + segment.path());
  }

  /** Reads a segment into memory if there is room. */
  @GuardedBy("place.opening")
  private Optional<SortedSegment> read(Segment segment, Place place) throws IOException {
    long bytes = SegmentInMemory.bytes(segment);
    if (bytes > Integer.MAX_VALUE || !memory.tryAcquire((int) bytes)) {
      return Optional.empty();
    }
    boolean read = false;
    try {
      SortedSegment records = SegmentInMemory.read(fs, segment);
      place.memoryBytes = (int) bytes;
      read = true;
      return Optional.of(records);
    } catch (IOException e) {
      giveUp(segment, place, "{} cannot be read for all tablets at once", e);
      return Optional.empty();
    } finally {
      if (!read) {
        memory.release((int) bytes);
      }
    }
  }

  private static void giveUp(Segment segment, Place place, String message, IOException failure)
      throws IOException {
    if (Futures.isInterruption(failure)) {
      throw failure;
    }
    LOG.warn(message, segment.path(), failure);
    place.lost = true;
  }

  @Override
  public void lost(Segment segment) {
    place(segment).lost = true;
  }

  /** Call it when nobody uses the log any more. */
  @Override
  public void close() {
    for (Place place : places.values()) {
      place.opening.lock();
      try {
        place.records.ifPresent(this::close);
        place.records = Optional.empty();
        memory.release(place.memoryBytes);
        place.memoryBytes = 0;
      } finally {
        place.opening.unlock();
      }
    }
    places.clear();
  }

  private void close(SortedSegment records) {
    try {
      records.close();
    } catch (IOException | RuntimeException e) {
      LOG.warn("A segment of {} that was only read could not be closed", directory, e);
    }
  }
}
