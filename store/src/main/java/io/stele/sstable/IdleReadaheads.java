package io.stele.sstable;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.client.HdfsClientConfigKeys.Read.ShortCircuit;

/**
 * Read-aheads of scans between two pages. A server keeps no cursor of a scan. But a page leaves
 * here what was read beyond its end, and the place of the file's stream, so that the next page goes
 * straight on; otherwise it would ask a DataNode anew and read the last block again. As only one
 * can have that place, one is kept for each file: of the first scan. Others read at positions.
 *
 * <p>Where memory is short, the one that was left first is closed. A scan whose read-ahead is
 * closed reads more, and nothing else: blocks are checked when they are used.
 *
 * <p>Safe for use by any number of threads; no lock is held during I/O.
 */
final class IdleReadaheads {
  /** Keeps none. */
  static final IdleReadaheads NONE = new IdleReadaheads(() -> 0, 0, 0);

  /**
   * A scan that is not over asks for its next page within milliseconds, or when it has used one.
   */
  private static final Duration KEPT = Duration.ofSeconds(5);

  /** A larger one is there for the sake of large blocks, whose memory each page has to claim. */
  private static final int BYTES_EACH_MAX = 3 << 19;

  /** Beside the heap, for a connection to a DataNode. */
  private static final long CONNECTION_BYTES = 128 << 10;

  private record Idle(StoredFile file, Readahead readahead, long leftNanos) {}

  private final LongSupplier nanoClock;
  private final long bytesMax;
  private final long streamBytes;

  @GuardedBy("this")
  private final Set<Idle> all = new LinkedHashSet<>(); // The first left is first.

  @GuardedBy("this")
  private long bytes;

  /**
   * None yet.
   *
   * @param bytesMax of all together
   * @param streamBytes what the connection of each takes beside the heap
   */
  IdleReadaheads(LongSupplier nanoClock, long bytesMax, long streamBytes) {
    this.nanoClock = nanoClock;
    this.bytesMax = bytesMax;
    this.streamBytes = streamBytes;
  }

  /** None yet, of files in {@code fs}. */
  static IdleReadaheads of(FileSystem fs, LongSupplier nanoClock, long bytesMax) {
    Configuration conf = fs.getConf();
    boolean local = conf.getBoolean(ShortCircuit.KEY, ShortCircuit.DEFAULT);
    long localBytes = conf.getInt(ShortCircuit.BUFFER_SIZE_KEY, ShortCircuit.BUFFER_SIZE_DEFAULT);
    return new IdleReadaheads(
        nanoClock, bytesMax, local ? Math.max(localBytes, CONNECTION_BYTES) : CONNECTION_BYTES);
  }

  private long bytes(Readahead readahead) {
    return readahead.heldBytes() + streamBytes;
  }

  /** Keeps the read-ahead of a cursor over {@code file} that is closed, or closes it too. */
  void leave(StoredFile file, Readahead readahead) {
    if (!readahead.hasRead()
        || readahead.heldBytes() > BYTES_EACH_MAX
        || bytes(readahead) > bytesMax
        || !readahead.takePlace()) {
      readahead.close();
      return;
    }
    readahead.endPage();
    add(new Idle(file, readahead, nanoClock.getAsLong())).forEach(Readahead::close);
    if (file.isClosed()) {
      drop(file); // Whoever closed it may have looked here before.
    }
  }

  /** Returns those that are to be closed for it. */
  private synchronized List<Readahead> add(Idle idle) {
    List<Readahead> pushedOut = new ArrayList<>();
    all.add(idle);
    bytes += bytes(idle.readahead());
    Iterator<Idle> oldest = all.iterator();
    while (bytes > bytesMax) {
      pushedOut.add(remove(oldest, oldest.next()));
    }
    return pushedOut;
  }

  /** Takes a read-ahead of {@code file} whose bytes have that at {@code offset}, or end there. */
  synchronized Optional<Readahead> take(StoredFile file, long offset) {
    Iterator<Idle> each = all.iterator();
    while (each.hasNext()) {
      Idle idle = each.next();
      if (idle.file() == file && idle.readahead().reaches(offset)) {
        return Optional.of(remove(each, idle));
      }
    }
    return Optional.empty();
  }

  /** Closes the read-aheads of {@code file}. */
  void drop(StoredFile file) {
    List<Readahead> dropped = new ArrayList<>();
    synchronized (this) {
      Iterator<Idle> each = all.iterator();
      while (each.hasNext()) {
        Idle idle = each.next();
        if (idle.file() == file) {
          dropped.add(remove(each, idle));
        }
      }
    }
    dropped.forEach(Readahead::close);
  }

  /** Closes those that nobody has taken for {@link #KEPT}. */
  void closeUnused() {
    List<Readahead> unused = new ArrayList<>();
    synchronized (this) {
      long now = nanoClock.getAsLong();
      Iterator<Idle> oldest = all.iterator();
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
  private Readahead remove(Iterator<Idle> at, Idle idle) {
    at.remove();
    bytes -= bytes(idle.readahead());
    return idle.readahead();
  }

  /** How much memory all together take. */
  synchronized long bytes() {
    return bytes;
  }
}
