package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.sstable.BlockCache;
import io.stele.sstable.ReadOptions;
import io.stele.sstable.SSTable;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An open SSTable and the part of it that is the tablet's. Closed when the last snapshot that has
 * it goes. Safe for use by any number of threads.
 */
final class TabletFile {
  private static final Logger LOG = LoggerFactory.getLogger(TabletFile.class);

  private final FileRef ref;
  private final SSTable table;
  private final long bytes;
  private final AtomicInteger holders = new AtomicInteger(1);

  private TabletFile(FileRef ref, SSTable table, long bytes) {
    this.ref = ref;
    this.table = table;
    this.bytes = bytes;
  }

  /** Opens a file; the caller is its first holder. */
  static TabletFile open(FileSystem fs, Path root, FileRef ref, BlockCache cache)
      throws IOException {
    SSTable table = SSTable.open(fs, new Path(root, ref.path()), ref.length(), cache);
    try {
      return new TabletFile(ref, table, table.bytesIn(ref.bounds()));
    } catch (IOException | RuntimeException e) {
      table.close();
      throw e;
    }
  }

  FileRef ref() {
    return ref;
  }

  SSTable table() {
    return table;
  }

  /** Length of what the tablet has in the file, to a block. */
  long bytes() {
    return bytes;
  }

  boolean hasTombstones() {
    return table.properties().tombstones() > 0;
  }

  /** The tablet's cells in the file, of rows in {@code range}, which meets the file's bounds. */
  CellCursor cursor(RowRange range, ReadOptions options) {
    return table.cursor(ref.bounds().intersection(range).orElseThrow(), options);
  }

  /** Whether the file may have cells of {@code row}; false is certain. */
  boolean mayContain(Bytes row, ReadOptions options) throws IOException {
    return table.mayContainRow(row, options);
  }

  /** Whether the file may have cells of rows in {@code range}. */
  boolean meets(RowRange range) {
    return ref.bounds().intersection(range).isPresent();
  }

  void retain() {
    holders.incrementAndGet();
  }

  void release() {
    if (holders.decrementAndGet() == 0) {
      try {
        table.close();
      } catch (IOException e) {
        LOG.warn("Closing {} failed; all reads of it had ended", ref, e);
      }
    }
  }
}
