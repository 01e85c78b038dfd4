package io.stele.format;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Column;
import io.stele.model.Limits;
import io.stele.model.Row;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Rows read as a cell block: cells as they come, neighbours of the same row being one row; each
 * label is a cell of type {@link CellType#LABEL} after the cell it belongs to.
 */
public final class RowCodec {
  private static final int BLOCK_BYTES = 64;
  private static final int CELL_BYTES = 24; // Its numbers, and the ends of key parts.

  private RowCodec() {}

  /** Adds the current cell of {@code cell}, a version that a read sees, to {@code block}. */
  public static void write(CellCursor cell, CellBlockWriter block) {
    block.addVersion(cell);
  }

  /** Adds the cells of {@code row} to {@code block}. */
  public static void write(Row row, CellBlockWriter block) {
    write(row.key(), row.cells(), block);
  }

  /** Adds {@code cells} of the row {@code row} to {@code block}. */
  public static void write(Bytes row, List<Cell> cells, CellBlockWriter block) {
    for (Cell cell : cells) {
      byte[] key = ColumnKey.of(row, cell.family(), cell.qualifier());
      block.add(key, cell.timestampMicros(), 0, 0, CellType.PUT, cell.value());
      for (String label : cell.labels()) {
        block.add(key, cell.timestampMicros(), 0, 0, CellType.LABEL, Bytes.of(label));
      }
    }
  }

  /** A block of {@code rows}. */
  public static ByteBuffer body(List<Row> rows) {
    // A page may have megabytes: to let the block grow to it would copy them several times.
    CellBlockWriter block = CellBlockWriter.sequential(Math.toIntExact(bytesAtMost(rows)));
    for (Row row : rows) {
      write(row, block);
    }
    return body(block);
  }

  /** How many bytes the rows have in a block, at most, unless there are zeros in keys. */
  private static long bytesAtMost(List<Row> rows) {
    long bytes = BLOCK_BYTES;
    for (Row row : rows) {
      bytes += row.key().length();
      for (Cell cell : row.cells()) {
        bytes +=
            CELL_BYTES + cell.family().length() + cell.qualifier().length() + cell.value().length();
      }
    }
    return Math.min(bytes, Limits.PAGE_BYTES_MAX);
  }

  /** The bytes of {@code block}, valid until it is written to again. */
  public static ByteBuffer body(CellBlockWriter block) {
    return ByteBuffer.wrap(block.finish().array(), 0, block.size());
  }

  /**
   * The rows in {@code block}. They have memory of their own: whoever keeps one small value of a
   * large block must not keep the block.
   *
   * @param block backed by an array; nothing of it is kept
   * @throws MalformedException if it is no block of rows
   */
  public static List<Row> read(ByteBuffer block) throws IOException {
    CellBlockCursor cells =
        CellBlockCursor.sequential(
            block.array(), block.arrayOffset() + block.position(), block.remaining());
    List<Row> rows = new ArrayList<>();
    List<Cell> row = new ArrayList<>();
    byte[] rowPart = {};
    LastColumn column = new LastColumn();
    while (cells.next()) {
      if (row.isEmpty()
          || !ColumnKey.sameRow(cells.key(), cells.keyLength(), rowPart, rowPart.length)) {
        finish(rowPart, row, rows);
        int length = ColumnKey.rowPartLength(cells.key(), cells.keyLength());
        rowPart = Arrays.copyOf(cells.key(), length);
      }
      switch (cells.type()) {
        case PUT -> row.add(column.cell(cells, rowPart.length));
        case LABEL -> addLabel(row, value(cells).toUtf8());
        case DELETE_CELL, DELETE_COLUMN, DELETE_FAMILY, DELETE_ROW, SURPLUS ->
            throw new MalformedException(0, "a row read has a cell of type " + cells.type());
      }
    }
    finish(rowPart, row, rows);
    return rows;
  }

  private static void finish(byte[] rowPart, List<Cell> row, List<Row> rows)
      throws MalformedException {
    if (!row.isEmpty()) {
      rows.add(new Row(ColumnKey.row(rowPart, rowPart.length), row));
      row.clear();
    }
  }

  /** The column of the last cell: many rows have the same columns, so it is decoded once. */
  private static final class LastColumn {
    private byte[] part = {}; // Of the key, behind the row part; no column has an empty one.
    private String family = "";
    private Bytes qualifier = Bytes.EMPTY;

    Cell cell(CellBlockCursor cells, int rowEnd) throws MalformedException {
      byte[] key = cells.key();
      int length = cells.keyLength();
      if (part.length == 0 || !Arrays.equals(key, rowEnd, length, part, 0, part.length)) {
        Column column = ColumnKey.column(key, length);
        family = column.family();
        qualifier = column.qualifier();
        part = Arrays.copyOfRange(key, rowEnd, length);
      }
      return new Cell(family, qualifier, cells.timestamp(), value(cells));
    }
  }

  private static void addLabel(List<Cell> row, String label) throws MalformedException {
    if (row.isEmpty()) {
      throw new MalformedException(0, "a label has no cell before it");
    }
    Cell labelled = row.remove(row.size() - 1);
    List<String> labels = new ArrayList<>(labelled.labels());
    labels.add(label);
    row.add(
        new Cell(
            labelled.family(),
            labelled.qualifier(),
            labelled.timestampMicros(),
            labelled.value(),
            labels));
  }

  private static Bytes value(CellBlockCursor cells) {
    return Bytes.of(cells.valueArray(), cells.valueOffset(), cells.valueLength());
  }
}
