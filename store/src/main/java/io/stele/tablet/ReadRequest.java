package io.stele.tablet;

import io.stele.model.RowQuery;
import java.util.OptionalLong;

/**
 * One page of a read.
 *
 * @param query what to read; rows outside of the tablet are passed over
 * @param readPoint the read point; none: the newest
 * @param allowFresh whether to read at the newest one where the read point asked for cannot be read
 *     any more, instead of refusing
 * @param bytesMax the page ends at the row at which it has this size; 0: the tablet's own limit;
 *     never more than {@link io.stele.model.Limits#PAGE_BYTES_MAX}
 * @param memoryOnly whether to fail with {@link io.stele.sstable.NotInMemoryException} instead of
 *     reading a file; such a read never waits
 * @param parts whether the page may end inside a row, and begin inside one
 */
public record ReadRequest(
    RowQuery query,
    OptionalLong readPoint,
    boolean allowFresh,
    long bytesMax,
    boolean memoryOnly,
    RowParts parts) {
  /** Of whole rows. */
  public ReadRequest(
      RowQuery query,
      OptionalLong readPoint,
      boolean allowFresh,
      long bytesMax,
      boolean memoryOnly) {
    this(query, readPoint, allowFresh, bytesMax, memoryOnly, RowParts.WHOLE);
  }

  /** At the newest read point, in pages of the tablet's own size, of whole rows. */
  public static ReadRequest of(RowQuery query) {
    return new ReadRequest(query, OptionalLong.empty(), true, 0, false);
  }

  /** At {@code point}, or at the newest where that cannot be read any more. */
  public ReadRequest at(long point) {
    return new ReadRequest(query, OptionalLong.of(point), allowFresh, bytesMax, memoryOnly, parts);
  }

  /** In pages of another size. */
  public ReadRequest pageOf(long bytes) {
    return new ReadRequest(query, readPoint, allowFresh, bytes, memoryOnly, parts);
  }

  /** Only where no file needs to be read. */
  public ReadRequest inMemoryOnly() {
    return new ReadRequest(query, readPoint, allowFresh, bytesMax, true, parts);
  }

  /** With large rows in parts. */
  public ReadRequest in(RowParts newParts) {
    return new ReadRequest(query, readPoint, allowFresh, bytesMax, memoryOnly, newParts);
  }
}
