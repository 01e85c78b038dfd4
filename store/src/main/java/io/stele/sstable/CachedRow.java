package io.stele.sstable;

import io.stele.format.CellBlockCursor;
import io.stele.format.CellCursor;

/** One file's cells of a row, perhaps none, as a block without restarts. Immutable. */
final class CachedRow implements CachedBlock {
  /** Rows with more bytes of cells than this are not kept. */
  static final int BYTES_MAX = 4 << 10;

  /** A row that is not cached because it is too large. */
  static final CachedRow TOO_LARGE = new CachedRow(new byte[0]);

  private static final int OVERHEAD_BYTES = 128;

  private final byte[] cells;

  /**
   * @param cells what a {@link io.stele.format.CellBlockWriter#sequential} writer wrote
   */
  CachedRow(byte[] cells) {
    this.cells = cells;
  }

  CellCursor cursor() {
    return CellBlockCursor.sequential(cells, 0, cells.length);
  }

  @Override
  public int weight() {
    return OVERHEAD_BYTES + cells.length;
  }
}
