package io.stele.log;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.Closeable;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The sorted segments of one fenced log, each opened once for all tablets that are replayed from
 * it.
 *
 * <p>Safe for use by any number of threads.
 */
final class SortedSegments implements Closeable {
  private final FileSystem fs;

  @GuardedBy("this")
  private final Map<Path, Optional<SortedSegment>> opened = new HashMap<>(); // By segment.

  SortedSegments(FileSystem fs) {
    this.fs = fs;
  }

  /** The sorted file of a segment; empty if the segment itself must be read. */
  Optional<SortedSegment> of(Segment segment) throws IOException {
    synchronized (this) {
      Optional<SortedSegment> known = opened.get(segment.path());
      if (known != null) {
        return known;
      }
    }
    Optional<SortedSegment> sorted = SortedSegment.open(fs, segment);
    Optional<SortedSegment> first;
    boolean ours;
    synchronized (this) {
      ours = opened.putIfAbsent(segment.path(), sorted) == null;
      first = Objects.requireNonNull(opened.get(segment.path()));
    }
    if (!ours && sorted.isPresent()) {
      sorted.get().close();
    }
    return first;
  }

  /** Call it when nobody reads any more. */
  @Override
  public void close() throws IOException {
    List<Optional<SortedSegment>> all;
    synchronized (this) {
      all = List.copyOf(opened.values());
      opened.clear();
    }
    for (Optional<SortedSegment> one : all) {
      if (one.isPresent()) {
        one.get().close();
      }
    }
  }
}
