package io.stele.log;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The fenced logs from which tablets are replayed now. What several tablets need of a log, its list
 * of segments and its sorted files, is read once while any of them is replayed.
 *
 * <p>Safe for use by any number of threads.
 */
public final class FencedLogs {
  private final FileSystem fs;

  @GuardedBy("this")
  private final Map<Path, Shared> shared = new HashMap<>();

  /** Logs in {@code fs}. */
  public FencedLogs(FileSystem fs) {
    this.fs = fs;
  }

  /** A log, and how many replays of it are open. */
  private static final class Shared {
    final SortedSegments sorted;
    int users;

    Shared(SortedSegments sorted) {
      this.sorted = sorted;
    }
  }

  /**
   * The records of {@code tablet} above {@code above} in the fenced log in {@code directory}; see
   * {@link FencedLog#read(FileSystem, Path, TabletId, long)}.
   *
   * @return what must be closed
   */
  public RecordSource read(Path directory, TabletId tablet, long above) throws IOException {
    List<Segment> segments = FencedLog.segments(fs, directory, TabletKind.of(tablet));
    AcceptedLosses accepted = AcceptedLosses.read(fs, directory);
    Shared log = take(directory);
    return new Borrowed(
        new TabletSegments(fs, segments, log.sorted, tablet, above, accepted), directory, log);
  }

  private synchronized Shared take(Path directory) {
    Shared log = shared.computeIfAbsent(directory, any -> new Shared(new SortedSegments(fs)));
    log.users++;
    return log;
  }

  private void giveBack(Path directory, Shared log) throws IOException {
    synchronized (this) {
      if (--log.users > 0) {
        return;
      }
      shared.remove(directory);
    }
    log.sorted.close();
  }

  private final class Borrowed implements RecordSource {
    private final RecordSource records;
    private final Path directory;
    private final Shared log;
    private boolean closed;

    Borrowed(RecordSource records, Path directory, Shared log) {
      this.records = records;
      this.directory = directory;
      this.log = log;
    }

    @Override
    public Optional<LogRecord> next() throws IOException {
      return records.next();
    }

    @Override
    public List<SequenceRange> passedOver() {
      return records.passedOver();
    }

    @Override
    public void close() throws IOException {
      if (!closed) {
        closed = true;
        try {
          records.close();
        } finally {
          giveBack(directory, log);
        }
      }
    }
  }
}
