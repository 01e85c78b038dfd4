package io.stele.sstable;

import java.util.Map;
import java.util.Optional;

/** Keeps nothing: for tools, jobs and tests. Safe for use by any number of threads. */
public final class NoBlockCache implements BlockCache {
  /** The only one. */
  public static final NoBlockCache INSTANCE = new NoBlockCache();

  private NoBlockCache() {}

  @Override
  public CachedFile open(long fileId, long length, FileCaching caching) {
    return Nothing.FOR_ANY_FILE;
  }

  @Override
  public CacheStatistics statistics() {
    return CacheStatistics.NONE;
  }

  /** Has nothing of any file. */
  private enum Nothing implements CachedFile {
    FOR_ANY_FILE;

    @Override
    public Optional<CachedBlock> block(BlockKind kind, long offset) {
      return Optional.empty();
    }

    @Override
    public Optional<byte[]> storedBlock(long offset) {
      return Optional.empty();
    }

    @Override
    public void decoded(BlockKind kind, long offset, CachedBlock block) {}

    @Override
    public void storedBlockDamaged(long offset) {}

    @Override
    public void read(BlockKind kind, Handle handle, CachedBlock block, StoredBlock stored) {}

    @Override
    public boolean keepsRows() {
      return false;
    }

    @Override
    public Optional<CachedRow> row(CacheKey.Row row) {
      return Optional.empty();
    }

    @Override
    public boolean wantsRow(CacheKey.Row row, boolean memoryOnly) {
      return false;
    }

    @Override
    public void keepRow(CacheKey.Row row, CachedRow cells) {}

    @Override
    public boolean wantsWhole() {
      return false;
    }

    @Override
    public boolean reserve(long bytes) {
      return false;
    }

    @Override
    public void keepWhole(Map<Long, CachedBlock> blocks) {}

    @Override
    public void giveUpWhole(boolean again) {}

    @Override
    public void close() {}
  }
}
