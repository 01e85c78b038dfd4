package io.stele.sstable;

import io.stele.format.CellCursor;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * An open SSTable. Safe for use by any number of threads, all on one stream.
 *
 * <p>Every method that reads throws {@link io.stele.model.CorruptionException} where the file is
 * damaged, and never gives a wrong cell. After {@link #close()}, reads fail with an IOException.
 */
public final class SSTable implements Closeable {
  private SSTable() {}

  /**
   * Opens a file: reads its tail, at once where that is not unusually large.
   *
   * @param length the file's length in bytes, as {@link SSTableSummary#length()} gave it
   * @throws io.stele.model.SteleException REFUSED, where a newer version of Stele wrote the file
   */
  public static SSTable open(FileSystem fs, Path path, long length, BlockCache cache)
      throws IOException {
    throw new UnsupportedOperationException("being built");
  }

  /** Where the file is. */
  public Path path() {
    throw new UnsupportedOperationException("being built");
  }

  /** The file's length in bytes. */
  public long length() {
    throw new UnsupportedOperationException("being built");
  }

  /** What the file says of itself. */
  public SSTableProperties properties() {
    throw new UnsupportedOperationException("being built");
  }

  /**
   * Goes through the cells of the rows in {@code bounds}. A seek to a key outside of them goes to
   * the first cell in them, or to the end.
   */
  public CellCursor cursor(RowRange bounds, ReadOptions options) {
    throw new UnsupportedOperationException("being built");
  }

  /** Whether {@code row} may be in the file; false is certain. */
  public boolean mayContainRow(Bytes row, ReadOptions options) throws IOException {
    throw new UnsupportedOperationException("being built");
  }

  /**
   * Whether the row whose {@link io.stele.format.ColumnKey#ofRow row part} is {@code rowPart} may
   * be in the file; false is certain.
   */
  public boolean mayContainRow(byte[] rowPart, ReadOptions options) throws IOException {
    throw new UnsupportedOperationException("being built");
  }

  /**
   * A row in {@code bounds}, above their start, that halves what the file has in them; nothing
   * where there is no such row.
   */
  public Optional<Bytes> middleRow(RowRange bounds) throws IOException {
    throw new UnsupportedOperationException("being built");
  }

  /**
   * The length in the file of what is in {@code bounds}, in bytes, to a block. What it gives for
   * ranges that tile a range adds up to what it gives for that one.
   */
  public long bytesIn(RowRange bounds) throws IOException {
    throw new UnsupportedOperationException("being built");
  }

  /** The meta block of that name. */
  public Optional<Bytes> metaBlock(String name) throws IOException {
    throw new UnsupportedOperationException("being built");
  }

  /** The names of the meta blocks. */
  public List<String> metaBlocks() {
    throw new UnsupportedOperationException("being built");
  }

  /**
   * Reads all of the file and checks all that can be checked.
   *
   * @throws io.stele.model.CorruptionException the first damage found
   */
  public void verify() throws IOException {
    throw new UnsupportedOperationException("being built");
  }

  @Override
  public void close() throws IOException {}
}
