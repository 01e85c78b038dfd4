package io.stele.tablet;

import io.stele.model.RowRange;

/**
 * A tablet's share of an SSTable: after a split two tablets have the same file, each with its own
 * bounds.
 *
 * @param path relative to the root directory: {@code tables/<table>/<tablet>/<epoch>-<n>.sst}
 * @param length of the whole file, in bytes
 * @param bounds the rows of it that are the tablet's
 * @param minSequence the lowest sequence number of a cell or operation in the file
 * @param maxSequence the highest
 */
public record FileRef(
    String path, long length, RowRange bounds, long minSequence, long maxSequence) {
  /** The same file with no rows outside {@code range}. */
  public FileRef clipped(RowRange range) {
    return new FileRef(
        path,
        length,
        bounds.intersection(range).orElse(new RowRange(range.start(), range.start().successor())),
        minSequence,
        maxSequence);
  }
}
