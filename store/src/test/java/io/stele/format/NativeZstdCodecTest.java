package io.stele.format;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.config.MemoryPlan;
import org.junit.jupiter.api.Test;

class NativeZstdCodecTest {
  @Test
  void aCompressionTakesNoMoreOutsideTheHeapThanIsPlannedForIt() {
    assertThat((long) NativeZstdCodec.DIRECT_BYTES).isLessThanOrEqualTo(MemoryPlan.CODEC_BYTES);
  }
}
