package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.runtime.ManualRuntime;
import io.stele.runtime.Signal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RequestWaitTest {
  private final ManualRuntime runtime = new ManualRuntime();
  private final Signal settled = new Signal();
  private final List<String> ended = new ArrayList<>();

  private void begin(String name, Duration most) {
    RequestWait.begin(
        runtime, most, settled, () -> ended.add(name), why -> ended.add(name + " failed"));
  }

  @Test
  void whatGivesUpLeavesNothingBehindHoweverLongTheOthersWait() {
    for (int i = 0; i < 100; i++) {
      begin("hasty", Duration.ofSeconds(1));
    }
    begin("patient", Duration.ofHours(1));
    runtime.pass(Duration.ofSeconds(2));
    assertThat(ended).hasSize(100).containsOnly("hasty failed");
    assertThat(settled.waiting()).isEqualTo(1);
    settled.happen();
    runtime.pass(Duration.ofHours(2));
    assertThat(ended).hasSize(101).endsWith("patient");
  }

  @Test
  void whatBeginsToWaitTooLateGoesOnAtOnce() {
    settled.happen();
    begin("late", Duration.ZERO);
    runtime.pass(Duration.ofHours(1));
    assertThat(ended).containsExactly("late");
  }
}
