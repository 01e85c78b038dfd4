package io.stele.sstable;

/** The cells of a data block, as {@link io.stele.format.CellBlockCursor} reads them. */
final class DataBlock implements CachedBlock {
  private static final int OVERHEAD_BYTES = 96;

  private final byte[] cells;

  DataBlock(byte[] cells) {
    this.cells = cells;
  }

  /** The block's bytes; never changed. */
  byte[] cells() {
    return cells;
  }

  @Override
  public int weight() {
    return OVERHEAD_BYTES + cells.length;
  }
}
