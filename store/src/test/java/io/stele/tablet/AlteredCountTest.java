package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.log.LogRecord;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.CorruptionException;
import io.stele.model.Edit;
import io.stele.model.GcPolicy;
import io.stele.model.LocalityGroup;
import io.stele.model.Mutation;
import io.stele.model.RowQuery;
import io.stele.model.TableSchema;
import io.stele.record.FileRef;
import io.stele.record.FormerCount;
import io.stele.record.LoweredCounts;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * A policy comes to count more versions than one that has pushed out some and kept them for their
 * age: these count again, whether or not they were compacted meanwhile. Or it comes to count fewer:
 * for what happened before, as many count as then.
 */
class AlteredCountTest {
  private static final Duration AGE = Duration.ofNanos(10_000);

  private final TabletFixture fixture;

  AlteredCountTest() throws IOException {
    fixture = new TabletFixture(young(1));
  }

  private static TableSchema schema(GcPolicy policy) {
    return TableSchema.of("t", List.of(new ColumnFamily("f", policy)));
  }

  /** What is not among the newest goes when it is older than {@link #AGE}. */
  private static TableSchema young(int versions) {
    return schema(
        new GcPolicy.Intersection(List.of(GcPolicy.maxVersions(versions), GcPolicy.maxAge(AGE))));
  }

  private void alter(TableSchema schema) {
    fixture.manifest.alter(schema);
    fixture.tablet.alter(schema, fixture.manifest.record().lowered());
  }

  private void alterOnce(TableSchema schema) {
    if (!fixture.tablet.schema().equals(schema)) {
      alter(schema);
    }
  }

  private void put(int... timestamps) {
    for (int timestamp : timestamps) {
      fixture.put("a", "f", "q", 1_000_000 + timestamp, "v");
    }
  }

  private List<Long> timestamps() throws IOException {
    return fixture.tablet.read(ReadRequest.of(RowQuery.ALL)).rows().stream()
        .flatMap(row -> row.cells().stream())
        .map(cell -> cell.timestampMicros() - 1_000_000)
        .toList();
  }

  @Test
  void versionsThatWereVisibleStayWhenACountAloneDecides() throws IOException {
    for (boolean compacted : List.of(false, true)) {
      alter(young(1));
      put(1, 2, 3);
      if (compacted) {
        fixture.tablet.minorCompact();
        fixture.tablet.majorCompact();
      }
      assertThat(timestamps()).containsExactly(3L, 2L, 1L);
      alter(schema(GcPolicy.maxVersions(2)));
      assertThat(timestamps()).as("compacted: %s", compacted).containsExactly(3L, 2L);
    }
    fixture.tablet.majorCompact();
    assertThat(timestamps()).containsExactly(3L, 2L);
    fixture.reopen(List.of());
    assertThat(timestamps()).containsExactly(3L, 2L);
  }

  @Test
  void theyStayWhenTheyAreOldToo() throws IOException {
    put(1, 2, 3);
    fixture.tablet.minorCompact();
    alter(young(2));
    fixture.nowMicros += 1000;
    assertThat(timestamps()).containsExactly(3L, 2L);
    fixture.tablet.majorCompact();
    assertThat(timestamps()).containsExactly(3L, 2L);
  }

  @Test
  void whatWasPushedOutStaysSoWhileNoMoreVersionsCount() throws IOException {
    alter(young(2));
    put(1, 2, 3);
    fixture.tablet.minorCompact();
    fixture.apply(Mutation.of("a").with(new Edit.DeleteCell("f", Bytes.of("q"), 1_000_003))).join();
    fixture.tablet.minorCompact();
    fixture.tablet.majorCompact();
    assertThat(timestamps()).containsExactly(2L, 1L);
    alter(schema(GcPolicy.maxVersions(2)));
    assertThat(timestamps()).as("1 was pushed out by 2 and 3").containsExactly(2L);
  }

  @Test
  void whatCountsAgainStaysThoughACompactionHadBegunBefore() throws IOException {
    alter(schema(GcPolicy.maxVersions(1)));
    for (int i = 1; i <= 3; i++) {
      put(i);
      fixture.tablet.minorCompact();
    }
    fixture.put("z", "f", "q", 1, "x".repeat(2_000_000)); // So much that its pace is looked at.
    fixture.tablet.minorCompact();
    fixture.pace = bytes -> alterOnce(schema(GcPolicy.maxVersions(2)));
    fixture.reopen(List.of());
    assertThatThrownBy(fixture.tablet::majorCompact).hasMessageContaining("altered during");
    assertThat(timestamps()).startsWith(3L, 2L).doesNotContain(1L);
    fixture.tablet.majorCompact();
    assertThat(timestamps()).startsWith(3L, 2L).doesNotContain(1L);
    fixture.reopen(List.of());
    assertThat(timestamps()).startsWith(3L, 2L).doesNotContain(1L);
  }

  @Test
  void whatCountsAgainStaysThoughAMinorCompactionHadBegunBefore() throws IOException {
    alter(schema(GcPolicy.maxVersions(1)));
    put(1, 2, 3);
    fixture.onTime = () -> alterOnce(schema(GcPolicy.maxVersions(2)));
    fixture.tablet.minorCompact();
    fixture.onTime = () -> {};
    assertThat(timestamps()).containsExactly(3L, 2L);
    fixture.reopen(List.of());
    assertThat(timestamps()).containsExactly(3L, 2L);
  }

  @Test
  void anAlterationIsCompleteWhenNoCompactionUnderTheOldSchemaIsBeingCommitted()
      throws IOException {
    alter(schema(GcPolicy.maxVersions(1)));
    put(1, 2, 3);
    List<Boolean> losing = new ArrayList<>();
    fixture.manifest.beforeAnswer(
        () -> {
          losing.add(fixture.tablet.mayCommitLoss());
          fixture.tablet.alter(schema(GcPolicy.maxVersions(2)));
          losing.add(fixture.tablet.mayCommitLoss());
        });
    fixture.tablet.minorCompact();
    assertThat(losing).as("under the same schema, and under another").containsExactly(false, true);
    assertThat(fixture.tablet.mayCommitLoss()).as("it is committed").isFalse();
    assertThat(timestamps()).containsExactly(3L);
  }

  private void delete(int timestamp) {
    fixture
        .apply(
            Mutation.of("a").with(new Edit.DeleteCell("f", Bytes.of("q"), 1_000_000 + timestamp)))
        .join();
  }

  /** What was deleted before did not push out anything while more versions counted. */
  @Test
  void aVersionThatWasVisibleStaysWhenFewerCount() throws IOException {
    for (GcPolicy before : List.of(GcPolicy.maxVersions(3), GcPolicy.keepAll())) {
      for (int moment = 0; moment < 4; moment++) {
        TabletFixture own = new TabletFixture(schema(before));
        own.put("a", "f", "q", 1, "old");
        own.put("a", "f", "q", 2, "wrong");
        own.apply(Mutation.of("a").with(new Edit.DeleteCell("f", Bytes.of("q"), 2))).join();
        if (moment == 1) {
          own.tablet.minorCompact();
        }
        List<LogRecord> log = own.log.crash(0);
        own.manifest.alter(schema(GcPolicy.maxVersions(1)));
        if (moment == 2) { // It is loaded under the new schema.
          own.reopen(log);
        } else {
          own.tablet.alter(own.manifest.record().schema(), own.manifest.record().lowered());
        }
        List<String> rows = List.of("a f:q@1=old");
        assertThat(own.rows()).as("before: %s, moment %d", before, moment).isEqualTo(rows);
        own.tablet.minorCompact();
        assertThat(own.rows()).isEqualTo(rows);
        own.put("b", "f", "q", 1, "other");
        own.tablet.minorCompact();
        if (moment == 3) {
          own.reopen(List.of());
        }
        own.tablet.majorCompact();
        assertThat(own.rows()).isEqualTo(List.of("a f:q@1=old", "b f:q@1=other"));
        own.reopen(List.of());
        assertThat(own.rows()).hasSize(2);
      }
    }
  }

  @Test
  void whatPushesOutAfterwardsCountsAsFewAsThen() throws IOException {
    alter(schema(GcPolicy.maxVersions(3)));
    put(1);
    alter(schema(GcPolicy.maxVersions(1)));
    put(2);
    delete(2);
    assertThat(timestamps()).as("1 was pushed out by 2").isEmpty();
    fixture.tablet.minorCompact();
    fixture.reopen(List.of());
    assertThat(timestamps()).isEmpty();
  }

  /** Records of the log say which of them were made after the alteration. */
  @Test
  void whatPushesOutAfterwardsStaysSoIfTheServerCrashes() throws IOException {
    alter(schema(GcPolicy.maxVersions(3)));
    put(1, 5);
    alter(schema(GcPolicy.maxVersions(1)));
    delete(5);
    put(0);
    assertThat(timestamps()).as("1 was pushed out by 5").containsExactly(0L);
    for (int crash = 0; crash < 2; crash++) {
      fixture.reopen(fixture.log.crash(0));
      assertThat(timestamps()).containsExactly(0L);
    }
    fixture.tablet.minorCompact();
    fixture.tablet.majorCompact();
    assertThat(timestamps()).containsExactly(0L);
  }

  /** Then records name an earlier alteration than those before them. */
  @Test
  void soItDoesIfAnotherFamilyCountsMoreAgain() throws IOException {
    TabletFixture own = new TabletFixture(two(3, 3));
    own.put("a", "f", "q", 1, "pushed out");
    own.put("a", "f", "q", 5, "deleted");
    alter(own, two(1, 3));
    alter(own, two(1, 2));
    own.apply(Mutation.of("a").with(new Edit.DeleteCell("f", Bytes.of("q"), 5))).join();
    own.put("a", "f", "q", 0, "v");
    alter(own, two(1, 3));
    own.put("a", "g", "q", 0, "v");
    List<String> rows = List.of("a f:q@0=v g:q@0=v");
    assertThat(own.rows()).isEqualTo(rows);
    own.reopen(own.log.crash(0));
    assertThat(own.rows()).isEqualTo(rows);
  }

  private static TableSchema two(int ofF, int ofG) {
    return TableSchema.of(
        "t",
        List.of(
            new ColumnFamily("f", GcPolicy.maxVersions(ofF)),
            new ColumnFamily("g", GcPolicy.maxVersions(ofG))));
  }

  /** Nothing else says when the alteration was. */
  @Test
  void aCompactionOfNothingStillSaysHowManyCounted() throws IOException {
    TabletFixture own = new TabletFixture(two(3, 3));
    own.put("a", "f", "q", 1, "pushed out");
    own.put("a", "f", "q", 5, "deleted");
    alter(own, two(1, 3));
    own.apply(Mutation.of("a").with(new Edit.DeleteRow())).join();
    own.tablet.minorCompact();
    own.tablet.majorCompact();
    assertThat(own.manifest.record().files()).hasSize(1);
    own.reopen(List.of());
    assertThat(own.tablet.describe().files()).hasSize(1);
    own.tablet.majorCompact();
    assertThat(own.manifest.record().files()).hasSize(1);
    assertThat(own.rows()).isEmpty();
  }

  @Test
  void aPinSeesTheSameAsBefore() throws IOException {
    alter(schema(GcPolicy.maxVersions(2)));
    put(1, 2);
    delete(2);
    alter(schema(GcPolicy.maxVersions(1)));
    fixture.tablet.pin("p");
    fixture.manifest.alter(schema(GcPolicy.maxVersions(5)));
    fixture.reopen(List.of());
    put(3);
    assertThat(fixture.tablet.read(ReadRequest.of(RowQuery.ALL).atPin("p")).rows().get(0).cells())
        .singleElement()
        .matches(cell -> cell.timestampMicros() == 1_000_001);
  }

  @Test
  void whatWasSurplusForFewerCountsAgainForAsManyAsThen() throws IOException {
    for (boolean compacted : List.of(false, true)) {
      TabletFixture own = new TabletFixture(young(2));
      for (int timestamp = 1; timestamp <= 3; timestamp++) {
        own.put("a", "f", "q", own.nowMicros + timestamp, "v");
      }
      own.tablet.minorCompact();
      own.tablet.majorCompact(); // 1 is surplus.
      alter(own, young(3));
      for (int timestamp = 2; timestamp <= 3; timestamp++) {
        Edit delete = new Edit.DeleteCell("f", Bytes.of("q"), own.nowMicros + timestamp);
        own.apply(Mutation.of("a").with(delete)).join();
      }
      own.nowMicros += 1000;
      assertThat(own.rows()).hasSize(1);
      if (compacted) {
        own.tablet.minorCompact();
        own.tablet.majorCompact();
      }
      alter(own, young(1));
      assertThat(own.rows()).as("compacted: %s", compacted).hasSize(1);
      own.tablet.minorCompact();
      own.tablet.majorCompact();
      assertThat(own.rows()).hasSize(1);
    }
  }

  private static void alter(TabletFixture own, TableSchema schema) {
    own.manifest.alter(schema);
    own.tablet.alter(schema, own.manifest.record().lowered());
  }

  @Test
  void aPinSeesTheSameWhenANumberWasHigherForAWhile() throws IOException {
    alter(schema(GcPolicy.maxVersions(1)));
    put(1);
    fixture.tablet.minorCompact();
    put(2);
    delete(2);
    fixture.tablet.pin("p");
    put(5);
    alter(schema(GcPolicy.maxVersions(3)));
    alter(schema(GcPolicy.maxVersions(1)));
    fixture.tablet.minorCompact();
    fixture.tablet.majorCompact();
    assertThat(fixture.tablet.read(ReadRequest.of(RowQuery.ALL).atPin("p")).rows()).isEmpty();
  }

  /** Though nothing was written to its locality group since. */
  @Test
  void whatALowerNumberPushesOutIsRemoved() throws IOException {
    TableSchema two = grouped(5);
    TabletFixture own = new TabletFixture(two);
    for (int i = 1; i <= 5; i++) {
      own.put("a", "f", "q", i, "v");
    }
    own.tablet.minorCompact();
    own.put("a", "g", "q", 1, "v");
    alter(own, grouped(1));
    own.tablet.minorCompact();
    own.tablet.majorCompact();
    SchemaRules rules = new SchemaRules(two);
    long cells = 0;
    for (FileRef ref : own.manifest.record().files()) {
      TabletFile file = TabletFile.open(own.environment(), ref, rules);
      cells += file.table().properties().cells();
      file.release();
    }
    assertThat(cells).isEqualTo(2);
  }

  private static TableSchema grouped(int versions) {
    return TableSchema.of("t", "f")
        .with(LocalityGroup.of("own"))
        .with(new ColumnFamily("f", GcPolicy.maxVersions(versions)))
        .with(new ColumnFamily("g", GcPolicy.maxVersions(1), "own"));
  }

  @Test
  void onlyNumbersAboveThePresentOneAreRemembered() {
    LoweredCounts lowered = LoweredCounts.NONE;
    TableSchema[] schemas = {
      schema(GcPolicy.keepAll()),
      schema(GcPolicy.maxVersions(5)),
      schema(GcPolicy.maxVersions(2)),
      schema(GcPolicy.maxVersions(5)),
      schema(GcPolicy.maxVersions(1))
    };
    for (int i = 1; i < schemas.length; i++) {
      lowered = lowered.altered(schemas[i - 1], schemas[i], i);
    }
    assertThat(lowered.byFamily().get("f"))
        .containsExactly(new LoweredCounts.Lowered(0, 1), new LoweredCounts.Lowered(5, 4));
    assertThat(lowered.latest()).isEqualTo(4);
    assertThat(lowered.altered(schemas[4], schemas[0], 5)).isEqualTo(LoweredCounts.NONE);
    assertThat(lowered.altered(TableSchema.of("t", "g"), schemas[4], 5))
        .as("a family that is new")
        .isEqualTo(LoweredCounts.NONE);
  }

  @Test
  void stepsDescendToThePresentNumber() {
    FormerCount all = new FormerCount(0, 10);
    FormerCount five = new FormerCount(5, 20);
    FormerCount two = new FormerCount(2, 30);
    assertThat(FormerCounts.steps(List.of(all, five, two), 1)).containsExactly(all, five, two);
    assertThat(FormerCounts.steps(List.of(all, five, two), 2)).containsExactly(all, five);
    assertThat(FormerCounts.steps(List.of(five, all, two), 1)).containsExactly(all, two);
    assertThat(FormerCounts.steps(List.of(two, new FormerCount(5, 40)), 1))
        .containsExactly(new FormerCount(5, 40));
    assertThat(FormerCounts.steps(List.of(new FormerCount(5, 40), two), 1))
        .as("as it is when the tablet was opened before it had a file that knows better")
        .containsExactly(new FormerCount(5, 40));
    assertThat(FormerCounts.steps(List.of(all, five), 0)).isEmpty();
  }

  @Test
  void aBlockIsReadAsItWasWritten() throws Exception {
    Bytes block = SurplusCounts.encode(Map.of("f", 3, "g", 1));
    SurplusCounts counts = SurplusCounts.of(Optional.of(block), "file");
    assertThat(counts.fewerThan(new SchemaRules(young(4)), 1)).containsExactly("f");
    assertThat(counts.fewerThan(new SchemaRules(young(3)), 1)).isEmpty();
    Optional<Bytes> cut = Optional.of(block.slice(0, block.length() - 1));
    assertThatThrownBy(() -> SurplusCounts.of(cut, "file"))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining("surplus");
  }
}
