package io.stele.sstable;

/** Being built. */
final class IndexBlock implements CachedBlock {
  @Override
  public int weight() {
    return 0;
  }
}
