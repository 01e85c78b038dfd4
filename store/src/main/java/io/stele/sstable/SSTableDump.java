package io.stele.sstable;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Shows what is in an SSTable and says what is wrong with it. Only reads; goes on after damage
 * wherever it can.
 */
public final class SSTableDump {
  private SSTableDump() {}

  /**
   * Something wrong with a file.
   *
   * @param offset where, in bytes from the file's start
   * @param detail what
   */
  public record Problem(long offset, String detail) {}

  /**
   * Writes the file's parts as text.
   *
   * @param cells whether to write every cell, one a line
   * @return what is wrong with the file; empty: nothing
   */
  public static List<Problem> dump(FileSystem fs, Path path, boolean cells, Appendable out)
      throws IOException {
    throw new UnsupportedOperationException("being built");
  }

  /** Reads all of the file; what is wrong with it; empty: nothing. */
  public static List<Problem> verify(FileSystem fs, Path path) throws IOException {
    throw new UnsupportedOperationException("being built");
  }
}
