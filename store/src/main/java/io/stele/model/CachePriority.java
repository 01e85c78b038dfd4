package io.stele.model;

/** With which priority a tablet server's block cache keeps a locality group's blocks. */
public enum CachePriority {
  /**
   * Data blocks are not kept: for data that is read once, such as the contents of pages in a crawl.
   */
  LOW,
  /** Data blocks are kept according to how often they are read. */
  NORMAL,
  /** Data blocks are kept in a part of the cache that is closed to blocks of other groups. */
  HIGH
}
