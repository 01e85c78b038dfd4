package io.stele.sstable;

/** The cells of a data block, as {@link io.stele.format.CellBlockCursor} reads them. Immutable. */
final class DataBlock implements CachedBlock {
  private static final int OVERHEAD_BYTES = 112;

  private final Contents cells;

  DataBlock(Contents cells) {
    this.cells = cells;
  }

  Contents cells() {
    return cells;
  }

  @Override
  public int weight() {
    return OVERHEAD_BYTES + cells.array().length;
  }
}
