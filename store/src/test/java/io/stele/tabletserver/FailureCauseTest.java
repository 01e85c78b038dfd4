package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import io.stele.model.SteleException;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class FailureCauseTest {
  @Test
  void whatPassesIsNoFaultOfTheTablet() {
    assertThat(FailureCause.of(new IOException("HDFS is away")))
        .isEqualTo(FailureCause.CIRCUMSTANCES);
    assertThat(FailureCause.of(SteleException.retryLater("METADATA is away")))
        .isEqualTo(FailureCause.CIRCUMSTANCES);
    assertThat(FailureCause.of(new OutOfMemoryError())).isEqualTo(FailureCause.SERVER);
  }

  @Test
  void whatALaterVersionWroteDoesNotPassAndIsNotDamaged() {
    NewerFormatException newer = new NewerFormatException("file", "a codec of number 99");
    assertThat(FailureCause.of(newer)).isEqualTo(FailureCause.TABLET);
    assertThat(FailureCause.isDamage(newer)).isFalse();
    CorruptionException damaged = new CorruptionException("file", 0, "a wrong checksum");
    assertThat(FailureCause.of(damaged)).isEqualTo(FailureCause.TABLET);
    assertThat(FailureCause.isDamage(damaged)).isTrue();
  }
}
