package io.stele.log;

import java.io.Closeable;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;

/**
 * The sorted segments of one fenced log, each opened once for all tablets that are replayed from
 * it.
 *
 * <p>Safe for use by any number of threads.
 */
final class SortedSegments implements Closeable {
  private final FileSystem fs;
  private final Map<Long, Optional<SortedSegment>> opened = new HashMap<>(); // Guarded by this.

  SortedSegments(FileSystem fs) {
    this.fs = fs;
  }

  /** The sorted file of a segment; empty if the segment itself must be read. */
  Optional<SortedSegment> of(Segment segment) throws IOException {
    synchronized (this) {
      Optional<SortedSegment> known = opened.get(segment.number());
      if (known != null) {
        return known;
      }
    }
    Optional<SortedSegment> sorted = SortedSegment.open(fs, segment);
    synchronized (this) {
      Optional<SortedSegment> faster = opened.putIfAbsent(segment.number(), sorted);
      if (faster == null) {
        return sorted;
      }
      if (sorted.isPresent()) {
        sorted.get().close();
      }
      return faster;
    }
  }

  @Override
  public synchronized void close() throws IOException {
    for (Optional<SortedSegment> one : opened.values()) {
      if (one.isPresent()) {
        one.get().close();
      }
    }
    opened.clear();
  }
}
