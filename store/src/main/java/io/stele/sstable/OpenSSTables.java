package io.stele.sstable;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import java.io.Closeable;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The SSTables that the tablets of a process have open. Each is open once, however many tablets
 * have a part of it: after a split both halves do, and a file of a job without reducers may belong
 * to every tablet of its table. So open files take memory by their number, not by their number
 * times that of tablets.
 *
 * <p>Safe for use by any number of threads; the monitor is not held during I/O.
 */
public final class OpenSSTables {
  private static final Logger LOG = LoggerFactory.getLogger(OpenSSTables.class);

  private final ProcessRuntime runtime;
  private final FileSystem fs;
  private final BlockCache cache;

  @GuardedBy("this")
  private final Map<Key, Shared> open = new HashMap<>();

  /** A file never changes; a wrong length is the mistake of whoever states it. */
  private record Key(Path path, long length) {}

  private static final class Shared {
    final CompletableFuture<SSTable> table = new CompletableFuture<>();
    int holders;
  }

  /** None are open yet; their blocks will be cached in {@code cache}. */
  public OpenSSTables(ProcessRuntime runtime, FileSystem fs, BlockCache cache) {
    this.runtime = runtime;
    this.fs = fs;
    this.cache = cache;
  }

  /** A share of an open file, which is closed with its last share. */
  public final class Share implements Closeable {
    private final Key key;
    private final Shared shared;
    private final SSTable table;
    private final AtomicBoolean closed = new AtomicBoolean();

    private Share(Key key, Shared shared, SSTable table) {
      this.key = key;
      this.shared = shared;
      this.table = table;
    }

    /** The file; not to be closed. */
    public SSTable table() {
      return table;
    }

    /** Gives the share back; doing so again does nothing. */
    @Override
    public void close() throws IOException {
      if (!closed.getAndSet(true) && isLast(key, shared)) {
        table.close();
      }
    }
  }

  /**
   * Opens a file, or shares it with those who have it open.
   *
   * @param length the file's length in bytes, as {@link SSTableSummary#length()} gave it
   * @param caching how its blocks are cached, unless it is open already
   * @throws io.stele.model.SteleException REFUSED if a newer version of Stele wrote the file
   * @throws IOException if it cannot be opened
   */
  public Share open(Path path, long length, FileCaching caching) throws IOException {
    Key key = new Key(path, length);
    while (true) {
      Shared shared;
      boolean first;
      synchronized (this) {
        first = !open.containsKey(key);
        shared = open.computeIfAbsent(key, none -> new Shared());
        shared.holders++;
      }
      if (first) {
        return new Share(key, shared, open(key, shared, caching));
      }
      try {
        return new Share(key, shared, runtime.await(shared.table));
      } catch (InterruptedException e) {
        Shared left = shared;
        shared.table.thenAccept(table -> giveBack(new Share(key, left, table)));
        throw Futures.interrupted(e, "waiting for " + path + " to be opened");
      } catch (ExecutionException e) {
        // Of another tablet, perhaps for a reason of its own: this one tries for itself.
        LOG.debug("Another tablet could not open {}", path, e);
      }
    }
  }

  private static void giveBack(Share share) {
    try {
      share.close();
    } catch (IOException e) {
      LOG.warn("Closing {} failed", share.table().path(), e);
    }
  }

  private SSTable open(Key key, Shared shared, FileCaching caching) throws IOException {
    try {
      SSTable table = SSTable.open(fs, key.path(), key.length(), cache, caching);
      shared.table.complete(table);
      return table;
    } catch (IOException | RuntimeException | Error e) {
      synchronized (this) {
        open.remove(key, shared);
      }
      shared.table.completeExceptionally(e);
      throw e;
    }
  }

  /** Gives a share back; whether it was the last, and nobody gets another one. */
  private synchronized boolean isLast(Key key, Shared shared) {
    if (--shared.holders > 0) {
      return false;
    }
    open.remove(key, shared);
    return true;
  }

  /** How many files are open, or being opened. */
  public synchronized int count() {
    return open.size();
  }
}
