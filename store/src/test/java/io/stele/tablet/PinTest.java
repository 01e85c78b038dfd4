package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.ColumnFamily;
import io.stele.model.CorruptionException;
import io.stele.model.GcPolicy;
import io.stele.model.LocalityGroup;
import io.stele.model.Mutation;
import io.stele.model.ReadModifyWrite;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.record.FileRef;
import io.stele.record.Pin;
import io.stele.record.PinnedTablet;
import io.stele.sstable.NoBlockCache;
import io.stele.sstable.OpenSSTables;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** What the random runs of {@link TabletModelTest} do not do: policies that change, and races. */
class PinTest {
  private static final String JOB = "job";

  private static TableSchema schema(GcPolicy policy) {
    return TableSchema.of("t", List.of(new ColumnFamily("f", policy), ColumnFamily.of("g")));
  }

  private static List<String> pinned(TabletFixture fixture) throws IOException {
    return fixture.tablet.read(ReadRequest.of(RowQuery.ALL).atPin(JOB)).rows().stream()
        .map(TabletFixture::text)
        .toList();
  }

  private static void alter(TabletFixture fixture, TableSchema schema) {
    fixture.tablet.alter(schema);
    fixture.manifest.alter(schema);
  }

  @Test
  void whatIsDeletedOverwrittenAndCompactedAfterThePinIsStillReadAtIt() throws IOException {
    TabletFixture fixture = new TabletFixture(schema(GcPolicy.maxVersions(1)));
    fixture.put("a", "f", "q", 1, "old");
    fixture.put("b", "g", "q", 1, "old");
    fixture.tablet.pin(JOB);
    List<String> before = fixture.rows();
    fixture.put("a", "f", "q", 2, "new");
    fixture.apply(Mutation.of("b").deleteRow()).join();
    fixture.put("c", "f", "q", 1, "new");
    fixture.tablet.minorCompact();
    fixture.tablet.majorCompact();
    assertThat(pinned(fixture)).isEqualTo(before).hasSize(2);
    assertThat(fixture.rows()).hasSize(2).isNotEqualTo(before);

    fixture.reopen(List.of());
    fixture.tablet.majorCompact();
    assertThat(pinned(fixture)).isEqualTo(before);

    assertThat(fixture.tablet.unpin(JOB)).isTrue();
    fixture.tablet.majorCompact();
    assertThat(fixture.tablet.statistics().files()).isEqualTo(1);
    assertThatThrownBy(() -> pinned(fixture)).hasMessageContaining("no pin job");
  }

  @Test
  void neitherAStricterPolicyNorADroppedFamilyNorTimeChangesWhatIsReadAtAPin() throws IOException {
    TabletFixture fixture = new TabletFixture(schema(new GcPolicy.MaxAge(Duration.ofSeconds(1))));
    fixture.put("a", "f", "q", fixture.nowMicros, "1");
    fixture.put("a", "f", "q", fixture.nowMicros + 1, "2");
    fixture.put("a", "g", "q", 1, "3");
    fixture.tablet.pin(JOB);
    List<String> before = fixture.rows();

    fixture.nowMicros += 10_000_000;
    fixture.tablet.majorCompact();
    assertThat(pinned(fixture)).isEqualTo(before);
    assertThat(fixture.rows()).isNotEqualTo(before);

    alter(fixture, schema(GcPolicy.maxVersions(1)));
    fixture.tablet.majorCompact();
    alter(fixture, TableSchema.of("t", List.of(ColumnFamily.of("f"))));
    fixture.tablet.majorCompact();
    fixture.reopen(List.of());
    fixture.tablet.mergingCompact();
    assertThat(pinned(fixture)).isEqualTo(before);
  }

  @Test
  void aReadAtAPinReadsNoFileThatIsNewer() throws IOException {
    TabletFixture fixture = new TabletFixture(schema(GcPolicy.keepAll()));
    fixture.put("a", "f", "q", 1, "old");
    fixture.tablet.pin(JOB);
    fixture.put("a", "f", "q", 2, "new");
    fixture.tablet.minorCompact();
    FileRef newer =
        fixture.manifest.record().files().stream()
            .max(Comparator.comparingLong(FileRef::maxSequence))
            .orElseThrow();
    Path path = new Path(TabletFixture.ROOT, newer.path());
    fixture.fs.disk().flipBits(path, 30, 1); // In its first data block.
    fixture.reopen(List.of());
    assertThat(pinned(fixture)).containsExactly("a f:q@1=old");
    assertThatThrownBy(fixture::rows).isInstanceOf(CorruptionException.class);
  }

  @Test
  void thePinHasATimestampBetweenThoseOfWhatWasWrittenBeforeAndAfter() throws IOException {
    TabletFixture fixture = new TabletFixture(schema(GcPolicy.keepAll()));
    fixture.nowMicros = 5_000_000;
    fixture.apply(Mutation.of("a").put("f", "q", "before")).join();
    fixture.nowMicros = 4_000_000; // Its clock is set back.
    Pin pin = fixture.tablet.pin(JOB);
    assertThat(fixture.tablet.pin(JOB)).as("pinned again").isEqualTo(pin);
    fixture.apply(Mutation.of("b").put("f", "q", "after")).join();
    assertThat(timestamp(fixture, "a")).isLessThan(pin.timestampMicros());
    assertThat(timestamp(fixture, "b")).isGreaterThan(pin.timestampMicros());

    fixture.tablet.minorCompact();
    fixture.reopen(List.of()); // On another host, perhaps.
    fixture.nowMicros = 3_000_000;
    fixture.apply(Mutation.of("c").put("f", "q", "later")).join();
    assertThat(timestamp(fixture, "c")).isGreaterThan(pin.timestampMicros());
  }

  @Test
  void aTabletThatLosesItsMemoryRightAfterAPinStillWritesAboveItsTimestamp() throws IOException {
    TabletFixture fixture = new TabletFixture(schema(GcPolicy.keepAll()));
    fixture.nowMicros = 5_000_000;
    Pin pin = fixture.tablet.pin(JOB);
    fixture.nowMicros = 3_000_000;
    fixture.reopen(List.of());
    fixture.apply(Mutation.of("a").put("f", "q", "later")).join();
    assertThat(timestamp(fixture, "a")).isGreaterThan(pin.timestampMicros());
  }

  /** Its value has a timestamp from before the pin, which the pin does not see. */
  @Test
  void anIncrementThatBeganBeforeAPinIsNotWrittenAfterIt() throws Exception {
    TabletFixture fixture = new TabletFixture(schema(GcPolicy.keepAll()));
    Pin[] pin = new Pin[1];
    fixture.onTime =
        () -> {
          fixture.onTime = () -> {};
          try {
            pin[0] = fixture.tablet.pin(JOB);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        };
    CompletableFuture<OperationResult> outcome =
        fixture.apply(ReadModifyWrite.increment("a", "f", "n", 1));
    assertThatThrownBy(outcome::join).hasMessageContaining("was pinned");
    fixture.apply(ReadModifyWrite.increment("a", "f", "n", 1)).join();
    assertThat(timestamp(fixture, "a")).isGreaterThan(pin[0].timestampMicros());
  }

  private static long timestamp(TabletFixture fixture, String row) throws IOException {
    return fixture
        .tablet
        .read(ReadRequest.of(RowQuery.row(row)))
        .rows()
        .get(0)
        .cells()
        .get(0)
        .timestampMicros();
  }

  /** A served read does not count it either: the client adds up families, qualifiers and values. */
  @Test
  void theKeyOfARowDoesNotCountWithEachCellOfADirectRead() throws IOException {
    TabletFixture fixture = new TabletFixture(schema(GcPolicy.keepAll()));
    String row = "r".repeat(10_000);
    for (int i = 0; i < 20; i++) {
      fixture.put(row, "f", "q" + i, 1, "v");
    }
    fixture.tablet.pin(JOB);
    TabletSpec record = fixture.manifest.record();
    PinnedTablet tablet =
        PinnedTablet.of(record.id(), record.extent(), record.pins().get(0), record.files());
    OpenSSTables sstables = new OpenSSTables(fixture.runtime(), fixture.fs, NoBlockCache.INSTANCE);
    try (PinnedFiles files =
        PinnedFiles.open(sstables, TabletFixture.ROOT, tablet, RowQuery.ALL, 100_000, 1 << 20)) {
      assertThat(files.next(() -> {}).orElseThrow().cells()).hasSize(20);
    }
  }

  @Test
  void garbageBelowTheOldestPinIsCollected() throws IOException {
    TabletFixture fixture = new TabletFixture(schema(GcPolicy.maxVersions(1)));
    for (int i = 0; i < 3; i++) {
      fixture.put("a", "f", "q", i, "v" + i);
      fixture.tablet.minorCompact();
    }
    fixture.tablet.pin(JOB);
    for (int i = 3; i < 6; i++) {
      fixture.put("a", "f", "q", i, "v" + i);
      fixture.tablet.minorCompact();
    }
    assertThat(fixture.tablet.statistics().files()).isEqualTo(6);
    assertThat(fixture.tablet.collectGarbage(Duration.ZERO)).isTrue();
    assertThat(fixture.tablet.statistics().files()).isEqualTo(4);
    fixture.tablet.majorCompact();
    assertThat(fixture.tablet.statistics().files()).isEqualTo(2);
    assertThat(pinned(fixture)).containsExactly("a f:q@2=v2");
    assertThat(fixture.rows()).containsExactly("a f:q@5=v5");
  }

  @Test
  void familiesThatMoveToOtherGroupsAreRewrittenOnBothSidesOfAPinAndThenLeftAlone()
      throws IOException {
    TabletFixture fixture = new TabletFixture(schema(GcPolicy.maxVersions(1)));
    for (int i = 0; i < 2; i++) {
      fixture.apply(Mutation.of("a" + i).put("f", "q", "v").put("g", "q", "v")).join();
      fixture.tablet.minorCompact();
      fixture.tablet.pin(JOB);
    }
    alter(
        fixture,
        TableSchema.of(
            "t",
            List.of(ColumnFamily.of("f"), ColumnFamily.of("g").in("other")),
            LocalityGroup.of("other")));
    int merged = 0;
    while (fixture.tablet.wantsMergingCompaction() && merged < 10) {
      assertThat(fixture.tablet.mergingCompact()).isTrue();
      merged++;
    }
    assertThat(merged).isEqualTo(2);
    assertThat(fixture.tablet.statistics().files()).isEqualTo(4);
    assertThat(pinned(fixture)).hasSize(1);
    assertThat(fixture.rows()).hasSize(2);
  }

  @Test
  void aCompactionUnderWayThatDropsWhatANewPinNeedsIsVoid() throws IOException {
    TabletFixture fixture = new TabletFixture(schema(GcPolicy.maxVersions(1)));
    String large = "x".repeat(100_000);
    for (int i = 0; i < 6; i++) {
      fixture.put("a" + i, "f", "q", 1, large);
      fixture.put("a" + i, "f", "q", 2, large);
      fixture.tablet.minorCompact();
    }
    TableSchema two = schema(GcPolicy.maxVersions(2));
    // Seen under the policy of two versions before the compaction under that of one commits.
    boolean[] done = {false};
    fixture.pace =
        bytes -> {
          if (!done[0]) {
            done[0] = true;
            alter(fixture, two);
            fixture.tablet.pin(JOB);
          }
        };
    fixture.reopen(List.of());
    assertThatThrownBy(fixture.tablet::majorCompact)
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER))
        .hasMessageContaining("pinned during");
    assertThat(fixture.tablet.failure()).isEmpty();
    fixture.tablet.majorCompact();
    assertThat(pinned(fixture)).hasSize(6);
  }

  @Test
  void aPinThatMayHaveBeenMadeStopsTheTabletAndOneThatWasNotDoesNot() throws IOException {
    TabletFixture fixture = new TabletFixture(schema(GcPolicy.maxVersions(1)));
    fixture.put("a", "f", "q", 1, "old");
    fixture.tablet.minorCompact();
    fixture.manifest.next(TestManifest.Mood.FAILS);
    assertThatThrownBy(() -> fixture.tablet.pin(JOB)).isInstanceOf(IOException.class);
    assertThat(fixture.tablet.pins()).isEmpty();
    Pin pin = fixture.tablet.pin(JOB);
    assertThat(fixture.manifest.record().pins()).containsExactly(pin);

    fixture.manifest.next(TestManifest.Mood.UNKNOWN_DONE);
    assertThatThrownBy(() -> fixture.tablet.unpin(JOB)).isInstanceOf(SteleException.class);
    assertThat(fixture.tablet.failure()).isPresent();
    fixture.reopen(List.of());
    assertThat(fixture.tablet.pins()).isEmpty();
    assertThat(fixture.tablet.unpin(JOB)).isFalse();
  }
}
