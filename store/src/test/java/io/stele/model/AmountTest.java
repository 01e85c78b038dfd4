package io.stele.model;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AmountTest {
  @Test
  void oneIsNotSeveral() {
    assertThat(Amount.of(0, "row")).isEqualTo("0 rows");
    assertThat(Amount.of(1, "row")).isEqualTo("1 row");
    assertThat(Amount.of(2000, "row")).isEqualTo("2,000 rows");
  }
}
