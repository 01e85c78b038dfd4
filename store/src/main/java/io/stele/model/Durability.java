package io.stele.model;

/**
 * Which failures an acknowledged write is certain to survive. A table may ask for the stronger
 * durability for all its writes ({@link TableSchema#hsync}), and a single write may ask for it too;
 * the stronger of the two applies.
 *
 * <p>It is not part of an operation's identity: a retry may ask for another durability, but its
 * original's durability applies.
 */
public enum Durability {
  /**
   * In the memory of every live replica (HDFS's hflush): survives the death of any process, and of
   * fewer DataNodes than there are replicas, but not a loss of power of the whole cluster.
   */
  HFLUSH,
  /** On disk at every live replica (HDFS's hsync): survives a loss of power too. Slower. */
  HSYNC;

  /** The stronger of the two. */
  public Durability and(Durability other) {
    return compareTo(other) >= 0 ? this : other;
  }
}
