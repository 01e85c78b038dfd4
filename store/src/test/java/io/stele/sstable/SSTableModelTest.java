package io.stele.sstable;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.format.CellCursor;
import io.stele.format.CellType;
import io.stele.format.ColumnKey;
import io.stele.model.Bloom;
import io.stele.model.Bytes;
import io.stele.model.CachePriority;
import io.stele.model.Codec;
import io.stele.model.RowRange;
import io.stele.runtime.MemoryClaim;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random files under random options do what a sorted list does. {@code -Dstele.seed=N} repeats one
 * seed, {@code -Dstele.seeds=N} runs many.
 */
class SSTableModelTest {
  private static final int SEEDS = Integer.getInteger("stele.seeds", 60);
  private static final Long SEED = Long.getLong("stele.seed");

  @TempDir java.nio.file.Path directory;

  @Test
  void aFileDoesWhatASortedListDoes() throws Exception {
    long first = SEED == null ? 1 : SEED;
    long last = SEED == null ? SEEDS : SEED;
    for (long seed = first; seed <= last; seed++) {
      try {
        run(seed);
      } catch (Throwable e) {
        throw new AssertionError("seed " + seed + " (repeat with -Dstele.seed=" + seed + ")", e);
      }
    }
  }

  private void run(long seed) throws IOException {
    Random random = new Random(seed);
    FileSystem fs = SSTableFiles.local();
    List<TestCell> cells = randomCells(random);
    Path path = new Path(directory.toUri().getPath(), seed + ".sst");
    SSTableOptions options = randomOptions(random);
    Bytes operations = bytes(random, random.nextInt(5000));
    long length = write(fs, path, options, cells, operations);
    BlockCache cache =
        random.nextBoolean()
            ? NoBlockCache.INSTANCE
            : new CaffeineBlockCache(10_000 << random.nextInt(8), random.nextInt(2) * 100_000);
    CachePriority priority = CachePriority.values()[random.nextInt(3)];
    FileCaching caching = new FileCaching(random.nextInt(4) == 0, priority);
    IdleReadaheads idle = new IdleReadaheads(() -> 0, random.nextInt(3) * 3000, 100);
    try (SSTable table = SSTable.open(fs, path, length, cache, caching, idle)) {
      table.verify();
      assertThat(table.metaBlock("operations")).contains(operations);
      assertThat(table.metaBlock("other")).isEmpty();
      checkProperties(table.properties(), cells);
      checkScan(table, cells, RowRange.ALL, randomReadOptions(random), random);
      for (int i = 0; i < 20; i++) {
        RowRange bounds = randomRange(random, cells);
        checkScan(table, cells, bounds, randomReadOptions(random), random);
        checkSizes(table, cells, bounds, random);
      }
      for (int i = 0; i < 40; i++) {
        Bytes row = randomRow(new Random(random.nextInt(10)), cells);
        if (!row.isEmpty()) {
          checkScan(table, cells, RowRange.single(row), ReadOptions.POINT, random);
        }
      }
      checkBloom(table, cells);
    }
  }

  /** Whatever a read of a column goes by is told: its cells, and tombstones above it. */
  private static void checkBloom(SSTable table, List<TestCell> cells) throws IOException {
    for (TestCell cell : cells) {
      Bytes row = cell.row();
      assertThat(table.mayContainRow(row, ReadOptions.POINT)).isTrue();
      byte[] column =
          switch (cell.type()) {
            case DELETE_ROW -> ColumnKey.of(row, "f7", Bytes.EMPTY);
            case DELETE_FAMILY -> cell.key().concat(Bytes.wrap(new byte[] {7, 0, 0})).toByteArray();
            default -> cell.key().toByteArray();
          };
      assertThat(SSTableFiles.mayContainColumn(table, column)).isTrue();
    }
  }

  private static long write(
      FileSystem fs, Path path, SSTableOptions options, List<TestCell> cells, Bytes operations)
      throws IOException {
    try (SSTableWriter writer = SSTableWriter.create(fs, path, options, SSTableFiles.FILE_ID)) {
      int at = 0;
      for (TestCell cell : cells) {
        if (at++ == cells.size() / 2) {
          writer.metaBlock("in the middle", Bytes.of("x"));
        }
        cell.addTo(writer);
      }
      writer.metaBlock("operations", operations);
      SSTableSummary summary = writer.finish();
      assertThat(summary.length()).isEqualTo(fs.getFileStatus(path).getLen());
      return summary.length();
    }
  }

  private static void checkProperties(SSTableProperties properties, List<TestCell> cells) {
    assertThat(properties.cells()).isEqualTo(cells.size());
    assertThat(properties.tombstones())
        .isEqualTo(cells.stream().filter(cell -> cell.type().isTombstone()).count());
    assertThat(properties.rows()).isEqualTo(cells.stream().map(TestCell::row).distinct().count());
    assertThat(properties.minSequence())
        .isEqualTo(cells.stream().mapToLong(TestCell::sequence).min().orElse(0));
    assertThat(properties.maxSequence())
        .isEqualTo(cells.stream().mapToLong(TestCell::sequence).max().orElse(-1));
    assertThat(properties.maxTimestamp())
        .isEqualTo(
            cells.stream()
                .filter(cell -> cell.type() == CellType.PUT)
                .mapToLong(TestCell::timestamp)
                .max()
                .orElse(-1));
    if (!cells.isEmpty()) {
      assertThat(properties.firstKey()).isEqualTo(cells.get(0).key());
      assertThat(properties.lastKey()).isEqualTo(cells.get(cells.size() - 1).key());
    }
  }

  private static void checkScan(
      SSTable table, List<TestCell> all, RowRange bounds, ReadOptions options, Random random)
      throws IOException {
    List<TestCell> expected =
        all.stream().filter(cell -> bounds.contains(cell.row())).sorted().toList();
    List<TestCell> actual = new ArrayList<>();
    try (CellCursor cells = table.cursor(bounds, options)) {
      while (cells.next()) {
        actual.add(TestCell.current(cells));
      }
      assertThat(cells.next()).isFalse();
      assertThat(actual).isEqualTo(expected);
      for (int i = 0; i < 20; i++) {
        byte[] target = randomTarget(random, all);
        int at = 0;
        while (at < expected.size() && expected.get(at).key().compareTo(Bytes.wrap(target)) < 0) {
          at++;
        }
        boolean found = cells.seek(target);
        assertThat(found).isEqualTo(at < expected.size());
        for (int steps = random.nextInt(30); found && steps >= 0; steps--) {
          assertThat(TestCell.current(cells)).isEqualTo(expected.get(at++));
          found = cells.next();
          assertThat(found).isEqualTo(at < expected.size());
        }
      }
    }
  }

  private static void checkSizes(
      SSTable table, List<TestCell> cells, RowRange bounds, Random random) throws IOException {
    Optional<Bytes> middle = table.middleRow(bounds);
    long rows = cells.stream().map(TestCell::row).filter(bounds::contains).distinct().count();
    if (rows < 2) {
      assertThat(middle).isEmpty();
    } else {
      assertThat(middle).isPresent();
      assertThat(bounds.contains(middle.get())).isTrue();
      assertThat(middle.get()).isNotEqualTo(bounds.start());
      assertThat(cells)
          .anyMatch(cell -> bounds.contains(cell.row()) && cell.row().compareTo(middle.get()) < 0);
      long lower = table.bytesIn(new RowRange(bounds.start(), middle.get()));
      long upper = table.bytesIn(new RowRange(middle.get(), bounds.end()));
      assertThat(lower + upper).isEqualTo(table.bytesIn(bounds));
    }
    assertThat(table.bytesIn(bounds)).isBetween(0L, table.length());
  }

  static SSTableOptions randomOptions(Random random) {
    Codec codec = Codec.values()[random.nextInt(Codec.values().length)];
    return new SSTableOptions(
        64 << random.nextInt(8),
        1 + random.nextInt(20),
        codec,
        Bloom.values()[random.nextInt(Bloom.values().length)],
        1 + random.nextInt(20),
        64 << random.nextInt(4),
        64 << random.nextInt(4));
  }

  private static ReadOptions randomReadOptions(Random random) {
    return random.nextInt(4) == 0
        ? ReadOptions.once(MemoryClaim.NONE).first(random.nextInt(4) * 1000)
        : new ReadOptions(random.nextBoolean(), random.nextInt(4) * 1000, false);
  }

  static List<TestCell> randomCells(Random random) {
    TreeSet<TestCell> cells = new TreeSet<>();
    int count = random.nextInt(10) == 0 ? 0 : random.nextInt(800);
    int rows = 1 + random.nextInt(100);
    int columns = 1 + random.nextInt(20);
    boolean large = random.nextInt(5) == 0;
    for (int i = 0; i < count; i++) {
      Bytes row = row(random, rows);
      Bytes qualifier = bytes(new Random(random.nextInt(columns)), 3);
      String family = "f" + random.nextInt(2);
      CellType type = CellType.values()[random.nextInt(4) == 0 ? random.nextInt(5) : 0];
      byte[] key =
          switch (type) {
            case DELETE_ROW -> ColumnKey.ofRow(row);
            case DELETE_FAMILY -> ColumnKey.ofFamily(row, family);
            default -> ColumnKey.of(row, family, qualifier);
          };
      long timestamp =
          type == CellType.PUT || type == CellType.DELETE_CELL
              ? random.nextInt(1 << random.nextInt(30))
              : Long.MAX_VALUE;
      int size = large && random.nextInt(50) == 0 ? 100_000 : random.nextInt(40);
      Bytes value = type == CellType.PUT ? bytes(random, size) : Bytes.EMPTY;
      cells.add(
          new TestCell(
              Bytes.wrap(key), timestamp, random.nextInt(1000), random.nextInt(3), type, value));
    }
    return new ArrayList<>(cells);
  }

  private static Bytes row(Random random, int rows) {
    Random choice = new Random(random.nextInt(rows));
    choice.nextInt();
    return bytes(choice, 1 + choice.nextInt(12));
  }

  /** Bytes with many zeros and high ones. */
  static Bytes bytes(Random random, int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] =
          switch (random.nextInt(5)) {
            case 0 -> 0;
            case 1 -> 1;
            case 2 -> (byte) 0xff;
            case 3 -> 'a';
            default -> (byte) random.nextInt();
          };
    }
    return Bytes.wrap(bytes);
  }

  private static RowRange randomRange(Random random, List<TestCell> cells) {
    Bytes a = randomRow(random, cells);
    Bytes b = randomRow(random, cells);
    return b.isEmpty() || a.compareTo(b) <= 0 ? new RowRange(a, b) : new RowRange(b, a);
  }

  private static Bytes randomRow(Random random, List<TestCell> cells) {
    return switch (random.nextInt(6)) {
      case 0 -> Bytes.EMPTY;
      case 1 -> bytes(random, random.nextInt(4));
      default -> cells.isEmpty() ? Bytes.of("r") : cells.get(random.nextInt(cells.size())).row();
    };
  }

  private static byte[] randomTarget(Random random, List<TestCell> cells) {
    Bytes key =
        cells.isEmpty() || random.nextInt(5) == 0
            ? bytes(random, random.nextInt(6))
            : cells.get(random.nextInt(cells.size())).key();
    return random.nextInt(3) == 0
        ? key.slice(0, random.nextInt(key.length() + 1)).toByteArray()
        : key.toByteArray();
  }
}
