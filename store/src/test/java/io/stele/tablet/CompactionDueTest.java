package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.format.CellType;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.CorruptionException;
import io.stele.model.Edit;
import io.stele.model.GcPolicy;
import io.stele.model.Mutation;
import io.stele.model.TableSchema;
import io.stele.model.TimeRange;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a tablet rewrites when nothing is written to it, and how much it reads at once. */
class CompactionDueTest {
  private static final long DAY = TimeUnit.DAYS.toMicros(1);
  private static final Duration INTERVAL = Duration.ofDays(1);
  private static final GcPolicy MONTH = GcPolicy.maxAge(Duration.ofDays(30));

  private static TabletFixture fixture(GcPolicy f, GcPolicy g) throws IOException {
    TabletFixture fixture =
        new TabletFixture(
            TableSchema.of("t", List.of(new ColumnFamily("f", f), new ColumnFamily("g", g))));
    fixture.nowMicros = 1000 * DAY;
    return fixture;
  }

  /** On which of eight days after a major compaction the tablet is rewritten. */
  private static List<Integer> daysDue(TabletFixture fixture) throws IOException {
    fixture.tablet.minorCompact();
    fixture.tablet.majorCompact();
    List<Integer> due = new ArrayList<>();
    for (int day = 1; day <= 8; day++) {
      fixture.nowMicros += DAY;
      if (fixture.tablet.collectGarbage(INTERVAL)) {
        due.add(day);
      }
    }
    return due;
  }

  @Test
  void aVersionThatIsOldAndTheNewestIsNoGarbage() throws IOException {
    TabletFixture fixture =
        fixture(
            new GcPolicy.Intersection(List.of(GcPolicy.maxVersions(1), MONTH)), GcPolicy.keepAll());
    fixture.put("a", "f", "q", DAY, "old");
    assertThat(daysDue(fixture)).containsExactly(7);
    assertThat(fixture.rows()).hasSize(1);
  }

  @Test
  void aVersionThatWasPushedOutGoesWhenItIsOld() throws IOException {
    TabletFixture fixture =
        fixture(
            new GcPolicy.Intersection(List.of(GcPolicy.maxVersions(1), MONTH)), GcPolicy.keepAll());
    fixture.put("a", "f", "q", fixture.nowMicros - 27 * DAY, "old");
    fixture.put("a", "f", "q", fixture.nowMicros, "new");
    assertThat(daysDue(fixture)).startsWith(4);
    assertThat(fixture.rows()).hasSize(1);
    assertThat(fixture.rows().get(0)).endsWith("=new").doesNotContain("=old");
  }

  @Test
  void anotherFamilysOldCellsAreNoGarbage() throws IOException {
    TabletFixture fixture = fixture(GcPolicy.keepAll(), MONTH);
    fixture.put("a", "f", "q", DAY, "old");
    fixture.put("a", "g", "q", fixture.nowMicros, "new");
    assertThat(daysDue(fixture)).containsExactly(7);
  }

  @Test
  void aFewNewBytesDoNotHaveManyOldOnesRewrittenEachDay() throws IOException {
    TabletFixture fixture = fixture(GcPolicy.maxVersions(1), MONTH);
    for (int i = 0; i < 100; i++) {
      fixture.put("row" + i, "f", "q", DAY, "x".repeat(1000));
    }
    fixture.tablet.minorCompact();
    fixture.tablet.majorCompact();
    fixture.nowMicros += DAY;
    fixture.put("row1", "f", "q", 2 * DAY, "y");
    fixture.tablet.minorCompact();
    assertThat(fixture.tablet.wantsToCollectGarbage(INTERVAL)).isFalse();
    for (int i = 0; i < 50; i++) {
      fixture.put("row" + i, "f", "q", 3 * DAY, "z".repeat(1000));
    }
    fixture.tablet.minorCompact();
    assertThat(fixture.tablet.wantsToCollectGarbage(INTERVAL)).isTrue();
  }

  @Test
  void manyFilesAreRewrittenInPartsAndBecomeOne() throws IOException {
    TabletFixture fixture = fixture(GcPolicy.keepAll(), GcPolicy.keepAll());
    int files = 100;
    for (int i = 0; i < files; i++) {
      fixture.put("row" + i % 10, "f", "q" + i, DAY, "v");
      fixture.tablet.minorCompact();
    }
    List<String> rows = fixture.rows();
    List<Integer> counts = new ArrayList<>(List.of(files));
    fixture.manifest.beforeAnswer(() -> counts.add(fixture.manifest.record().files().size()));
    fixture.tablet.majorCompact();
    assertThat(counts).endsWith(1);
    for (int i = 1; i < counts.size(); i++) {
      assertThat(counts.get(i - 1) - counts.get(i)).isBetween(1, 31);
    }
    assertThat(fixture.rows()).isEqualTo(rows);
  }

  /** Trimming what is old, again and again, leaves no trace of the times before. */
  @Test
  void aDeleteOfAllBelowATimestampReplacesThoseOfLess() throws IOException {
    TabletFixture fixture = fixture(GcPolicy.maxVersions(3), GcPolicy.keepAll());
    fixture.put("a", "f", "q", 1, "first");
    fixture.tablet.minorCompact();
    for (int i = 100; i < 1000; i++) {
      fixture.put("a", "f", "q", i, "v");
      Edit trim = new Edit.DeleteColumn("f", Bytes.of("q"), new TimeRange(0, i - 50));
      fixture.apply(Mutation.of("a").with(trim)).join();
    }
    List<String> rows = fixture.rows();
    fixture.tablet.minorCompact();
    assertThat(fixture.rows()).isEqualTo(rows);
    TabletFile newest =
        TabletFile.open(
            fixture.environment(),
            fixture.manifest.record().files().get(1),
            new SchemaRules(fixture.manifest.record().schema()));
    try {
      assertThat(newest.table().properties().tombstones()).isEqualTo(1);
    } finally {
      newest.release();
    }
  }

  @Test
  void aBlockIsReadAsItWasWritten() throws Exception {
    Map<String, OldestVersions.Finder> found = new TreeMap<>();
    found.put("f", new OldestVersions.Finder());
    found.get("f").add(CellType.PUT, 2 * DAY);
    found.get("f").add(CellType.PUT, 3 * DAY);
    found.get("f").add(CellType.DELETE_CELL, 1);
    found.put("g", new OldestVersions.Finder());
    Bytes block = OldestVersions.encode(found);
    SchemaRules rules =
        new SchemaRules(
            TableSchema.of(
                "t", List.of(new ColumnFamily("f", MONTH), new ColumnFamily("g", MONTH))));
    OldestVersions oldest = OldestVersions.decode(block, "file");
    assertThat(oldest.hasGarbage(rules, 32 * DAY)).isFalse();
    assertThat(oldest.hasGarbage(rules, 32 * DAY + 1)).isTrue();
    assertThatThrownBy(() -> OldestVersions.decode(block.slice(0, block.length() - 1), "the file"))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining("the file");
  }
}
