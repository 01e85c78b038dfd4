package io.stele.sstable;

import java.io.IOException;
import java.util.Optional;

/** Keeps nothing: for tools, jobs and tests. Safe for use by any number of threads. */
public final class NoBlockCache implements BlockCache {
  /** The only one. */
  public static final NoBlockCache INSTANCE = new NoBlockCache();

  private NoBlockCache() {}

  @Override
  public CachedBlock get(long fileId, long offset, Loader loader) throws IOException {
    return loader.load();
  }

  @Override
  public Optional<CachedBlock> getIfPresent(long fileId, long offset) {
    return Optional.empty();
  }

  @Override
  public Statistics statistics() {
    return Statistics.NONE;
  }
}
