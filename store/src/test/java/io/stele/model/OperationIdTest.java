package io.stele.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class OperationIdTest {
  @Test
  void everyNumberHasANextOne() {
    assertThat(new OperationId(1, 2, OperationId.NUMBER_MAX).number() + 1).isPositive();
    assertThatThrownBy(() -> new OperationId(1, 2, Long.MAX_VALUE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("from 1 to");
    assertThatThrownBy(() -> new OperationId(1, 2, 0)).isInstanceOf(IllegalArgumentException.class);
  }
}
