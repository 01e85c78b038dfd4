package io.stele.tablet;

import io.stele.model.Bytes;
import java.util.Optional;

/**
 * Whether a page may end inside a row, and where in its first row it begins.
 *
 * @param bytesMax a row of more bytes comes in parts of about this size; 0: rows come whole
 * @param position where in the first row of the read to go on, as the page before told; it counts
 *     only at the read point of that page, and while cells are judged as they were for it; else the
 *     page begins at the row's beginning
 */
public record RowParts(long bytesMax, Optional<Bytes> position) {
  /** Rows come whole. */
  public static final RowParts WHOLE = new RowParts(0, Optional.empty());

  public RowParts {
    if (bytesMax < 0 || (bytesMax == 0 && position.isPresent())) {
      throw new IllegalArgumentException(
          "the size of parts must be at least 1 byte, not " + bytesMax);
    }
  }

  /** Parts of about {@code bytes}, from the beginning of the first row. */
  public static RowParts ofBytes(long bytes) {
    return new RowParts(bytes, Optional.empty());
  }
}
