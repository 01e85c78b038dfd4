package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.CorruptionException;
import io.stele.model.Edit;
import io.stele.model.GcPolicy;
import io.stele.model.Mutation;
import io.stele.model.RowQuery;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * A policy comes to count more versions than one that has pushed out some and kept them for their
 * age: these count again, whether or not they were compacted meanwhile.
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
    fixture.tablet.alter(schema);
    fixture.manifest.alter(schema);
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
  void aBlockIsReadAsItWasWritten() throws Exception {
    Bytes block = SurplusCounts.encode(Map.of("f", 3, "g", 1));
    SurplusCounts counts = SurplusCounts.of(Optional.of(block), "file");
    assertThat(counts.fewerThan(new SchemaRules(young(4)))).containsExactly("f");
    assertThat(counts.fewerThan(new SchemaRules(young(3)))).isEmpty();
    Optional<Bytes> cut = Optional.of(block.slice(0, block.length() - 1));
    assertThatThrownBy(() -> SurplusCounts.of(cut, "file"))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining("surplus");
  }
}
