package io.stele.examples.earth;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import org.junit.jupiter.api.Test;

class SegmentTest {
  @Test
  void aKeyHasADigitForEachQuarter() {
    assertThat(Segment.of(89, -179, 3).key()).isEqualTo(Bytes.of("000"));
    assertThat(Segment.of(-89, 179, 3).key()).isEqualTo(Bytes.of("333"));
    assertThat(Segment.of(1, 1, 2).key()).isEqualTo(Bytes.of("12"));
    assertThat(Segment.of(-1, -1, 2).key()).isEqualTo(Bytes.of("21"));
  }

  @Test
  void theEdgesOfTheMapAreOnIt() {
    assertThat(Segment.of(-90, 180, 4)).isEqualTo(new Segment(4, 15, 15));
    assertThat(Segment.of(90, -180, 4)).isEqualTo(new Segment(4, 0, 0));
  }

  @Test
  void aKeyIsParsed() {
    for (int x = 0; x < 8; x++) {
      for (int y = 0; y < 8; y++) {
        Segment segment = new Segment(3, x, y);
        assertThat(Segment.of(segment.key())).isEqualTo(segment);
      }
    }
  }
}
