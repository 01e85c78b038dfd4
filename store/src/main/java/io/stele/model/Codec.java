package io.stele.model;

/** How an SSTable's blocks are compressed. */
public enum Codec {
  /** Not at all. */
  NONE,
  /** Snappy: fast, some 2:1 on text. */
  SNAPPY,
  /** Deflate at its fastest level: some 4:1 on text. */
  GZIP
}
