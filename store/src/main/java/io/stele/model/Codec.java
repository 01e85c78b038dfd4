package io.stele.model;

/**
 * How an SSTable's blocks are compressed. {@code docs/performance.md} compares the codecs on web
 * pages. The last two compress similar pages better in larger blocks.
 */
public enum Codec {
  /** Not compressed: for data that is already compressed, such as images. */
  NONE,
  /** Snappy: fastest to write and quick to read; saves least. */
  SNAPPY,
  /** LZ4: as quick to read as Snappy; saves somewhat more, most of all in large blocks. */
  LZ4,
  /**
   * Deflate at its fastest level: for files that other programs read; otherwise Zstandard is
   * better.
   */
  GZIP,
  /** Zstandard at level 3: saves more than gzip in less time; for most tables. */
  ZSTD,
  /**
   * Zstandard at level 6: a quarter smaller than {@link #ZSTD} in large blocks; takes three times
   * as long to write and no longer to read. For large amounts of similar data, such as web pages,
   * in blocks of 256 KiB and more.
   */
  ZSTD_HIGH
}
