package io.stele.sstable;

import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SharedResources;
import java.io.IOException;
import java.time.Duration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The SSTables that the tablets of a process have open. Each is open once, however many tablets
 * have a part of it: after a split both halves do, and a file of a job without reducers may belong
 * to every tablet of its table. So open files take memory by their number, not by their number
 * times that of tablets.
 *
 * <p>Safe for use by any number of threads; no lock is held during I/O.
 */
public final class OpenSSTables {
  private final FileSystem fs;
  private final BlockCache cache;
  private final SharedResources<Key, SSTable> files;
  private final IdleReadaheads idle;

  /** A file never changes; a wrong length is the mistake of whoever states it. */
  private record Key(Path path, long length) {
    @Override
    public String toString() {
      return path.toString();
    }
  }

  /** The same, and scans leave nothing for their next pages. */
  public OpenSSTables(ProcessRuntime runtime, FileSystem fs, BlockCache cache) {
    this(runtime, fs, cache, 0);
  }

  /**
   * None are open yet; their blocks will be cached in {@code cache}.
   *
   * @param idleReadaheadBytes how many bytes of files scans that are made once may leave in memory
   *     for their next pages
   */
  public OpenSSTables(
      ProcessRuntime runtime, FileSystem fs, BlockCache cache, long idleReadaheadBytes) {
    this.fs = fs;
    this.cache = cache;
    this.idle = IdleReadaheads.of(fs, runtime::nanoTime, idleReadaheadBytes);
    this.files = new SharedResources<>(runtime, Duration.ZERO);
  }

  /**
   * Opens a file, or shares it with those who have it open. It is closed with its last share.
   *
   * @param length the file's length in bytes, as {@link SSTableSummary#length()} gave it
   * @param caching how its blocks are cached, unless it is open already
   * @throws io.stele.model.SteleException REFUSED if a newer version of Stele wrote the file
   * @throws IOException if it cannot be opened
   */
  public SharedResources.Share<SSTable> open(Path path, long length, FileCaching caching)
      throws IOException {
    return files.share(
        new Key(path, length), () -> SSTable.open(fs, path, length, cache, caching, idle));
  }

  /** Closes the read-aheads of scans that have not asked for their next page for some seconds. */
  public void closeUnusedReadaheads() {
    idle.closeUnused();
  }

  /** How many files are open, or being opened. */
  public int count() {
    return files.count();
  }
}
