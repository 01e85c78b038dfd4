package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletLocation;
import io.stele.model.Bytes;
import io.stele.model.ReadModifyWrite;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.runtime.SystemRuntime;
import io.stele.wire.Response;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.StatusProto;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class SingleOperationTest {
  private static final TableRef TABLE =
      new TableRef(
          Waiting.silent(SystemRuntime.INSTANCE), FakeTablets.TABLE, "t", Duration.ofSeconds(30));

  private static TabletAccess.Answer answer(byte... body) {
    return new TabletAccess.Answer(
        new Response(
            ResponseProto.newBuilder().setStatus(StatusProto.OK).build(), ByteBuffer.wrap(body)),
        new TabletLocation(
            new TabletId(FakeTablets.TABLE, "0000000000000001"),
            RowRange.ALL,
            new ServerId("a", 1, 1),
            1));
  }

  private static void assertUnknown(TabletAccess.Answer answer) {
    ReadModifyWrite operation = ReadModifyWrite.increment(Bytes.of("r"), "f", Bytes.of("q"), 1);
    assertThatThrownBy(() -> SingleOperation.newCells(answer, TABLE, operation))
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.OUTCOME_UNKNOWN))
        .hasMessageContaining("was applied");
  }

  @Test
  void aChangeWhoseAnswerDoesNotTellTheResultIsNoFailureOfTheChange() {
    assertUnknown(answer());
    assertUnknown(answer((byte) 0x7f, (byte) 1, (byte) 2));
  }
}
