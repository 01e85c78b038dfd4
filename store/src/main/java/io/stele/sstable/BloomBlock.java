package io.stele.sstable;

/** Being built. */
final class BloomBlock implements CachedBlock {
  @Override
  public int weight() {
    return 0;
  }
}
