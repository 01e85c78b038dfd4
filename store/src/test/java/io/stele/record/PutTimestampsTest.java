package io.stele.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import java.util.List;
import org.junit.jupiter.api.Test;

class PutTimestampsTest {
  private static PutTimestamps.Pinned pinned(String start, String end, long micros) {
    return new PutTimestamps.Pinned(RowRange.of(start, end), micros);
  }

  @Test
  void aRowHasTheTimestampOfItsPinAndOthersTheOneTime() {
    PutTimestamps timestamps =
        PutTimestamps.always(7).with(List.of(pinned("c", "f", 5), pinned("k", "", 20)));
    assertThat(timestamps.at(Bytes.of("b"))).isEqualTo(7);
    assertThat(timestamps.at(Bytes.of("c"))).isEqualTo(5);
    assertThat(timestamps.at(Bytes.of("ez"))).isEqualTo(5);
    assertThat(timestamps.at(Bytes.of("f"))).isEqualTo(7);
    assertThat(timestamps.at(Bytes.of("zz"))).isEqualTo(20);
    assertThat(timestamps.elsewhere()).isEqualTo(7);
  }

  @Test
  void aRowOfSeveralInputsHasTheTimestampOfTheLatestPin() {
    PutTimestamps timestamps =
        PutTimestamps.always(1)
            .with(List.of(pinned("", "m", 10), pinned("m", "", 30)))
            .with(List.of(pinned("d", "x", 20)));
    assertThat(timestamps.at(Bytes.of("a"))).isEqualTo(10);
    assertThat(timestamps.at(Bytes.of("e"))).isEqualTo(20);
    assertThat(timestamps.at(Bytes.of("n"))).isEqualTo(30);
    assertThat(timestamps.at(Bytes.of("y"))).isEqualTo(30);
  }
}
