package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.format.CellCursor;
import io.stele.format.ColumnKey;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.Limits;
import io.stele.model.LocalityGroup;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.record.FileRef;
import io.stele.record.PutTimestamps;
import io.stele.sim.CrashableFileSystem;
import io.stele.sstable.NoBlockCache;
import io.stele.sstable.ReadOptions;
import io.stele.sstable.SSTable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** What comes in any order is written as what comes in the order of rows. */
class SortBufferTest {
  private static final Path ROOT = new Path("/stele");
  private static final long VALUE_BYTES = 1 << 20;
  private static final long TIMESTAMP = 7;
  private static final TableSchema SCHEMA =
      TableSchema.of(
          "t",
          List.of(ColumnFamily.of("f"), ColumnFamily.of("g").in("other")),
          LocalityGroup.of("other"));

  private final FileSystem fs = CrashableFileSystem.create();
  private final SortBuffer buffer =
      new SortBuffer(SCHEMA, PutTimestamps.always(TIMESTAMP), VALUE_BYTES);
  private int writers;
  private int progress;

  private JobFileWriter writer() {
    JobFileWriter.Target target =
        new JobFileWriter.Target(fs, ROOT, "job", "task" + writers++, SCHEMA, TIMESTAMP);
    return new JobFileWriter(target, new Random(1), VALUE_BYTES);
  }

  private List<FileRef> written() throws IOException {
    try (JobFileWriter writer = writer()) {
      buffer.writeTo(writer, () -> progress++);
      return writer.finish();
    }
  }

  private static void fill(SortBuffer to, Mutation... mutations) {
    for (Mutation one : mutations) {
      to.add(one);
    }
  }

  private List<String> cells(FileRef file) throws IOException {
    List<String> found = new ArrayList<>();
    Path path = new Path(ROOT, file.path());
    long length = fs.getFileStatus(path).getLen();
    try (SSTable table = SSTable.open(fs, path, length, NoBlockCache.INSTANCE);
        CellCursor cells = table.cursor(RowRange.ALL, ReadOptions.SCAN)) {
      while (cells.next()) {
        Bytes key = Bytes.of(cells.key(), 0, cells.keyLength());
        Bytes value = Bytes.of(cells.valueArray(), cells.valueOffset(), cells.valueLength());
        found.add(
            ColumnKey.row(cells.key(), cells.keyLength())
                + " "
                + key
                + "@"
                + cells.timestamp()
                + " "
                + cells.ordinal()
                + " "
                + cells.type()
                + " "
                + value);
      }
    }
    return found;
  }

  /** The cells of mutations that are written in the order of rows, as a reducer does. */
  private List<List<String>> byReducer(List<Mutation> inOrder) throws IOException {
    try (JobFileWriter writer = writer()) {
      for (Mutation one : inOrder) {
        writer.add(one);
      }
      return cells(writer.finish());
    }
  }

  private List<List<String>> cells(List<FileRef> files) throws IOException {
    List<List<String>> all = new ArrayList<>();
    for (FileRef file : files) {
      all.add(cells(file));
    }
    return all;
  }

  private static Mutation random(Random random) {
    // Rows that begin with others, have zeros, and are longer than what is compared first.
    byte[] row = new byte[1 + random.nextInt(12)];
    for (int i = 0; i < row.length; i++) {
      row[i] = (byte) (random.nextInt(3) - 1);
    }
    Mutation mutation = Mutation.of(Bytes.of(row));
    for (int edits = 1 + random.nextInt(3); edits > 0; edits--) {
      String family = random.nextBoolean() ? "f" : "g";
      String qualifier = "q" + random.nextInt(3);
      mutation =
          switch (random.nextInt(8)) {
            case 0 -> mutation.deleteRow();
            case 1 -> mutation.deleteFamily(family);
            case 2 -> mutation.deleteColumn(family, qualifier);
            default -> mutation.put(family, qualifier, "v" + random.nextInt());
          };
    }
    return mutation;
  }

  @Test
  void mutationsInAnyOrderGiveTheFilesThatTheyGiveInOrder() throws IOException {
    for (int seed = 0; seed < 20; seed++) {
      Random random = new Random(seed);
      TreeMap<Bytes, List<Mutation>> byRow = new TreeMap<>();
      for (int i = 0; i < 2000; i++) {
        Mutation mutation = random(random);
        buffer.add(mutation);
        byRow.computeIfAbsent(mutation.row(), row -> new ArrayList<>()).add(mutation);
      }
      List<Mutation> inOrder = byRow.values().stream().flatMap(List::stream).toList();
      List<FileRef> files = written();
      assertThat(cells(files)).as("seed %d", seed).isEqualTo(byReducer(inOrder));
      assertThat(files)
          .allSatisfy(
              file ->
                  assertThat(file.bounds())
                      .isEqualTo(new RowRange(byRow.firstKey(), byRow.lastKey().successor())));
      assertThat(files).extracting(FileRef::families).doesNotHaveDuplicates().hasSize(2);
      assertThat(buffer.isEmpty()).isTrue();
    }
  }

  @Test
  void ofMutationsOfARowTheLaterIsTheLaterChange() throws IOException {
    fill(
        buffer,
        Mutation.of("b").put("f", "x", "first"),
        Mutation.of("a").put("f", "x", "other"),
        Mutation.of("b").deleteRow(),
        Mutation.of("b").put("f", "x", "last"));
    assertThat(cells(written()).get(0))
        .satisfiesExactly(
            cell -> assertThat(cell).startsWith("a ").endsWith("PUT other"),
            cell -> assertThat(cell).startsWith("b ").endsWith("1 DELETE_ROW "),
            cell -> assertThat(cell).startsWith("b ").endsWith("2 PUT last"),
            cell -> assertThat(cell).startsWith("b ").endsWith("0 PUT first"));
  }

  @Test
  void itsBytesAreThoseOfTheMemoryThatItTakes() throws IOException {
    long empty = buffer.bytes();
    int rows = 20_000;
    for (int i = 0; i < rows; i++) {
      buffer.add(Mutation.of("r" + i * 7919 % rows).put("f", "q", "v"));
    }
    // Each has its header, row, cell, address, order and start of the row.
    assertThat(buffer.bytes()).isBetween(rows * 50L, rows * 120L);
    buffer.add(Mutation.of("large").put("f", Bytes.of("q"), Bytes.of(new byte[1 << 20])));
    assertThat(buffer.bytes()).isGreaterThan(rows * 50L + (1 << 20));
    written();
    assertThat(progress).as("reports while it sorts and writes").isGreaterThanOrEqualTo(20);
    assertThat(buffer.bytes()).as("once it is empty").isEqualTo(empty);
  }

  @Test
  void whatTheSchemaOrALimitForbidsIsRefusedAtOnce() {
    assertThatThrownBy(() -> buffer.add(Mutation.of("a").put("none", "q", "v")))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("none");
    byte[] large = new byte[(int) VALUE_BYTES + 1];
    assertThatThrownBy(() -> buffer.add(Mutation.of("a").put("f", "q", large)))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("the limit is " + VALUE_BYTES);
  }

  @Test
  void aRowMayHaveMoreEditsThanOneMutation() throws IOException {
    for (int i = 0; i <= Limits.EDITS_MAX; i++) {
      buffer.add(Mutation.of("a").put("f", "q", "" + i));
    }
    List<String> cells = cells(written().get(0));
    assertThat(cells).hasSize(Limits.EDITS_MAX + 1);
    assertThat(cells.get(0)).as("the last one is the newest").endsWith(" PUT " + Limits.EDITS_MAX);
  }
}
