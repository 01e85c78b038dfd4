package io.stele.model;

/**
 * How an SSTable's blocks are compressed. Which to choose, measured on web pages, is in {@code
 * docs/performance.md}; the larger the blocks, the more of what pages share the last two find.
 */
public enum Codec {
  /** Not at all: for what is compressed already, such as images. */
  NONE,
  /** Snappy: the least work to write, and little to read; the least saved. */
  SNAPPY,
  /** LZ4: as quick to read as Snappy, and saves somewhat more, the more so in large blocks. */
  LZ4,
  /** Deflate at its fastest level: where other programs must read it; else Zstandard is better. */
  GZIP,
  /** Zstandard at level 3: saves more than gzip in less time; for most tables. */
  ZSTD,
  /**
   * Zstandard at level 6: a quarter less than {@link #ZSTD} in large blocks, in three times the
   * time to write and no more to read. For much data of one kind, such as web pages, in blocks of
   * 256 KiB and more.
   */
  ZSTD_HIGH
}
