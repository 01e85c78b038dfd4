package io.stele.tabletserver;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.log.SegmentSorter;
import io.stele.log.SortingSpace;
import io.stele.metadata.Layout;
import io.stele.model.ServerId;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sorts segments of dead servers' logs for the master, in the background.
 *
 * <p>The memory that it uses counts as memtables, like that of the replays that follow. Safe for
 * use by any number of threads.
 */
final class LogSorter implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LogSorter.class);
  private static final int AT_ONCE = 2;
  private static final long PART_BYTES_MAX = 96 << 20;
  private static final int PARTS_PER_BUDGET = 8;
  private static final int REMEMBERED_MAX = 10_000;

  private final Layout layout;
  private final MemtableBudget budget;
  private final SegmentSorter sorter;
  private final long partBytes;
  private final WorkerPool threads;

  @GuardedBy("this")
  private final Set<Path> begun = new HashSet<>();

  @GuardedBy("this")
  private final Set<Path> done = new HashSet<>();

  @GuardedBy("this")
  private final Deque<SortingSpace> spaces = new ArrayDeque<>(); // Free, while there is work.

  LogSorter(ProcessRuntime runtime, FileSystem fs, Layout layout, MemtableBudget budget) {
    this.layout = layout;
    this.budget = budget;
    this.partBytes = Math.min(PART_BYTES_MAX, budget.bytesMax() / PARTS_PER_BUDGET);
    this.sorter = new SegmentSorter(runtime, fs, partBytes);
    this.threads = runtime.pool("log-sorter", AT_ONCE);
  }

  /**
   * Starts to sort segments, except those already started.
   *
   * @return the names of the finished segments, sorted or not: a segment that cannot be sorted is
   *     read itself
   */
  synchronized List<String> sort(ServerId server, List<String> segments) {
    if (done.size() > REMEMBERED_MAX) { // Sorted once more, they are found to be sorted.
      begun.removeAll(done);
      done.clear();
    }
    List<String> ended = new ArrayList<>();
    for (String name : segments) {
      Path file = new Path(layout.recovery(server), name);
      if (done.contains(file)) {
        ended.add(name);
      } else if (begun.add(file)) {
        begin(file);
      }
    }
    return ended;
  }

  @GuardedBy("this")
  private void begin(Path file) {
    try {
      threads.execute(() -> sort(file));
    } catch (RejectedExecutionException e) {
      LOG.debug("This server stops", e);
    }
  }

  private void sort(Path file) {
    budget.take(partBytes);
    SortingSpace space = space();
    try {
      sorter.sort(file, space);
    } catch (IOException | RuntimeException e) {
      LOG.warn("Could not sort {}; it will be read as it is: {}", file, e.toString());
    } finally {
      budget.release(partBytes);
      ended(file, space);
    }
  }

  private synchronized SortingSpace space() {
    return spaces.isEmpty() ? new SortingSpace() : spaces.pop();
  }

  private synchronized void ended(Path file, SortingSpace space) {
    done.add(file);
    if (done.size() < begun.size()) {
      spaces.push(space);
    } else {
      spaces.clear(); // It may take long until another server dies.
    }
  }

  @Override
  public void close() {
    threads.close();
  }
}
