package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.Seeds;
import io.stele.model.Bloom;
import io.stele.model.Bytes;
import io.stele.model.CachePriority;
import io.stele.model.Codec;
import io.stele.model.ColumnFamily;
import io.stele.model.CorruptionException;
import io.stele.model.LocalityGroup;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.record.FileRef;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Damage in one file of a tablet: reads that need what is damaged say which file and where, all
 * others go on; compactions of it refuse and change nothing; the tablet goes on taking writes.
 */
class TabletDamageTest {
  private static final int ROWS = 120;
  private static final int HEADER_BYTES = 24;
  private static final List<String> FAMILIES = List.of("a", "b", "c");

  private final TabletHost host = new TabletHost();
  private TabletHost.Stored stored;
  private TabletHost.Server server;
  private Tablet tablet;
  private Random random;
  private CompletableFuture<OperationResult> last; // Those before it are durable before it.

  static LongStream seeds() {
    return Seeds.of(12);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void damageIsNamedAndKeptToItself(long seed) throws Exception {
    random = new Random(seed);
    open();
    List<FileRef> files = stored.record().files();
    FileRef damaged = files.get(random.nextInt(files.size()));
    List<Row> whole = read(RowQuery.ALL);
    assertThat(whole).hasSize(ROWS);
    reopen(); // Nothing is in the cache.
    byte[] before = bytes(damaged);
    damage(damaged, files);

    int failed = 0;
    for (Row row : whole) {
      for (String family : FAMILIES) {
        Row expected =
            new Row(
                row.key(),
                row.cells().stream().filter(cell -> cell.family().equals(family)).toList());
        try {
          assertThat(read(RowQuery.row(row.key()).family(family))).containsExactly(expected);
        } catch (CorruptionException e) {
          assertThat(damaged.families()).contains(family);
          assertNames(e, damaged);
          failed++;
        }
      }
    }
    assertThat(failed).as("reads that met the damage").isBetween(1, ROWS / 2);
    assertThatThrownBy(() -> read(RowQuery.ALL))
        .isInstanceOfSatisfying(CorruptionException.class, e -> assertNames(e, damaged));

    assertThatThrownBy(tablet::majorCompact)
        .isInstanceOfSatisfying(CorruptionException.class, e -> assertNames(e, damaged));
    assertThat(stored.record().files()).contains(damaged);
    assertThat(tablet.failure()).isEmpty();
    for (int i = 0; i < 5; i++) {
      put("zzz" + i, "value " + i); // Behind all others: the block that it would be in is whole.
    }
    last.join();
    assertThat(tablet.minorCompact()).isTrue();
    assertThat(read(RowQuery.row("zzz3"))).hasSize(1);
    assertThatThrownBy(tablet::majorCompact).isInstanceOf(CorruptionException.class);
    host.sweep(Set.of());

    restore(damaged, before); // As from a healthy replica.
    tablet.majorCompact();
    assertThat(tablet.statistics().files()).isEqualTo(FAMILIES.size());
    assertThat(read(RowQuery.ALL)).hasSize(ROWS + 5).containsAll(whole);
    server.close();
  }

  private void damage(FileRef damaged, List<FileRef> files) throws IOException {
    byte[] good = bytes(damaged);
    switch (random.nextInt(3)) {
      case 0 -> // Within the data blocks, which come first.
          host.disk.flipBits(
              path(damaged),
              HEADER_BYTES + random.nextInt(good.length / 3),
              1 << random.nextInt(8));
      case 1 -> { // A stretch of zeros, as of a page that was never written.
        byte[] bad = good.clone();
        int from = HEADER_BYTES + random.nextInt(good.length / 3);
        Arrays.fill(bad, from, from + 100, (byte) 0);
        restore(damaged, bad);
      }
      default -> { // What another file of the same families has at the same place.
        FileRef other =
            files.stream()
                .filter(file -> file != damaged && file.families().equals(damaged.families()))
                .findFirst()
                .orElseThrow();
        byte[] bad = good.clone();
        System.arraycopy(bytes(other), HEADER_BYTES, bad, HEADER_BYTES, 1500);
        restore(damaged, bad);
      }
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void aTruncatedFileIsNamedByReadsAndAtOpening(long seed) throws Exception {
    random = new Random(seed);
    open();
    reopen();
    List<FileRef> files = stored.record().files();
    FileRef damaged = files.get(random.nextInt(files.size()));
    host.disk.truncate(path(damaged), random.nextInt((int) damaged.length() / 2));
    assertThatThrownBy(() -> read(RowQuery.ALL))
        .isInstanceOfSatisfying(CorruptionException.class, e -> assertNames(e, damaged));
    assertThatThrownBy(tablet::majorCompact)
        .isInstanceOfSatisfying(CorruptionException.class, e -> assertNames(e, damaged));
    for (String family : FAMILIES) {
      if (!damaged.families().contains(family)) {
        assertThat(read(RowQuery.ALL.family(family))).hasSize(ROWS);
      }
    }
    put("new", "value");
    last.join();
    assertThat(tablet.minorCompact()).isTrue();
    host.sweep(Set.of());
    assertThatThrownBy(this::reopen)
        .isInstanceOfSatisfying(CorruptionException.class, e -> assertNames(e, damaged));
  }

  private void assertNames(CorruptionException e, FileRef file) {
    assertThat(e.file()).endsWith(file.path());
    assertThat(e.offset()).isBetween(0L, file.length());
  }

  /** Four layers of three groups, of which none is compacted further by itself. */
  private void open() throws Exception {
    List<LocalityGroup> groups = new ArrayList<>();
    List<ColumnFamily> families = new ArrayList<>();
    for (String family : FAMILIES) {
      groups.add(
          new LocalityGroup(
              "g" + family,
              Codec.NONE,
              1 << 10,
              Bloom.values()[random.nextInt(Bloom.values().length)],
              random.nextInt(3) == 0,
              CachePriority.values()[random.nextInt(CachePriority.values().length)]));
      families.add(ColumnFamily.of(family).in("g" + family));
    }
    TableSchema schema = TableSchema.of("damaged", families, groups.toArray(LocalityGroup[]::new));
    host.cacheBytes = random.nextBoolean() ? 0 : 200_000;
    stored =
        host.add(
            TabletSpec.empty(
                new TabletId(new TableId("t1"), "00000000000000aa"), 1, RowRange.ALL, schema));
    server = host.start();
    tablet = server.take(stored);
    for (int layer = 0; layer < 4; layer++) {
      for (int row = layer; row < ROWS; row += 2) { // Most rows are in two layers.
        put(String.format("row%03d", row), "value " + layer);
      }
      last.join();
      tablet.minorCompact();
    }
  }

  private void reopen() throws IOException {
    server.close();
    server = host.start();
    tablet = server.take(stored);
  }

  private void put(String row, String value) {
    host.nowMicros.addAndGet(10);
    Mutation.Builder mutation = Mutation.builder(Bytes.of(row));
    for (String family : FAMILIES) {
      mutation.put(family, Bytes.of("q"), Bytes.of(value + " of " + row + " and so on".repeat(5)));
    }
    last = tablet.apply(OperationRequest.of(mutation.build()));
  }

  private List<Row> read(RowQuery query) throws IOException {
    return tablet.read(ReadRequest.of(query)).rows();
  }

  private static Path path(FileRef file) {
    return new Path(TabletHost.ROOT, file.path());
  }

  private byte[] bytes(FileRef file) throws IOException {
    byte[] bytes = new byte[(int) file.length()];
    try (FSDataInputStream in = server.fs.open(path(file))) {
      in.readFully(0, bytes);
    }
    return bytes;
  }

  private void restore(FileRef file, byte[] wanted) throws IOException {
    byte[] now = bytes(file);
    for (int i = 0; i < now.length; i++) {
      if (now[i] != wanted[i]) {
        host.disk.flipBits(path(file), i, now[i] ^ wanted[i]);
      }
    }
  }
}
