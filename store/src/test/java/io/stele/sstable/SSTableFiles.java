package io.stele.sstable;

import io.stele.files.LocalFilesInProcess;
import io.stele.format.CellCursor;
import io.stele.format.ColumnKey;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Files for tests. */
final class SSTableFiles {
  static final Path ANYWHERE = new Path("/tables/t1/00/1-1.sst");

  /** The id of files of which a test has but one. */
  static final long FILE_ID = 42;

  private SSTableFiles() {}

  static FileSystem local() throws IOException {
    return LocalFilesInProcess.raw();
  }

  /** The bytes of a file of these cells and a meta block "operations". */
  static byte[] bytes(
      java.nio.file.Path directory, SSTableOptions options, long fileId, List<TestCell> cells)
      throws IOException {
    java.nio.file.Path file = directory.resolve(fileId + ".sst");
    Files.deleteIfExists(file);
    Path path = new Path(file.toUri().getPath());
    try (SSTableWriter writer = SSTableWriter.create(local(), path, options, fileId)) {
      for (TestCell cell : cells) {
        cell.addTo(writer);
      }
      writer.metaBlock("operations", Bytes.of("the operations"));
      writer.highestServerTimestamp(42);
      writer.finish();
    }
    return Files.readAllBytes(file);
  }

  static SSTable open(byte[] bytes) throws IOException {
    return open(new ArrayFileSystem(bytes), NoBlockCache.INSTANCE);
  }

  static SSTable open(ArrayFileSystem fs, BlockCache cache) throws IOException {
    return SSTable.open(fs, ANYWHERE, fs.length(), cache);
  }

  static SSTable open(ArrayFileSystem fs, BlockCache cache, FileCaching caching)
      throws IOException {
    return SSTable.open(fs, ANYWHERE, fs.length(), cache, caching);
  }

  /** What the file's Bloom filter says of the column of a whole key. */
  static boolean mayContainColumn(SSTable table, byte[] key) throws IOException {
    int rowEnd = ColumnKey.rowPartLength(key, key.length);
    return table.mayContainColumns(
        Arrays.copyOf(key, rowEnd),
        List.of(Arrays.copyOfRange(key, rowEnd, key.length)),
        ReadOptions.POINT);
  }

  static List<TestCell> scan(SSTable table, RowRange bounds, ReadOptions options)
      throws IOException {
    List<TestCell> found = new ArrayList<>();
    try (CellCursor cells = table.cursor(bounds, options)) {
      while (cells.next()) {
        found.add(TestCell.current(cells));
      }
    }
    return found;
  }
}
