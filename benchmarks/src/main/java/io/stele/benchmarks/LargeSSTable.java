package io.stele.benchmarks;

import io.stele.format.CellCursor;
import io.stele.format.CellType;
import io.stele.format.ColumnKey;
import io.stele.format.OneCell;
import io.stele.model.Bloom;
import io.stele.model.Codec;
import io.stele.model.RowRange;
import io.stele.runtime.SystemRuntime;
import io.stele.sstable.BlockCache;
import io.stele.sstable.NoBlockCache;
import io.stele.sstable.ReadOptions;
import io.stele.sstable.SSTable;
import io.stele.sstable.SSTableOptions;
import io.stele.sstable.SSTableWriter;
import java.io.IOException;
import java.util.Locale;
import java.util.Random;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Writes an SSTable of so many GB to the local disk, opens it, reads rows of it, and prints what
 * that took: reads of the file, memory held, time.
 */
public final class LargeSSTable {
  private static final int VALUE_BYTES = 1000;
  private static final int ROWS_READ = 1000;

  private LargeSSTable() {}

  /**
   * The size in GB, 10 if it is left out; a directory to write to may be given in java.io.tmpdir.
   */
  public static void main(String[] args) throws Exception {
    long bytes = (long) ((args.length == 0 ? 10 : Double.parseDouble(args[0])) * 1e9);
    try (BenchmarkFiles files = BenchmarkFiles.open("local")) {
      Path path = new Path(files.root(), "large.sst");
      long start = System.nanoTime();
      long rows = write(files.fs(), path, bytes);
      long length = files.fs().getFileStatus(path).getLen();
      print(
          "written    %.2f GB, %d rows, %.0f MB/s",
          length / 1e9, rows, length / 1e6 / since(start));
      open(new CountingFiles(files.fs()), path, length, rows);
    }
  }

  private static void open(CountingFiles fs, Path path, long length, long rows) throws IOException {
    BlockCache cache = NoBlockCache.INSTANCE;
    long start = System.nanoTime();
    try (SSTable table = SSTable.open(fs, path, length, cache)) {
      print(
          "opened     %d read of %d bytes, %.1f ms; %d bytes held; %d levels, %d data blocks",
          fs.reads,
          fs.bytes,
          since(start) * 1e3,
          table.heldBytes(),
          table.levels(),
          table.properties().dataBlocks());
      fs.reads = 0;
      Random random = new Random(3);
      start = System.nanoTime();
      for (int i = 0; i < ROWS_READ; i++) {
        RowRange row = RowRange.single(SSTableFixture.row((int) (random.nextDouble() * rows)));
        try (CellCursor cells = table.cursor(row, ReadOptions.POINT)) {
          if (!cells.next()) {
            throw new IllegalStateException(row + " is not there");
          }
        }
      }
      print(
          "rows read  %.2f reads a row without a cache, %.0f us",
          fs.reads / (double) ROWS_READ, since(start) / ROWS_READ * 1e6);
    }
  }

  private static long write(FileSystem fs, Path path, long bytes) throws IOException {
    SSTableOptions options =
        SSTableOptions.DEFAULT.withCodec(Codec.NONE).withBloom(Bloom.ROW_COLUMN);
    byte[] value = new byte[VALUE_BYTES];
    new Random(1).nextBytes(value);
    try (SSTableWriter writer =
        SSTableWriter.create(fs, path, options, SystemRuntime.INSTANCE.random().nextLong())) {
      int row = 0;
      while (writer.length() < bytes) {
        byte[] key =
            ColumnKey.of(SSTableFixture.row(row), SSTableFixture.FAMILY, SSTableFixture.QUALIFIER);
        writer.add(new OneCell(key, key.length, row, row, 0, CellType.PUT, value, 0, VALUE_BYTES));
        row++;
      }
      writer.finish();
      return row;
    }
  }

  private static double since(long start) {
    return (System.nanoTime() - start) / 1e9;
  }

  private static void print(String format, Object... arguments) {
    System.out.println(String.format(Locale.ROOT, format, arguments));
  }

  /** Counts reads. */
  private static final class CountingFiles extends FilterFileSystem {
    long reads;
    long bytes;

    CountingFiles(FileSystem fs) {
      super(fs);
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
      FSDataInputStream in = super.open(path, bufferSize);
      return new FSDataInputStream(
          new FSInputStream() {
            @Override
            public int read(long position, byte[] buffer, int offset, int length)
                throws IOException {
              int count = in.read(position, buffer, offset, length);
              reads++;
              bytes += Math.max(0, count);
              return count;
            }

            @Override
            public int read() throws IOException {
              return in.read();
            }

            @Override
            public void seek(long position) throws IOException {
              in.seek(position);
            }

            @Override
            public long getPos() throws IOException {
              return in.getPos();
            }

            @Override
            public boolean seekToNewSource(long target) throws IOException {
              return in.seekToNewSource(target);
            }

            @Override
            public void close() throws IOException {
              in.close();
            }
          });
    }
  }
}
