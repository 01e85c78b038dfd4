package io.stele.sstable;

import io.stele.format.CellCursor;
import io.stele.format.CellType;
import io.stele.model.Bytes;
import java.io.Closeable;
import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Writes one SSTable: cells in order, then what it says of itself.
 *
 * <p>The file is whole once {@link #finish()} has returned; {@link #close()} before that deletes
 * it. Not safe for use by several threads.
 */
public final class SSTableWriter implements Closeable {
  private SSTableWriter() {}

  /**
   * Begins a file.
   *
   * @throws org.apache.hadoop.fs.FileAlreadyExistsException where there is one of that name; it is
   *     left alone
   */
  public static SSTableWriter create(FileSystem fs, Path path, SSTableOptions options)
      throws IOException {
    throw new UnsupportedOperationException("being built");
  }

  /** Adds the current cell of {@code cell}. */
  public void add(CellCursor cell) throws IOException {
    throw new UnsupportedOperationException("being built");
  }

  /**
   * Adds a cell.
   *
   * @throws IllegalArgumentException where it does not come after the one before in the order of
   *     cells, or cannot be in an SSTable
   */
  public void add(
      byte[] key,
      int keyLength,
      long timestamp,
      long sequence,
      int ordinal,
      CellType type,
      byte[] value,
      int valueOffset,
      int valueLength)
      throws IOException {
    throw new UnsupportedOperationException("being built");
  }

  /** Adds a block of bytes under a name of its own; before {@link #finish()}. */
  public void metaBlock(String name, Bytes contents) throws IOException {
    throw new UnsupportedOperationException("being built");
  }

  /** Records the highest timestamp that the server has assigned; before {@link #finish()}. */
  public void highestServerTimestamp(long micros) {
    throw new UnsupportedOperationException("being built");
  }

  /** The file's length so far, in bytes, without the block being filled: where to cut a file. */
  public long length() {
    throw new UnsupportedOperationException("being built");
  }

  /** Writes the rest, forces it to disk where the file system can, and closes the file. */
  public SSTableSummary finish() throws IOException {
    throw new UnsupportedOperationException("being built");
  }

  /** Deletes the file unless it was finished. */
  @Override
  public void close() throws IOException {}
}
