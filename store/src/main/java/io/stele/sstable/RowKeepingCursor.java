package io.stele.sstable;

import io.stele.format.CellBlockWriter;
import io.stele.format.ForwardingCursor;
import java.io.IOException;

/**
 * Reads one row, and puts all its cells into the cache at the first move. Not safe for use by
 * several threads.
 */
final class RowKeepingCursor extends ForwardingCursor {
  private final SSTableCursor source;
  private final CachedFile cache;
  private final CacheKey.Row row;
  private final byte[] rowPart;
  private boolean begun;

  /**
   * @param source a cursor over that row alone, before its first cell
   */
  RowKeepingCursor(SSTableCursor source, CachedFile cache, CacheKey.Row row) {
    super(source);
    this.source = source;
    this.cache = cache;
    this.row = row;
    this.rowPart = row.rowPart();
  }

  @Override
  public boolean next() throws IOException {
    if (!begun) {
      begin();
      return cells.seek(rowPart, rowPart.length);
    }
    return cells.next();
  }

  @Override
  public boolean seek(byte[] key, int length) throws IOException {
    if (!begun) {
      begin();
    }
    return cells.seek(key, length);
  }

  private void begin() throws IOException {
    CellBlockWriter block = CellBlockWriter.sequential(256);
    boolean more = source.next();
    while (more
        && block.size() + source.keyLength() + source.valueLength() <= CachedRow.BYTES_MAX) {
      block.add(source);
      more = source.next();
    }
    if (more) {
      cache.keepRow(row, CachedRow.TOO_LARGE);
    } else {
      CachedRow found = new CachedRow(block.finish().toByteArray());
      cache.keepRow(row, found);
      cells = found.cursor();
    }
    begun = true;
  }
}
