package io.stele.tablet;

import io.stele.model.RowRange;

/**
 * An SSTable as a part of one tablet.
 *
 * @param path where it is, relative to the root directory
 * @param length its length in bytes
 * @param bounds the rows of it that belong to the tablet: after a split both children share files
 * @param minSequence the tablet's operations from this sequence number on ...
 * @param maxSequence ... to this one, both inclusive, are what the file holds; the ranges of a
 *     tablet's files do not overlap
 */
public record FileRef(
    String path, long length, RowRange bounds, long minSequence, long maxSequence) {
  public FileRef {
    if (path.isEmpty() || path.startsWith("/")) {
      throw new IllegalArgumentException(
          "a file's path is relative to the root directory, not \"" + path + "\"");
    }
    if (length < 0 || minSequence < 0 || minSequence > maxSequence) {
      throw new IllegalArgumentException(
          "a file has a length of 0 or more and sequence numbers from low to high, not "
              + length
              + " and "
              + minSequence
              + " to "
              + maxSequence);
    }
  }

  /** The same file with only the rows that are also in {@code other}; {@code other} meets them. */
  public FileRef clipped(RowRange other) {
    return new FileRef(
        path, length, bounds.intersection(other).orElseThrow(), minSequence, maxSequence);
  }

  @Override
  public String toString() {
    return path + " " + bounds + " #" + minSequence + "-" + maxSequence;
  }
}
