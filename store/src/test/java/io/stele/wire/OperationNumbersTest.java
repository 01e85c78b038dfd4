package io.stele.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.OperationId;
import io.stele.model.SteleException;
import io.stele.wire.data.DataProtos.OperationsProto;
import org.junit.jupiter.api.Test;

class OperationNumbersTest {
  private static OperationId id(long number) {
    return OperationCodec.id(OperationsProto.getDefaultInstance(), number);
  }

  @Test
  void everyNumberInARequestHasANextOne() {
    assertThat(id(OperationId.NUMBER_MAX).number() + 1).isPositive();
    for (long wrong : new long[] {Long.MAX_VALUE, 0, Long.MIN_VALUE}) {
      assertThatThrownBy(() -> id(wrong))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED));
    }
  }
}
