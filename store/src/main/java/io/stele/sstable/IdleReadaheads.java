package io.stele.sstable;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Read-aheads of scans between two pages. A server keeps no cursor of a scan. But a page leaves
 * here what was read beyond its end, and the place of the file's stream, so that the next page goes
 * straight on; otherwise it would ask a DataNode anew and read the last block again.
 *
 * <p>One is kept for each file, as only one can have its stream's place. Where memory is short, the
 * one that was left first is closed. A scan whose read-ahead is closed reads more, and nothing
 * else: blocks are checked when they are used.
 *
 * <p>Safe for use by any number of threads; no lock is held during I/O.
 */
final class IdleReadaheads {
  /** Keeps none. */
  static final IdleReadaheads NONE = new IdleReadaheads(() -> 0, 0);

  /**
   * A scan that is not over asks for its next page within milliseconds, or when it has used one.
   */
  private static final Duration KEPT = Duration.ofSeconds(5);

  private record Idle(Readahead readahead, long leftNanos) {}

  private final LongSupplier nanoClock;
  private final long bytesMax;

  @GuardedBy("this")
  private final Map<StoredFile, Idle> byFile = new LinkedHashMap<>(); // The first left is first.

  @GuardedBy("this")
  private long bytes;

  /** None yet; all together keep {@code bytesMax} bytes of files at most. */
  IdleReadaheads(LongSupplier nanoClock, long bytesMax) {
    this.nanoClock = nanoClock;
    this.bytesMax = bytesMax;
  }

  /** Keeps the read-ahead of a cursor over {@code file} that is closed, or closes it too. */
  void leave(StoredFile file, Readahead readahead) {
    if (!readahead.hasRead() || readahead.heldBytes() > bytesMax || !readahead.takePlace()) {
      readahead.close();
      return;
    }
    readahead.endPage();
    add(file, readahead).forEach(Readahead::close);
    if (file.isClosed()) {
      drop(file); // Whoever closed it may have looked here before.
    }
  }

  /** Returns those that are to be closed for it. */
  private synchronized List<Readahead> add(StoredFile file, Readahead readahead) {
    List<Readahead> pushedOut = new ArrayList<>();
    byFile.put(
        file, new Idle(readahead, nanoClock.getAsLong())); // There is none: this one has the place.
    bytes += readahead.heldBytes();
    Iterator<Idle> oldest = byFile.values().iterator();
    while (bytes > bytesMax) {
      pushedOut.add(remove(oldest, oldest.next()));
    }
    return pushedOut;
  }

  /** Takes the read-ahead of {@code file} whose bytes have that at {@code offset}, or end there. */
  synchronized Optional<Readahead> take(StoredFile file, long offset) {
    Optional<Idle> idle = Optional.ofNullable(byFile.get(file));
    return idle.isPresent() && idle.get().readahead().reaches(offset)
        ? remove(file)
        : Optional.empty();
  }

  /** Closes the read-ahead of {@code file}. */
  void drop(StoredFile file) {
    Optional<Readahead> dropped;
    synchronized (this) {
      dropped = remove(file);
    }
    dropped.ifPresent(Readahead::close);
  }

  /** Closes those that nobody has taken for {@link #KEPT}. */
  void closeUnused() {
    List<Readahead> unused = new ArrayList<>();
    synchronized (this) {
      long now = nanoClock.getAsLong();
      Iterator<Idle> oldest = byFile.values().iterator();
      while (oldest.hasNext()) {
        Idle idle = oldest.next();
        if (now - idle.leftNanos() < KEPT.toNanos()) {
          break; // So are all that follow.
        }
        unused.add(remove(oldest, idle));
      }
    }
    unused.forEach(Readahead::close);
  }

  @GuardedBy("this")
  private Optional<Readahead> remove(StoredFile file) {
    Optional<Readahead> removed = Optional.ofNullable(byFile.remove(file)).map(Idle::readahead);
    removed.ifPresent(readahead -> bytes -= readahead.heldBytes());
    return removed;
  }

  @GuardedBy("this")
  private Readahead remove(Iterator<Idle> at, Idle idle) {
    at.remove();
    bytes -= idle.readahead().heldBytes();
    return idle.readahead();
  }

  /** How many bytes of files all together have. */
  synchronized long bytes() {
    return bytes;
  }
}
