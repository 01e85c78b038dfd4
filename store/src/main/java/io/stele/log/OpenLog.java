package io.stele.log;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.model.TabletKind;
import io.stele.runtime.ProcessRuntime;
import java.io.Closeable;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A fenced log: its list of segments and its sorted files, each read or opened once for all tablets
 * that are replayed from it. What could not be read is tried again.
 *
 * <p>Safe for use by any number of threads; its users are counted by {@link FencedLogs}.
 */
final class OpenLog implements Closeable {
  private final FileSystem fs;
  private final Path directory;
  private final Lock opening; // One thread opens, the others wait for it.
  private final AtomicInteger users = new AtomicInteger();

  @GuardedBy("opening")
  private final Map<TabletKind, List<Segment>> segments = new HashMap<>();

  @GuardedBy("opening")
  private final Map<Path, SortedSegment> sorted = new HashMap<>(); // By segment.

  OpenLog(ProcessRuntime runtime, FileSystem fs, Path directory) {
    this.fs = fs;
    this.directory = directory;
    this.opening = runtime.newLock();
  }

  /** How many replays read it. */
  AtomicInteger users() {
    return users;
  }

  /** See {@link FencedLog#segments}. */
  List<Segment> segments(TabletKind kind) throws IOException {
    opening.lock();
    try {
      List<Segment> known = segments.get(kind);
      if (known == null) {
        known = FencedLog.segments(fs, directory, kind);
        segments.put(kind, known);
      }
      return known;
    } finally {
      opening.unlock();
    }
  }

  /**
   * The sorted file of a segment; empty if the segment itself must be read. Sorting may still be
   * under way while tablets that need not wait for it are replayed, so that is found out each time.
   */
  Optional<SortedSegment> sorted(Segment segment) throws IOException {
    opening.lock();
    try {
      Optional<SortedSegment> known = Optional.ofNullable(sorted.get(segment.path()));
      if (known.isEmpty()) {
        known = SortedSegment.open(fs, segment);
        known.ifPresent(opened -> sorted.put(segment.path(), opened));
      }
      return known;
    } finally {
      opening.unlock();
    }
  }

  /** Call it when nobody uses the log any more. */
  @Override
  public void close() throws IOException {
    opening.lock();
    try {
      for (SortedSegment one : sorted.values()) {
        one.close();
      }
      sorted.clear();
    } finally {
      opening.unlock();
    }
  }
}
