package io.stele.tablet;

import io.stele.format.ByteReader;
import io.stele.format.ByteWriter;
import io.stele.format.MalformedException;
import io.stele.model.Bytes;
import io.stele.model.SteleException;

/**
 * A place inside a row, between two of its visible cells.
 *
 * <pre>
 * position := 1 row column versions filter
 * row      := prefixed bytes
 * column   := prefixed bytes: the column key without its row part; empty: the row's beginning
 * versions := varlong: how many visible versions of the column were passed
 * filter   := prefixed bytes: what the {@link FilterFlow} remembers; empty if there is none
 * </pre>
 *
 * <p>Opaque to clients, and meant for the same query at the same read point.
 */
record RowPosition(Bytes row, Bytes column, long versions, Bytes filter) {
  private static final int VERSION = 1;

  Bytes encode() {
    return Bytes.wrap(
        new ByteWriter(16 + row.length() + column.length() + filter.length())
            .writeByte(VERSION)
            .writePrefixed(row)
            .writePrefixed(column)
            .writeVarlong(versions)
            .writePrefixed(filter)
            .toByteArray());
  }

  /**
   * The position in {@code bytes}.
   *
   * @throws SteleException REFUSED if it is none
   */
  static RowPosition decode(Bytes bytes) {
    try {
      ByteReader in = new ByteReader(bytes.toByteArray());
      if (in.readByte() != VERSION) {
        throw in.malformed("its version is not known here");
      }
      RowPosition position =
          new RowPosition(
              in.readPrefixed(), in.readPrefixed(), in.readVarlong(), in.readPrefixed());
      if (in.remaining() > 0 || position.versions() < 0) {
        throw in.malformed("it does not end where it should");
      }
      return position;
    } catch (MalformedException e) {
      throw new SteleException(
          SteleException.Code.REFUSED,
          "the position inside a row is not one that a server returned: " + e.getMessage(),
          e);
    }
  }

  /**
   * Refuses another row than this is in.
   *
   * @throws SteleException REFUSED
   */
  void check(Bytes first) {
    if (!first.equals(row)) {
      throw SteleException.refused(
          "a position inside row \"" + row + "\" cannot be used at row \"" + first + "\"");
    }
  }
}
