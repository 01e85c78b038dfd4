package io.stele.benchmarks;

import io.stele.format.CellCursor;
import io.stele.format.CellType;
import io.stele.format.ColumnKey;
import io.stele.format.Compression;
import io.stele.format.OneCell;
import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.model.RowRange;
import io.stele.runtime.SystemRuntime;
import io.stele.sstable.BlockCache;
import io.stele.sstable.CaffeineBlockCache;
import io.stele.sstable.NoBlockCache;
import io.stele.sstable.ReadOptions;
import io.stele.sstable.SSTable;
import io.stele.sstable.SSTableOptions;
import io.stele.sstable.SSTableSummary;
import io.stele.sstable.SSTableWriter;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;

/**
 * What each codec makes of web pages as a tablet keeps them: SSTables of the demo's pages, with one
 * version of each and with five, in blocks of several sizes.
 *
 * <p>For each: how much smaller the file is than that without compression; MB of cells a second
 * compressed and uncompressed, blocks alone; and what it takes to read a random row whose block is
 * not in the cache, but in the file system's memory: read, checksum, uncompress, find. Times are of
 * the thread's CPU, the median of several passes.
 */
public final class WebPageCompression {
  private static final int[] VERSIONS = {1, 5};
  private static final int[] BLOCK_BYTES = {64 << 10, 256 << 10, 1 << 20, 4 << 20};
  private static final int PASSES = Integer.getInteger("stele.passes", 5);
  private static final int ROWS_READ = 500;

  /** Index blocks come from the cache, as they do in a server; data blocks do not. */
  private static final ReadOptions UNCACHED = new ReadOptions(false, 0, false);

  private static final long INDEX_CACHE_BYTES = 64 << 20;
  private static final long DAY_OF_LAST_VISIT = 20_000;
  private static final long MICROS_A_DAY = 86_400_000_000L;

  /** Blocks are read and compressed in batches, as reading them is not what is measured. */
  private static final int BATCH_BYTES = 16 << 20;

  /** What stands in a file before its blocks, and in a block before its contents and after them. */
  private static final int FILE_HEADER_BYTES = 24;

  private static final int BLOCK_HEADER_BYTES = 10;
  private static final int BLOCK_KIND_AT = 8;
  private static final int BLOCK_CRC_BYTES = 4;
  private static final int DATA_BLOCK = 1;

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final FileSystem fs = FileSystem.getLocal(new Configuration(false)).getRawFileSystem();
  private final Path directory;
  private final SortedMap<String, byte[]> pages;

  private WebPageCompression(Path directory, SortedMap<String, byte[]> pages) throws IOException {
    this.directory = directory;
    this.pages = pages;
  }

  /**
   * Measures and prints a table.
   *
   * @param args javadoc jars, or zip files of web pages; none: the demo's, from the local Maven
   *     repository
   */
  public static void main(String[] args) throws IOException {
    List<Path> jars =
        args.length == 0 ? WebPages.jars() : Arrays.stream(args).map(Path::of).toList();
    SortedMap<String, byte[]> pages = WebPages.read(jars);
    if (pages.isEmpty()) {
      System.err.println(
          "There are no pages in "
              + jars
              + ". Name javadoc jars, or build Stele: that fetches those of the demo.");
      System.exit(1);
    }
    long bytes = pages.values().stream().mapToLong(page -> page.length).sum();
    System.out.printf("%,d pages, %,d bytes%n%n", pages.size(), bytes);
    System.out.println("| versions | block | codec | ratio | MB/s in | MB/s out | us a row |");
    System.out.println("|---|---|---|---|---|---|---|");
    Path directory = Files.createTempDirectory("stele-pages-");
    try {
      WebPageCompression run = new WebPageCompression(directory, pages);
      for (int versions : VERSIONS) {
        run.measure(versions);
      }
    } finally {
      Files.delete(directory);
    }
  }

  private void measure(int versions) throws IOException {
    Path source = directory.resolve("source.sst");
    try {
      SSTableSummary pagesAndVersions = write(source, versions);
      for (int blockBytes : BLOCK_BYTES) {
        measure(pagesAndVersions, versions, blockBytes);
      }
    } finally {
      Files.deleteIfExists(source);
    }
  }

  private void measure(SSTableSummary source, int versions, int blockBytes) throws IOException {
    Path plain = directory.resolve("plain.sst");
    try {
      SSTableSummary uncompressed = copy(source, plain, blockBytes, Codec.NONE);
      for (Codec codec : Codec.values()) {
        Path file = directory.resolve(codec + ".sst");
        try {
          SSTableSummary written = copy(source, file, blockBytes, codec);
          boolean none = codec == Codec.NONE;
          Speed speed =
              none ? new Speed(0, 0) : speed(plain, uncompressed.properties().dataBlocks(), codec);
          System.out.printf(
              Locale.ROOT,
              "| %d | %d KiB | %s | %.1f | %s | %s | %.0f |%n",
              versions,
              blockBytes >> 10,
              codec.name().toLowerCase(Locale.ROOT).replace('_', '-'),
              (double) uncompressed.length() / written.length(),
              text(speed.in()),
              text(speed.out()),
              microsARow(written));
        } finally {
          Files.deleteIfExists(file);
        }
      }
    } finally {
      Files.deleteIfExists(plain);
    }
  }

  private static String text(double megabytesASecond) {
    return megabytesASecond == 0 ? "" : String.format(Locale.ROOT, "%.0f", megabytesASecond);
  }

  private SSTableSummary write(Path file, int versions) throws IOException {
    SSTableOptions options = SSTableOptions.DEFAULT.withCodec(Codec.NONE);
    try (SSTableWriter writer =
        SSTableWriter.create(fs, path(file), options, SystemRuntime.INSTANCE.random().nextLong())) {
      for (Map.Entry<String, byte[]> page : pages.entrySet()) {
        byte[] key = ColumnKey.of(Bytes.of(page.getKey()), "contents", Bytes.EMPTY);
        long day = DAY_OF_LAST_VISIT;
        for (byte[] version : WebPages.versions(page.getKey(), page.getValue(), versions)) {
          long micros = day * MICROS_A_DAY;
          writer.add(
              new OneCell(
                  key, key.length, micros, day, 0, CellType.PUT, version, 0, version.length));
          day--;
        }
      }
      return writer.finish();
    }
  }

  private SSTableSummary copy(SSTableSummary from, Path to, int blockBytes, Codec codec)
      throws IOException {
    SSTableOptions options = SSTableOptions.DEFAULT.withBlockBytes(blockBytes).withCodec(codec);
    try (SSTable source = SSTable.open(fs, from.path(), from.length(), NoBlockCache.INSTANCE);
        CellCursor cells = source.cursor(RowRange.ALL, ReadOptions.COMPACTION);
        SSTableWriter writer =
            SSTableWriter.create(
                fs, path(to), options, SystemRuntime.INSTANCE.random().nextLong())) {
      while (cells.next()) {
        writer.add(cells);
      }
      return writer.finish();
    }
  }

  private static org.apache.hadoop.fs.Path path(Path file) {
    return new org.apache.hadoop.fs.Path(file.toUri());
  }

  /** MB of blocks a second, compressed and uncompressed. */
  private record Speed(double in, double out) {}

  /** Goes through the data blocks of an uncompressed file, as docs/formats/sstable.md has them. */
  private static Speed speed(Path plain, long blocks, Codec codec) throws IOException {
    double[] in = new double[PASSES];
    double[] out = new double[PASSES];
    for (int pass = 0; pass < PASSES; pass++) {
      long nanosIn = 0;
      long nanosOut = 0;
      long bytes = 0;
      try (InputStream file = new BufferedInputStream(Files.newInputStream(plain), 1 << 20)) {
        file.skipNBytes(FILE_HEADER_BYTES);
        for (long left = blocks; left > 0; ) {
          Batch batch = new Batch(codec, read(file, left));
          nanosIn += batch.compress();
          nanosOut += batch.uncompress();
          bytes += batch.bytes();
          left -= batch.size();
        }
      }
      in[pass] = bytes * 1e3 / nanosIn;
      out[pass] = bytes * 1e3 / nanosOut;
    }
    return new Speed(median(in), median(out));
  }

  /** Some of the data blocks that are left. */
  private static List<byte[]> read(InputStream file, long left) throws IOException {
    List<byte[]> blocks = new ArrayList<>();
    long bytes = 0;
    while (bytes < BATCH_BYTES && blocks.size() < left) {
      ByteBuffer header =
          ByteBuffer.wrap(file.readNBytes(BLOCK_HEADER_BYTES)).order(ByteOrder.LITTLE_ENDIAN);
      byte[] contents = file.readNBytes(header.getInt(0));
      file.skipNBytes(BLOCK_CRC_BYTES);
      if (header.get(BLOCK_KIND_AT) == DATA_BLOCK) {
        blocks.add(contents);
        bytes += contents.length;
      }
    }
    return blocks;
  }

  /** Some blocks. */
  private static final class Batch {
    private final Codec codec;
    private final List<byte[]> blocks;
    private final byte[][] compressed;
    private final int[] lengths;
    private final byte[] back;

    Batch(Codec codec, List<byte[]> blocks) {
      this.codec = codec;
      this.blocks = blocks;
      this.lengths = new int[blocks.size()];
      this.compressed =
          blocks.stream()
              .map(block -> new byte[Compression.roomFor(codec, block.length)])
              .toArray(byte[][]::new);
      this.back = new byte[blocks.stream().mapToInt(block -> block.length).max().orElse(0)];
    }

    int size() {
      return blocks.size();
    }

    long bytes() {
      return blocks.stream().mapToLong(block -> block.length).sum();
    }

    long compress() {
      long start = THREADS.getCurrentThreadCpuTime();
      for (int i = 0; i < lengths.length; i++) {
        byte[] block = blocks.get(i);
        lengths[i] = Compression.compress(codec, block, 0, block.length, compressed[i]);
      }
      return THREADS.getCurrentThreadCpuTime() - start;
    }

    long uncompress() throws IOException {
      long start = THREADS.getCurrentThreadCpuTime();
      for (int i = 0; i < lengths.length; i++) {
        int rawLength = blocks.get(i).length;
        Compression.uncompress(codec, compressed[i], 0, lengths[i], back, rawLength);
      }
      return THREADS.getCurrentThreadCpuTime() - start;
    }
  }

  /** The newest version of a row, in an order that is random but always the same. */
  private double microsARow(SSTableSummary written) throws IOException {
    List<String> rows = new ArrayList<>(pages.keySet());
    double[] micros = new double[PASSES];
    BlockCache cache = new CaffeineBlockCache(INDEX_CACHE_BYTES, 0);
    try (SSTable table = SSTable.open(fs, written.path(), written.length(), cache)) {
      for (int pass = 0; pass < PASSES; pass++) {
        Random random = new Random(1);
        long start = THREADS.getCurrentThreadCpuTime();
        for (int i = 0; i < ROWS_READ; i++) {
          Bytes row = Bytes.of(rows.get(random.nextInt(rows.size())));
          try (CellCursor cells = table.cursor(RowRange.single(row), UNCACHED)) {
            if (!cells.next() || cells.valueLength() == 0) {
              throw new IllegalStateException("row " + row + " is not there");
            }
          }
        }
        micros[pass] = (THREADS.getCurrentThreadCpuTime() - start) / 1e3 / ROWS_READ;
      }
    }
    return median(micros);
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
