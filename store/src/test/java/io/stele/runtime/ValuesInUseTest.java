package io.stele.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ValuesInUseTest {
  private static final Duration HOUR = Duration.ofHours(1);

  private final ManualClocks clocks = new ManualClocks(5, Instant.EPOCH);
  private final List<Integer> made = new ArrayList<>();
  private final Set<String> busy = new HashSet<>();
  private final ValuesInUse<Integer, String> values =
      new ValuesInUse<>(
          clocks,
          HOUR,
          key -> {
            made.add(key);
            return "v" + key;
          },
          value -> !busy.contains(value));

  @Test
  void whatIsAskedForStays() {
    for (int key = 1; key < 100; key++) {
      clocks.pass(HOUR);
      assertThat(values.get(0)).isEqualTo("v0");
      assertThat(values.get(key)).isEqualTo("v" + key);
    }
    assertThat(made).containsOnlyOnce(0);
  }

  @Test
  void whatNobodyAsksForIsDroppedWhenOthersAreMade() {
    for (int key = 0; key < 100; key++) {
      clocks.pass(HOUR);
      values.get(key);
      assertThat(values.values()).hasSizeLessThan(4);
    }
    values.get(0);
    assertThat(made).filteredOn(key -> key == 0).hasSize(2);
  }

  @Test
  void whatWasAskedForWithinTheTimeIsNotDropped() {
    values.get(0);
    for (int key = 1; key < 60; key++) {
      clocks.pass(Duration.ofMinutes(1));
      values.get(key);
    }
    assertThat(values.values()).hasSize(60);
  }

  @Test
  void whatIsBusyStays() {
    values.get(0);
    busy.add("v0");
    for (int key = 1; key < 10; key++) {
      clocks.pass(HOUR);
      values.get(key);
    }
    assertThat(values.values()).contains("v0");
    busy.clear();
    for (int key = 10; key < 12; key++) {
      clocks.pass(HOUR);
      values.get(key);
    }
    assertThat(values.values()).doesNotContain("v0");
  }
}
