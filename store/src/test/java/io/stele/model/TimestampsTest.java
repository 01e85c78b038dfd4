package io.stele.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class TimestampsTest {
  private static final Instant TIME = Instant.parse("2026-01-02T03:04:05.123456Z");
  private static final long MICROS = 1_767_323_045_123_456L;

  @Test
  void aTimeIsATimestampAndBack() {
    assertThat(Timestamps.micros(TIME)).isEqualTo(MICROS);
    assertThat(Timestamps.micros(TIME.plusNanos(999))).as("cut").isEqualTo(MICROS);
    assertThat(Timestamps.time(MICROS)).isEqualTo(TIME);
    assertThat(Timestamps.micros(Instant.EPOCH)).isZero();
    assertThat(Timestamps.micros(Timestamps.time(Long.MAX_VALUE))).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void aTimeThatNoTimestampCanBeIsRefused() {
    for (Instant time : new Instant[] {Instant.EPOCH.minusNanos(1), Instant.MIN, Instant.MAX}) {
      assertThatThrownBy(() -> Timestamps.micros(time))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
          .hasMessageContaining(time.toString());
    }
  }

  @Test
  void peopleWriteATimeOrMicrosecondsButNotMilliseconds() {
    assertThat(Timestamps.parse(TIME.toString())).isEqualTo(MICROS);
    assertThat(Timestamps.parse(Long.toString(MICROS))).isEqualTo(MICROS);
    assertThat(Timestamps.parse("1970-01-01T00:00:01Z")).isEqualTo(1_000_000);
    for (String wrong : List.of("1767323045123", "-1", "99999999999999999999", "today", "")) {
      assertThatThrownBy(() -> Timestamps.parse(wrong)).isInstanceOf(SteleException.class);
    }
    assertThatThrownBy(() -> Timestamps.parse("1767323045123"))
        .hasMessageContaining("not in milliseconds");
  }

  @Test
  void mutationsRangesAndCellsTakeTimes() {
    Bytes row = Bytes.of("r");
    Mutation built = Mutation.builder(row).put("f", "q", TIME, "v").build();
    assertThat(built).isEqualTo(Mutation.of(row).put("f", "q", TIME, "v"));
    assertThat(built.edits())
        .containsExactly(new Edit.Put("f", Bytes.of("q"), MICROS, Bytes.of("v")));
    assertThat(TimeRange.of(TIME, TIME.plusSeconds(1)))
        .isEqualTo(new TimeRange(MICROS, MICROS + 1_000_000));
    assertThat(TimeRange.since(TIME)).isEqualTo(new TimeRange(MICROS, Long.MAX_VALUE));
    assertThat(new Cell("f", Bytes.EMPTY, MICROS, Bytes.EMPTY).time()).isEqualTo(TIME);
  }
}
