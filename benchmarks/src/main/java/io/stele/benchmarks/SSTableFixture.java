package io.stele.benchmarks;

import io.stele.format.CellType;
import io.stele.format.ColumnKey;
import io.stele.format.OneCell;
import io.stele.model.Bloom;
import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.runtime.SystemRuntime;
import io.stele.sstable.SSTableOptions;
import io.stele.sstable.SSTableWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * An SSTable of rows with one column and a random value each.
 *
 * @param fs the file system that the file is in
 * @param path where it is
 * @param length its length in bytes
 * @param bytes the file, where it is in memory
 * @param rows number of rows, which is that of cells
 */
record SSTableFixture(FileSystem fs, Path path, long length, Bytes bytes, int rows) {
  static final String FAMILY = "family";
  static final Bytes QUALIFIER = Bytes.of("qualifier");

  /** What a cell takes beside its value, roughly. */
  private static final int CELL_BYTES = 32;

  /** A file without compression, with a Bloom filter of rows and columns. */
  static SSTableFixture create(int rows, int valueBytes) throws IOException {
    return create(
        rows, valueBytes, SSTableOptions.DEFAULT.withCodec(Codec.NONE).withBloom(Bloom.ROW_COLUMN));
  }

  /** A file of about that many bytes. */
  static SSTableFixture ofBytes(int bytes, int valueBytes) throws IOException {
    return create(bytes / (valueBytes + CELL_BYTES), valueBytes);
  }

  /** A file in memory. */
  static SSTableFixture create(int rows, int valueBytes, SSTableOptions options)
      throws IOException {
    java.nio.file.Path directory = Files.createTempDirectory("stele");
    java.nio.file.Path file = directory.resolve("fixture.sst");
    try {
      FileSystem local = FileSystem.getLocal(new Configuration(false)).getRawFileSystem();
      write(local, new Path(file.toUri().getPath()), rows, valueBytes, options);
      byte[] bytes = Files.readAllBytes(file);
      return new SSTableFixture(
          new MemoryFile(bytes), new Path("/fixture.sst"), bytes.length, Bytes.wrap(bytes), rows);
    } finally {
      Files.deleteIfExists(file);
      Files.deleteIfExists(directory);
    }
  }

  /** A file that is written to {@code path}. */
  static SSTableFixture write(
      FileSystem fs, Path path, int rows, int valueBytes, SSTableOptions options)
      throws IOException {
    Random random = new Random(1);
    byte[] value = new byte[valueBytes];
    try (SSTableWriter writer =
        SSTableWriter.create(fs, path, options, SystemRuntime.INSTANCE.random().nextLong())) {
      for (int i = 0; i < rows; i++) {
        byte[] key = ColumnKey.of(row(i), FAMILY, QUALIFIER);
        random.nextBytes(value);
        writer.add(
            new OneCell(
                key,
                key.length,
                1_700_000_000_000_000L + i,
                i,
                0,
                CellType.PUT,
                value,
                0,
                valueBytes));
      }
      long length = writer.finish().length();
      return new SSTableFixture(fs, path, length, Bytes.EMPTY, rows);
    }
  }

  /** The row of that number. */
  static Bytes row(int i) {
    return Bytes.of(String.format("row%012d", i));
  }

  /** A row that is not there, between two that are. */
  static Bytes absentRow(int i) {
    return Bytes.of(String.format("row%012dx", i));
  }
}
