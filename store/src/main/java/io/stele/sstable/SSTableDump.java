package io.stele.sstable;

import io.stele.format.CellCursor;
import io.stele.format.CellType;
import io.stele.format.ColumnKey;
import io.stele.format.MalformedException;
import io.stele.format.MutationBlock;
import io.stele.model.Bytes;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Shows what is in an SSTable and what is wrong with it. Only reads; continues after damage where
 * it can.
 */
public final class SSTableDump {
  private static final int VALUE_BYTES_SHOWN = 100;

  private SSTableDump() {}

  /**
   * Something wrong with a file.
   *
   * @param offset where, in bytes from the file's start
   * @param detail what
   */
  public record Problem(long offset, String detail) {
    @Override
    public String toString() {
      return "at offset " + offset + ": " + detail;
    }
  }

  /**
   * Writes the file's parts as text.
   *
   * @param cells whether to write every cell, one per line
   * @return what is wrong with the file; empty: nothing
   * @throws io.stele.model.SteleException REFUSED, where a newer version of Stele wrote the file
   */
  public static List<Problem> dump(FileSystem fs, Path path, boolean cells, Appendable out)
      throws IOException {
    long length = fs.getFileStatus(path).getLen();
    out.append("SSTable " + path + ", " + length + " bytes\n");
    return inspect(fs, path, length, new Printer(cells, out));
  }

  /**
   * Reads all of the file and returns what is wrong with it; empty: nothing.
   *
   * @throws io.stele.model.SteleException REFUSED, where a newer version of Stele wrote the file
   */
  public static List<Problem> verify(FileSystem fs, Path path) throws IOException {
    return verify(fs, path, fs.getFileStatus(path).getLen(), () -> {});
  }

  /**
   * Like {@link #verify(FileSystem, Path)}.
   *
   * @param length the length that the file should have
   * @param alive called after each block
   */
  public static List<Problem> verify(FileSystem fs, Path path, long length, Runnable alive)
      throws IOException {
    return inspect(
        fs,
        path,
        length,
        new Collector() {
          @Override
          public void block(BlockKind kind, Handle handle, BlockHeader header) {
            alive.run();
          }
        });
  }

  /** One line for a cell: where it is, what it says, and the first bytes of its value. */
  static String describe(CellCursor cell) {
    StringBuilder line = new StringBuilder();
    try {
      byte[] key = cell.key();
      int length = cell.keyLength();
      line.append('"').append(ColumnKey.row(key, length)).append('"');
      int rowPart = ColumnKey.rowPartLength(key, length);
      int familyEnd = ColumnKey.familyPartEnd(key, length, rowPart);
      if (familyEnd == length && familyEnd > rowPart) {
        line.append(' ').append(ColumnKey.family(key, rowPart, familyEnd));
      } else if (familyEnd > rowPart) {
        line.append(' ').append(ColumnKey.column(key, length));
      }
      if (cell.timestamp() != Long.MAX_VALUE) {
        line.append(" @").append(cell.timestamp());
      }
      line.append(" #").append(cell.sequence()).append('.').append(cell.ordinal());
      line.append(' ').append(cell.type().name().toLowerCase(Locale.ROOT).replace('_', ' '));
      if (cell.type() == CellType.DELETE_COLUMN) {
        return line.append(' ').append(MutationBlock.timeRange(cell)).toString();
      }
    } catch (MalformedException e) {
      line.append(" (malformed ").append(e.getMessage()).append(')');
    }
    if (cell.valueLength() > 0) {
      int shown = Math.min(cell.valueLength(), VALUE_BYTES_SHOWN);
      line.append(" = ").append(Bytes.of(cell.valueArray(), cell.valueOffset(), shown));
      if (shown < cell.valueLength()) {
        line.append("... (").append(cell.valueLength()).append(" bytes)");
      }
    }
    return line.toString();
  }

  private static List<Problem> inspect(FileSystem fs, Path path, long length, Collector collector)
      throws IOException {
    try (StoredFile file = StoredFile.open(fs, path, length, IdleReadaheads.NONE)) {
      new Inspector(file, collector).run();
    }
    return List.copyOf(collector.problems);
  }

  private static class Collector implements Inspector.Report {
    final List<Problem> problems = new ArrayList<>();

    @Override
    public void problem(long offset, String detail) throws IOException {
      problems.add(new Problem(offset, detail));
    }
  }

  private static final class Printer extends Collector {
    private final boolean cells;
    private final Appendable out;

    Printer(boolean cells, Appendable out) {
      this.cells = cells;
      this.out = out;
    }

    @Override
    public void problem(long offset, String detail) throws IOException {
      super.problem(offset, detail);
      out.append("PROBLEM at offset " + offset + ": " + detail + "\n");
    }

    @Override
    public void opened(SSTable table) throws IOException {
      SSTableProperties told = table.properties();
      out.append("format version " + SSTableFormat.VERSION);
      out.append(String.format(", file id %016x", table.footer().fileId()));
      out.append(", created by " + told.createdBy() + "\n");
      line(
          "cells",
          told.cells()
              + " ("
              + told.tombstones()
              + " tombstones, of rows "
              + told.rowTombstones()
              + ", of families "
              + told.familyTombstones()
              + ")");
      line("rows", told.rows());
      line("first key", "\"" + told.firstKey() + "\"");
      line("last key", "\"" + told.lastKey() + "\"");
      line("sequence numbers", told.minSequence() + " to " + told.maxSequence());
      line("timestamps of puts", told.minTimestamp() + " to " + told.maxTimestamp());
      line("highest server timestamp", told.highestServerTimestamp());
      line("keys and values", told.rawBytes() + " bytes");
      line("data blocks", told.dataBlocks() + ", " + told.dataBytes() + " bytes");
      line("codec", told.codec());
      line("Bloom filter", told.bloom());
      line("meta blocks", table.propertiesBlock().metaBlocks());
    }

    @Override
    public void block(BlockKind kind, Handle handle, BlockHeader header) throws IOException {
      out.append("block " + handle.offset() + " " + kind + ", " + header.length() + " bytes");
      if (header.codec() != 0) {
        out.append(" of " + header.rawLength() + " uncompressed");
      }
      out.append('\n');
    }

    @Override
    public void cell(CellCursor cell) throws IOException {
      if (cells) {
        out.append("  " + describe(cell) + "\n");
      }
    }

    private void line(String name, Object value) throws IOException {
      out.append("  " + name + ": " + value + "\n");
    }
  }
}
