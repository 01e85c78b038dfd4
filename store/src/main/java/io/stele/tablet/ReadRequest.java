package io.stele.tablet;

import io.stele.model.RowQuery;
import io.stele.runtime.MemoryClaim;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One page of a read.
 *
 * @param query what to read; rows outside of the tablet are passed over
 * @param readPoint the read point; none: the newest
 * @param allowFresh whether to read at the newest read point, instead of refusing, if the requested
 *     one can no longer be read
 * @param bytesMax the page ends with the row at which it reaches this size; 0: the tablet's own
 *     limit; never more than {@link io.stele.model.Limits#PAGE_BYTES_MAX}
 * @param memoryOnly whether to fail with {@link io.stele.sstable.NotInMemoryException} instead of
 *     reading a file; such a read never waits
 * @param parts whether the page may end inside a row, and begin inside one
 * @param memory asked for the memory of the page; when none is left, the page ends
 * @param once whether the rows are unlikely to be read again soon, so that the blocks they are in
 *     are not kept in the cache
 * @param pin the name of the {@link io.stele.record.Pin} to read at, instead of at a read point
 */
public record ReadRequest(
    RowQuery query,
    OptionalLong readPoint,
    boolean allowFresh,
    long bytesMax,
    boolean memoryOnly,
    RowParts parts,
    MemoryClaim memory,
    boolean once,
    Optional<String> pin) {
  /** A request for whole rows. */
  public ReadRequest(
      RowQuery query,
      OptionalLong readPoint,
      boolean allowFresh,
      long bytesMax,
      boolean memoryOnly) {
    this(
        query,
        readPoint,
        allowFresh,
        bytesMax,
        memoryOnly,
        RowParts.WHOLE,
        MemoryClaim.NONE,
        false,
        Optional.empty());
  }

  /** At the newest read point, in pages of the tablet's own size, of whole rows. */
  public static ReadRequest of(RowQuery query) {
    return new ReadRequest(query, OptionalLong.empty(), true, 0, false);
  }

  /** At {@code point}, or at the newest where that cannot be read any more. */
  public ReadRequest at(long point) {
    return new ReadRequest(
        query, OptionalLong.of(point), allowFresh, bytesMax, memoryOnly, parts, memory, once, pin);
  }

  /** This request, at the pin of that name. */
  public ReadRequest atPin(String name) {
    return new ReadRequest(
        query, readPoint, false, bytesMax, memoryOnly, parts, memory, once, Optional.of(name));
  }

  /** This request, in pages of another size. */
  public ReadRequest pageOf(long bytes) {
    return new ReadRequest(
        query, readPoint, allowFresh, bytes, memoryOnly, parts, memory, once, pin);
  }

  /** This request, which is answered only if no file needs to be read. */
  public ReadRequest inMemoryOnly() {
    return new ReadRequest(query, readPoint, allowFresh, bytesMax, true, parts, memory, once, pin);
  }

  /** This request, with large rows in parts. */
  public ReadRequest in(RowParts newParts) {
    return new ReadRequest(
        query, readPoint, allowFresh, bytesMax, memoryOnly, newParts, memory, once, pin);
  }

  /** This request, for rows that are unlikely to be read again soon. */
  public ReadRequest withoutCaching() {
    return new ReadRequest(
        query, readPoint, allowFresh, bytesMax, memoryOnly, parts, memory, true, pin);
  }
}
