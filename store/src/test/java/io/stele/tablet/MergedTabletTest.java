package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.memtable.CountingAccount;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.record.FileRef;
import io.stele.record.MergedFiles;
import io.stele.runtime.MemoryRoom;
import io.stele.runtime.ServerClock;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableFileSystem;
import io.stele.sstable.NoBlockCache;
import io.stele.sstable.OpenSSTables;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A tablet made of two neighbours, whose files have the same sequence numbers. */
@Timeout(60)
class MergedTabletTest {
  private static final TableSchema SCHEMA =
      TableSchema.of("t", List.of(new ColumnFamily("f", GcPolicy.maxVersions(1))));
  private static final RowRange LOW = RowRange.of("", "m");
  private static final RowRange HIGH = RowRange.of("m", "");

  private final CrashableFileSystem fs = CrashableFileSystem.create();

  private static TabletId id(int number) {
    return new TabletId(TabletFixture.ID.table(), String.format("%016x", number));
  }

  private Tablet open(TestManifest manifest) throws IOException {
    return Tablet.open(
        manifest.record(),
        new TabletEnvironment(
            SystemRuntime.INSTANCE,
            ServerClock.trusting(SystemRuntime.INSTANCE.wallClock()),
            fs,
            TabletFixture.ROOT,
            new OpenSSTables(SystemRuntime.INSTANCE, fs, NoBlockCache.INSTANCE),
            new CountingAccount(),
            OperationBudget.unlimited(),
            new ManualLog(),
            manifest,
            CompactionPace.UNLIMITED,
            UntimedPages.DEFAULT,
            MemoryRoom.unlimited(),
            new CompactionCounters()),
        List.of());
  }

  private static void write(
      Tablet tablet, String prefix, int count, long seed, TreeMap<String, String> plain)
      throws IOException {
    Random random = new Random(seed);
    for (int i = 0; i < count; i++) {
      String row = prefix + random.nextInt(20);
      if (random.nextInt(4) == 0) {
        tablet.apply(OperationRequest.of(Mutation.of(row).deleteRow())).join();
        plain.remove(row);
      } else {
        String value = "v" + i;
        tablet.apply(OperationRequest.of(Mutation.of(row).put("f", "q", value))).join();
        plain.put(row, value);
      }
      if (random.nextInt(15) == 0) {
        tablet.minorCompact();
      }
      if (random.nextInt(40) == 0) {
        tablet.mergingCompact();
      }
    }
  }

  private static TreeMap<String, String> read(Tablet tablet) throws IOException {
    TreeMap<String, String> rows = new TreeMap<>();
    for (Row row : tablet.read(ReadRequest.of(RowQuery.ALL)).rows()) {
      rows.put(row.key().toUtf8(), row.cells().get(0).value().toUtf8());
    }
    return rows;
  }

  private TabletSpec side(
      TestManifest manifest, String prefix, long seed, TreeMap<String, String> plain)
      throws IOException {
    try (Tablet tablet = open(manifest)) {
      write(tablet, prefix, 150, seed, plain);
      tablet.pauseWrites().join();
      tablet.minorCompact();
      return tablet.describe();
    }
  }

  private static TabletSpec merged(TabletSpec low, TabletSpec high) {
    return new TabletSpec(
        TabletId.random(low.id().table(), new Random(low.epoch() + high.epoch())),
        Math.max(low.epoch(), high.epoch()) + 1,
        new RowRange(low.extent().start(), high.extent().end()),
        low.schema(),
        MergedFiles.of(low.files(), high.files()),
        Math.max(low.redoPoint(), high.redoPoint()),
        Math.max(low.highestTimestamp(), high.highestTimestamp()),
        List.of());
  }

  @Test
  void bothSidesAreReadAndWrittenAndCompactedAsOne() throws Exception {
    for (long seed = 1; seed <= 20; seed++) {
      TreeMap<String, String> plain = new TreeMap<>();
      TabletSpec low =
          side(new TestManifest(TabletSpec.empty(id(1), seed, LOW, SCHEMA)), "a", seed, plain);
      TabletSpec high =
          side(new TestManifest(TabletSpec.empty(id(2), seed, HIGH, SCHEMA)), "z", -seed, plain);
      TestManifest manifest = new TestManifest(merged(low, high));
      try (Tablet tablet = open(manifest)) {
        assertThat(read(tablet)).as("seed %d", seed).isEqualTo(plain);
        write(tablet, "a", 60, seed + 100, plain);
        write(tablet, "z", 60, seed + 200, plain);
        assertThat(read(tablet)).as("seed %d", seed).isEqualTo(plain);
        while (tablet.mergingCompact()) {
          assertThat(read(tablet)).as("seed %d", seed).isEqualTo(plain);
        }
        tablet.minorCompact();
        tablet.majorCompact();
        assertThat(read(tablet)).as("seed %d", seed).isEqualTo(plain);
        assertThat(tablet.statistics().files()).isEqualTo(1);
      }
      fs.delete(TabletFixture.ROOT, true);
    }
  }

  /** Tablets that cover the table, none of them open, and what should be in them. */
  private final class World {
    final Random random;
    final List<TabletSpec> tablets = new ArrayList<>();
    final TreeMap<String, String> plain = new TreeMap<>();
    private final List<Mutation> sent = new ArrayList<>();

    World(long seed) {
      random = new Random(seed);
      tablets.add(TabletSpec.empty(id(1), 1, RowRange.ALL, SCHEMA));
    }

    void step() throws IOException {
      int which = random.nextInt(tablets.size());
      switch (random.nextInt(6)) {
        case 0 -> split(which);
        case 1, 2 -> merge(which);
        default -> tablets.set(which, serve(tablets.get(which)));
      }
    }

    private void split(int which) {
      TabletSpec whole = tablets.get(which);
      Bytes row = Bytes.of(row());
      if (whole.extent().contains(row) && !whole.extent().start().equals(row)) {
        RowRange rows = whole.extent();
        tablets.set(which, child(whole, new RowRange(row, rows.end())));
        tablets.add(which, child(whole, new RowRange(rows.start(), row)));
      }
    }

    private TabletSpec child(TabletSpec whole, RowRange rows) {
      return whole.child(TabletId.random(whole.id().table(), random), whole.epoch() + 1, rows);
    }

    private void merge(int which) {
      if (which > 0) {
        TabletSpec upper = tablets.remove(which);
        tablets.set(which - 1, merged(tablets.get(which - 1), upper));
      }
    }

    private String row() {
      return String.format("%02d", random.nextInt(60));
    }

    /** One server's time with a tablet, from load to unload. */
    private TabletSpec serve(TabletSpec spec) throws IOException {
      TestManifest manifest = new TestManifest(spec);
      try (Tablet tablet = open(manifest)) {
        for (int i = random.nextInt(30); i > 0; i--) {
          switch (random.nextInt(12)) {
            case 0 -> tablet.minorCompact();
            case 1 -> tablet.mergingCompact();
            case 2 -> tablet.majorCompact();
            case 3 -> check(tablet);
            case 4, 5 -> sendAgain(tablet);
            default -> send(tablet);
          }
        }
        check(tablet);
        tablet.pauseWrites().join();
        tablet.minorCompact();
        return new TestManifest(tablet.describe()).reassigned();
      }
    }

    private void send(Tablet tablet) {
      String row = row();
      if (tablet.extent().contains(Bytes.of(row))) {
        boolean deletes = random.nextInt(4) == 0;
        String value = "v" + sent.size();
        sent.add(deletes ? Mutation.of(row).deleteRow() : Mutation.of(row).put("f", "q", value));
        if (deletes) {
          plain.remove(row);
        } else {
          plain.put(row, value);
        }
        apply(tablet, sent.size());
      }
    }

    /** A retry of something that was done some time ago, by whatever tablet had the row. */
    private void sendAgain(Tablet tablet) {
      if (!sent.isEmpty()) {
        int number = 1 + random.nextInt(sent.size());
        if (tablet.extent().contains(sent.get(number - 1).row())) {
          apply(tablet, number);
        }
      }
    }

    private void apply(Tablet tablet, int number) {
      tablet
          .apply(OperationRequest.of(sent.get(number - 1), new OperationId(7, 7, number), 1))
          .join();
    }

    private void check(Tablet tablet) throws IOException {
      Bytes end = tablet.extent().end();
      SortedMap<String, String> expected = plain.tailMap(tablet.extent().start().toUtf8());
      assertThat(read(tablet)).isEqualTo(end.isEmpty() ? expected : expected.headMap(end.toUtf8()));
    }
  }

  @Test
  void afterAnySplitsAndMergesRowsAreWholeAndRetriesAreAppliedOnce() throws Exception {
    for (long seed = 1; seed <= 60; seed++) {
      World world = new World(seed);
      try {
        for (int i = 0; i < 60; i++) {
          world.step();
        }
        for (TabletSpec tablet : world.tablets) {
          world.serve(tablet);
        }
      } catch (Exception | AssertionError e) {
        throw new AssertionError("seed " + seed, e);
      }
      fs.delete(TabletFixture.ROOT, true);
    }
  }

  @Test
  void aReadPointFromBeforeTheMergeIsNotReadAnyMore() throws Exception {
    TreeMap<String, String> plain = new TreeMap<>();
    TabletSpec low = side(new TestManifest(TabletSpec.empty(id(1), 1, LOW, SCHEMA)), "a", 1, plain);
    TestManifest other = new TestManifest(TabletSpec.empty(id(2), 1, HIGH, SCHEMA));
    TabletSpec high;
    try (Tablet tablet = open(other)) {
      write(tablet, "z", 400, 2, plain);
      tablet.pauseWrites().join();
      tablet.minorCompact();
      high = tablet.describe();
    }
    try (Tablet tablet = open(new TestManifest(merged(low, high)))) {
      ReadRequest stale = ReadRequest.of(RowQuery.ALL).at(low.redoPoint());
      assertThat(low.redoPoint()).isLessThan(high.redoPoint());
      assertThat(tablet.read(stale).readPoint()).isEqualTo(high.redoPoint());
      assertThat(read(tablet)).isEqualTo(plain);
    }
  }

  @Test
  void filesOfOneRowMayNotHaveTheSameSequenceNumbers() {
    FileRef one = FileRef.builder("a", 1, LOW).sequences(1, 5).families(List.of("f")).build();
    FileRef neighbour =
        FileRef.builder("b", 1, HIGH).sequences(3, 9).families(List.of("f")).build();
    FileRef across =
        FileRef.builder("c", 1, RowRange.of("l", "n"))
            .sequences(5, 5)
            .families(List.of("f"))
            .build();
    assertThat(one.overlaps(neighbour)).isFalse();
    assertThat(one.overlaps(across)).isTrue();
    assertThat(neighbour.overlaps(across)).isTrue();
  }
}
