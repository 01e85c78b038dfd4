package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.memtable.CountingAccount;
import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.record.FileRef;
import io.stele.runtime.MemoryRoom;
import io.stele.runtime.ServerClock;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableFileSystem;
import io.stele.sstable.NoBlockCache;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
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
            NoBlockCache.INSTANCE,
            new CountingAccount(),
            OperationBudget.unlimited(),
            new ManualLog(),
            manifest,
            CompactionPace.UNLIMITED,
            TabletOptions.DEFAULT,
            MemoryRoom.unlimited()),
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
    List<FileRef> files = new ArrayList<>(low.files());
    files.addAll(high.files());
    return new TabletSpec(
        id(3),
        Math.max(low.epoch(), high.epoch()) + 1,
        new RowRange(low.extent().start(), high.extent().end()),
        low.schema(),
        files,
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

  @Test
  void filesOfOneRowMayNotHaveTheSameSequenceNumbers() {
    FileRef one = new FileRef("a", 1, LOW, 1, 5, new TreeSet<>(List.of("f")), 0);
    FileRef neighbour = new FileRef("b", 1, HIGH, 3, 9, new TreeSet<>(List.of("f")), 0);
    FileRef across =
        new FileRef("c", 1, RowRange.of("l", "n"), 5, 5, new TreeSet<>(List.of("f")), 0);
    assertThat(one.overlaps(neighbour)).isFalse();
    assertThat(one.overlaps(across)).isTrue();
    assertThat(neighbour.overlaps(across)).isTrue();
  }
}
