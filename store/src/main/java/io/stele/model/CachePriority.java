package io.stele.model;

/** How much a locality group's blocks are worth to a tablet server's block cache. */
public enum CachePriority {
  /**
   * Data blocks are not kept: for data that is read once, such as the contents of pages in a crawl.
   */
  LOW,
  /** They are kept as they are asked for. */
  NORMAL,
  /** They are kept in a part of the cache that blocks of other groups cannot take. */
  HIGH
}
