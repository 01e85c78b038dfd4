package io.stele.tablet;

import io.stele.format.ByteReader;
import io.stele.format.ByteWriter;
import io.stele.format.MalformedException;
import io.stele.model.Bytes;
import io.stele.model.SteleException;
import java.util.Optional;

/**
 * A place inside a row, between two of its visible cells.
 *
 * <pre>
 * position := 2 row column versions filter moment
 * row      := prefixed bytes
 * column   := prefixed bytes: the column key without its row part; empty: the row's beginning
 * versions := varlong: how many visible versions of the column were passed
 * filter   := prefixed bytes: what the {@link FilterFlow} remembers; empty if there is none
 * moment   := the {@link RowMoment} of the row; nothing at a pin, which has it
 * </pre>
 *
 * <p>Opaque to clients, and meant for the same query at the same read point. One of version 1 has
 * no moment.
 */
record RowPosition(
    Bytes row, Bytes column, long versions, Bytes filter, Optional<RowMoment> moment) {
  private static final int VERSION = 2;
  private static final int MOMENT_BYTES = 64;

  Bytes encode() {
    ByteWriter out =
        new ByteWriter(16 + row.length() + column.length() + filter.length() + MOMENT_BYTES)
            .writeByte(VERSION)
            .writePrefixed(row)
            .writePrefixed(column)
            .writeVarlong(versions)
            .writePrefixed(filter);
    moment.ifPresent(known -> known.writeTo(out));
    return Bytes.wrap(out.toByteArray());
  }

  /**
   * The position in {@code bytes}.
   *
   * @throws SteleException REFUSED if it is none
   */
  static RowPosition decode(Bytes bytes) {
    try {
      ByteReader in = new ByteReader(bytes.toByteArray());
      int version = in.readByte();
      if (version < 1 || version > VERSION) {
        throw in.malformed("its version is not known here");
      }
      Bytes row = in.readPrefixed();
      Bytes column = in.readPrefixed();
      long versions = in.readVarlong();
      Bytes filter = in.readPrefixed();
      Optional<RowMoment> moment =
          version > 1 && in.remaining() > 0 ? Optional.of(RowMoment.read(in)) : Optional.empty();
      RowPosition position = new RowPosition(row, column, versions, filter, moment);
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
