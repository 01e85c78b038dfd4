package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.ReadModifyWrite;
import io.stele.model.TableSchema;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a tablet does when its server's clock is wrong, or it moves to one with another clock. */
class TabletTimeTest {
  private static final long HOUR = TimeUnit.HOURS.toMicros(1);
  private static final OperationId ID = new OperationId(1, 2, 1);

  @Test
  void aClockThatWasFarAheadOnceDoesNotAgeWhatCameBefore() throws Exception {
    TabletFixture fixture = new TabletFixture(aged());
    put(fixture, "before");
    fixture.nowMicros += 24 * HOUR;
    put(fixture, "meanwhile");
    fixture.nowMicros -= 24 * HOUR - 1000;
    put(fixture, "after");
    fixture.tablet.minorCompact();
    fixture.reopen(List.of());
    fixture.tablet.majorCompact();
    assertThat(fixture.rows())
        .extracting(row -> row.substring(0, row.indexOf(' ')))
        .containsExactly("after", "before", "meanwhile");
  }

  @Test
  void nothingIsDroppedForItsAgeWhileTheClockIsNotTrusted() throws Exception {
    TabletFixture fixture = new TabletFixture(aged());
    put(fixture, "before");
    fixture.nowMicros += 24 * HOUR;
    fixture.trusted = false;
    fixture.tablet.minorCompact();
    fixture.tablet.majorCompact();
    assertThat(fixture.tablet.wantsToCollectGarbage(Duration.ZERO)).isFalse();
    fixture.nowMicros -= 24 * HOUR;
    assertThat(fixture.rows()).hasSize(1);
    fixture.nowMicros += 24 * HOUR;
    fixture.trusted = true;
    assertThat(fixture.rows()).isEmpty();
    assertThat(fixture.tablet.wantsToCollectGarbage(Duration.ofHours(1))).isTrue();
    fixture.tablet.majorCompact();
    fixture.nowMicros -= 24 * HOUR;
    assertThat(fixture.rows()).isEmpty();
  }

  @Test
  void aResultTooLargeToBeRememberedIsNotAndTheOperationIsNotAppliedAgain() throws Exception {
    TabletFixture fixture = new TabletFixture(TableSchema.of("t", "f"));
    Bytes large = Bytes.of(new byte[OperationResults.BYTES_MAX]);
    OperationRequest append =
        OperationRequest.of(
            ReadModifyWrite.append(Bytes.of("r"), "f", Bytes.of("q"), large), ID, 1);
    assertThat(fixture.tablet.apply(append).join().row()).isPresent();
    assertThat(fixture.operations.bytes()).isLessThan(1000);
    assertThat(fixture.tablet.apply(append).join()).isEqualTo(OperationResult.APPLIED);
    assertThat(fixture.rows().get(0)).hasSizeLessThan(5 * OperationResults.BYTES_MAX);
  }

  @Test
  void aRetryIsNotAppliedTwiceWhateverTheClocksOfTheServersBetween() throws Exception {
    TabletFixture fixture = new TabletFixture(TableSchema.of("t", "f"));
    increment(fixture);
    fixture.tablet.minorCompact();
    fixture.nowMicros += 1000 * HOUR;
    fixture.reopen(List.of());
    put(fixture, "other");
    fixture.tablet.minorCompact();
    fixture.tablet.majorCompact();
    fixture.nowMicros -= 1000 * HOUR;
    fixture.reopen(List.of());
    assertThat(increment(fixture)).isEqualTo(1);
  }

  private static TableSchema aged() {
    return TableSchema.of(
        "t", List.of(new ColumnFamily("f", GcPolicy.maxAge(Duration.ofHours(1)))));
  }

  private static void put(TabletFixture fixture, String row) {
    fixture.apply(Mutation.of(row).put("f", "q", "v")).join();
  }

  /** Counts under one id; what the counter is then. */
  private static long increment(TabletFixture fixture) {
    return fixture
        .tablet
        .apply(
            OperationRequest.of(
                ReadModifyWrite.increment(Bytes.of("n"), "f", Bytes.of("q"), 1), ID, 1))
        .join()
        .row()
        .orElseThrow()
        .cells()
        .get(0)
        .value()
        .toLong();
  }
}
