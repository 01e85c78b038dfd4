package io.stele.log;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.runtime.Permits;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The fenced logs from which tablets are replayed. The list of segments, the sorted files and small
 * segments of a log are read once for all tablets, and kept until {@link #closeUnused}.
 *
 * <p>Safe for use by any number of threads.
 */
public final class FencedLogs {
  private static final Logger LOG = LoggerFactory.getLogger(FencedLogs.class);

  private final ProcessRuntime runtime;
  private final FileSystem fs;
  private final Permits memory;

  @GuardedBy("this")
  private final Map<Key, ReplayedLog> open = new HashMap<>();

  /** The two kinds are apart: METADATA must not wait for what user tablets read. */
  private record Key(Path directory, TabletKind kind) {}

  /**
   * Logs in {@code fs}.
   *
   * @param memoryBytes how much memory segments may take that are not sorted
   */
  public FencedLogs(ProcessRuntime runtime, FileSystem fs, int memoryBytes) {
    this.runtime = runtime;
    this.fs = fs;
    this.memory = new Permits(runtime, memoryBytes);
  }

  /**
   * The records of {@code tablet} above {@code above} in the fenced log in {@code directory}.
   * Segments without such records, according to their summaries, are not read, unless they are
   * small and not sorted: then all of one is read, once. Damage, such as a listed segment that is
   * gone, does not stop a tablet if it cannot concern it, or if it was accepted.
   *
   * @param sinceNanos when the tablet was asked for, by the runtime's clock: losses accepted before
   *     are accepted
   * @return a source that the caller must close
   * @throws io.stele.model.CorruptionException if the directory or its list is gone
   * @throws IOException if they cannot be read
   */
  public RecordSource read(Path directory, TabletId tablet, long above, long sinceNanos)
      throws IOException {
    ReplayedLog log = take(new Key(directory, TabletKind.of(tablet)));
    boolean lent = false;
    try {
      List<Segment> segments = log.segments();
      AcceptedLosses accepted = log.accepted(sinceNanos);
      if (accepted.hasLog()) {
        LOG.warn(
            "Tablet {} continues without the records in {}, which was given up", tablet, directory);
      }
      RecordSource records = new TabletSegments(fs, segments, log, tablet, above, accepted);
      lent = true;
      return new Borrowed(records, log);
    } finally {
      if (!lent) {
        log.users().decrementAndGet();
      }
    }
  }

  /** Closes the logs that are not being read. They are reopened if necessary. */
  public void closeUnused() {
    List<ReplayedLog> unused = new ArrayList<>();
    synchronized (this) {
      open.values().removeIf(log -> log.users().get() == 0 && unused.add(log));
    }
    unused.forEach(ReplayedLog::close);
  }

  private synchronized ReplayedLog take(Key key) {
    ReplayedLog log =
        open.computeIfAbsent(
            key, any -> new ReplayedLog(runtime, fs, key.directory(), key.kind(), memory));
    log.users().incrementAndGet();
    return log;
  }

  private static final class Borrowed implements RecordSource {
    private final RecordSource records;
    private final ReplayedLog log;
    private boolean closed;

    Borrowed(RecordSource records, ReplayedLog log) {
      this.records = records;
      this.log = log;
    }

    @Override
    public Optional<LogRecord> next() throws IOException {
      return records.next();
    }

    @Override
    public Losses losses() {
      return records.losses();
    }

    @Override
    public void close() throws IOException {
      if (!closed) {
        closed = true;
        try {
          records.close();
        } finally {
          log.users().decrementAndGet();
        }
      }
    }
  }
}
