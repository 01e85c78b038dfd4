package io.stele.log;

import io.stele.model.CorruptionException;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Reads all records of a log, of all tablets, as a test compares them with what was written. */
final class WholeLog {
  private WholeLog() {}

  /** All records of {@code kind} in {@code directory} as it is listed now. */
  static RecordSource read(FileSystem fs, Path directory, TabletKind kind) throws IOException {
    return new Chain(
        fs,
        LogDirectory.segments(fs, directory).stream()
            .filter(segment -> segment.kind() == kind)
            .toList());
  }

  /**
   * All records of {@code kind} in the fenced log in {@code directory}.
   *
   * @throws CorruptionException if the directory, its list or a listed segment is gone, or is not
   *     as long as it was
   */
  static RecordSource readFenced(FileSystem fs, Path directory, TabletKind kind)
      throws IOException {
    List<Segment> segments = FencedLog.segments(fs, directory, kind);
    for (Segment segment : segments) {
      Optional<CorruptionException> changed = FencedLog.changed(fs, segment);
      if (changed.isPresent()) {
        throw changed.get();
      }
    }
    return new Chain(fs, segments);
  }

  /** Only the records of {@code tablet}. */
  static RecordSource only(TabletId tablet, RecordSource all) {
    return new RecordSource() {
      @Override
      public Optional<LogRecord> next() throws IOException {
        Optional<LogRecord> record = all.next();
        while (record.isPresent() && !record.get().tablet().equals(tablet)) {
          record = all.next();
        }
        return record;
      }

      @Override
      public void close() throws IOException {
        all.close();
      }
    };
  }

  /**
   * Segment by segment. A torn tail ends its segment, not the log: the records that were not yet
   * acknowledged come again, first, in the next used segment.
   *
   * <p>It also finds segments missing between others, and segments that end before the position up
   * to which they had been acknowledged: both are {@link CorruptionException}.
   */
  private static final class Chain implements RecordSource {
    private final FileSystem fs;
    private final Queue<Segment> rest;
    private Optional<LogReader> current = Optional.empty();
    private final SegmentLinks links;
    private long number;

    Chain(FileSystem fs, List<Segment> segments) {
      this.fs = fs;
      this.rest = new ArrayDeque<>(segments);
      this.links = new SegmentLinks(segments);
    }

    @Override
    public Optional<LogRecord> next() throws IOException {
      while (true) {
        if (current.isPresent()) {
          Optional<LogRecord> record = current.get().next();
          if (record.isPresent()) {
            return record;
          }
          links.ended(number, current.get().position());
          close();
        }
        if (rest.isEmpty()) {
          return Optional.empty();
        }
        open(rest.remove());
      }
    }

    private void open(Segment segment) throws IOException {
      current = LogReader.open(fs, segment);
      if (current.isEmpty()) {
        return; // Not created properly: no other segment names it as previous.
      }
      number = segment.number();
      Optional<SegmentLink> link = current.get().link();
      if (link.isPresent()) {
        links.check(segment, link.get());
      } // Otherwise it was a standby that was never used: no other segment needs it.
    }

    @Override
    public void close() throws IOException {
      if (current.isPresent()) {
        LogReader reader = current.get();
        current = Optional.empty();
        reader.close();
      }
    }
  }
}
