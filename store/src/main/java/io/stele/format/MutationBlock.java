package io.stele.format;

import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.Edit;
import io.stele.model.Limits;
import io.stele.model.Mutation;
import io.stele.model.TimeRange;
import io.stele.runtime.MemoryClaim;
import java.io.IOException;

/**
 * Mutations as cell blocks: one cell for each edit, in order; its ordinal is its place.
 *
 * <p>On the way to the server the sequence number is 0 and a timestamp may be {@link
 * Edit#SERVER_TIMESTAMP}; the tablet writes the block again with both filled in. The time range of
 * a {@link CellType#DELETE_COLUMN} is its value: two varlongs, from and to.
 */
public final class MutationBlock {
  /** Bounds what prefix compression can expand to: a small block must not take all memory. */
  private static final long COLUMN_BYTES_MAX = 256L << 20;

  /** Objects for an edit, its column and its value. */
  private static final int EDIT_BYTES = 200;

  private MutationBlock() {}

  /**
   * Adds the edits of {@code mutation} to {@code block}.
   *
   * @param sequence the sequence number the cells get
   * @param serverTimestamp what puts without a timestamp get; {@link Edit#SERVER_TIMESTAMP} leaves
   *     it open
   */
  public static void write(
      Mutation mutation, long sequence, long serverTimestamp, CellBlockWriter block) {
    Bytes row = mutation.row();
    int ordinal = 0;
    for (Edit edit : mutation.edits()) {
      switch (edit.kind()) {
        case PUT -> {
          Edit.Put put = (Edit.Put) edit;
          byte[] key = ColumnKey.of(row, put.family(), put.qualifier());
          long timestamp =
              put.timestampMicros() == Edit.SERVER_TIMESTAMP
                  ? serverTimestamp
                  : put.timestampMicros();
          block.add(key, timestamp, sequence, ordinal, CellType.PUT, put.value());
        }
        case DELETE_CELL -> {
          Edit.DeleteCell delete = (Edit.DeleteCell) edit;
          byte[] key = ColumnKey.of(row, delete.family(), delete.qualifier());
          long timestamp = delete.timestampMicros();
          block.add(key, timestamp, sequence, ordinal, CellType.DELETE_CELL, Bytes.EMPTY);
        }
        case DELETE_COLUMN -> {
          Edit.DeleteColumn delete = (Edit.DeleteColumn) edit;
          byte[] key = ColumnKey.of(row, delete.family(), delete.qualifier());
          Bytes range = encode(delete.range());
          block.add(key, Long.MAX_VALUE, sequence, ordinal, CellType.DELETE_COLUMN, range);
        }
        case DELETE_FAMILY -> {
          byte[] key = ColumnKey.ofFamily(row, ((Edit.DeleteFamily) edit).family());
          block.add(key, Long.MAX_VALUE, sequence, ordinal, CellType.DELETE_FAMILY, Bytes.EMPTY);
        }
        case DELETE_ROW -> {
          byte[] key = ColumnKey.ofRow(row);
          block.add(key, Long.MAX_VALUE, sequence, ordinal, CellType.DELETE_ROW, Bytes.EMPTY);
        }
      }
      ordinal++;
    }
  }

  /** Like {@link #read(Bytes, CellCursor, MemoryClaim)}, with nobody to ask for memory. */
  public static Mutation read(Bytes row, CellCursor cells) throws IOException {
    return read(row, cells, MemoryClaim.NONE);
  }

  /**
   * The mutation of {@code row} whose edits {@code cells} holds. Its values share the memory that
   * the cells are read from, which must not change any more.
   *
   * @param memory asked for what the edits take beside their values
   * @throws MalformedException where the cells are not edits of that row
   * @throws io.stele.model.SteleException where an edit breaks a limit, or memory is short
   */
  public static Mutation read(Bytes row, CellCursor cells, MemoryClaim memory) throws IOException {
    Mutation.Builder mutation = Mutation.builder(row);
    byte[] rowPart = ColumnKey.ofRow(row);
    int edits = 0;
    long columnBytes = 0;
    while (cells.next()) {
      if (!ColumnKey.sameRow(cells.key(), cells.keyLength(), rowPart, rowPart.length)) {
        throw new MalformedException(
            0, "a mutation of row \"" + row + "\" has an edit of another row");
      }
      columnBytes += cells.keyLength() - rowPart.length;
      memory.take(EDIT_BYTES + cells.keyLength() - rowPart.length);
      if (++edits > Limits.EDITS_MAX || columnBytes > COLUMN_BYTES_MAX) {
        throw new MalformedException(0, "a mutation of row \"" + row + "\" has too many edits");
      }
      mutation.with(edit(cells, rowPart.length));
    }
    return mutation.build();
  }

  /** The range in the value of a {@link CellType#DELETE_COLUMN}. */
  public static TimeRange timeRange(CellCursor tombstone) throws MalformedException {
    ByteReader value =
        new ByteReader(tombstone.valueArray(), tombstone.valueOffset(), tombstone.valueLength());
    long from = value.readVarlong();
    long to = value.readVarlong();
    if (from < 0 || from > to) {
      throw value.malformed("a tombstone's time range is [" + from + ", " + to + ")");
    }
    return new TimeRange(from, to);
  }

  private static Edit edit(CellCursor cell, int rowPartLength) throws MalformedException {
    return switch (cell.type()) {
      case PUT -> {
        Column column = ColumnKey.column(cell.key(), cell.keyLength());
        Bytes value = Bytes.wrap(cell.valueArray(), cell.valueOffset(), cell.valueLength());
        yield new Edit.Put(column.family(), column.qualifier(), cell.timestamp(), value);
      }
      case DELETE_CELL -> {
        Column column = ColumnKey.column(cell.key(), cell.keyLength());
        yield new Edit.DeleteCell(column.family(), column.qualifier(), cell.timestamp());
      }
      case DELETE_COLUMN -> {
        Column column = ColumnKey.column(cell.key(), cell.keyLength());
        yield new Edit.DeleteColumn(column.family(), column.qualifier(), timeRange(cell));
      }
      case DELETE_FAMILY -> {
        int familyEnd = ColumnKey.familyPartEnd(cell.key(), cell.keyLength(), rowPartLength);
        if (familyEnd == rowPartLength || familyEnd != cell.keyLength()) {
          throw new MalformedException(
              rowPartLength, "a family tombstone's key must have only a family");
        }
        yield new Edit.DeleteFamily(ColumnKey.family(cell.key(), rowPartLength, familyEnd));
      }
      case DELETE_ROW -> new Edit.DeleteRow();
      case LABEL, SURPLUS ->
          throw new MalformedException(0, "a cell of type " + cell.type() + " is not an edit");
    };
  }

  private static Bytes encode(TimeRange range) {
    return Bytes.wrap(
        new ByteWriter(20)
            .writeVarlong(range.fromMicros())
            .writeVarlong(range.toMicros())
            .toByteArray());
  }
}
