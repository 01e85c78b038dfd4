package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.wire.Response;
import io.stele.wire.data.DataProtos.CheckAndMutateProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.StatusProto;
import io.stele.wire.data.DataProtos.TabletProto;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** Who answered for a tablet, and when. */
class ServiceRecordTest {
  private final Simulation simulation = new Simulation(0, 1000);
  private final ServiceRecord services = new ServiceRecord();
  private final SimulatedProcess first = simulation.process("first");
  private final SimulatedProcess second = simulation.process("second");

  private static RequestProto change(long epoch, long operation) {
    CheckAndMutateProto.Builder change =
        CheckAndMutateProto.newBuilder()
            .setTablet(
                TabletProto.newBuilder()
                    .setTableId("t1")
                    .setTablet("00000000000000aa")
                    .setEpoch(epoch))
            .setOperation(operation);
    change.getOperationsBuilder().setClientHigh(1).setClientLow(2);
    return RequestProto.newBuilder()
        .setCallId(1)
        .setCheckAndMutate(change.buildPartial())
        .buildPartial();
  }

  private void answered(SimulatedProcess server, RequestProto request, long arrivesNanos) {
    long arrived = services.arrived(server, request, arrivesNanos);
    Response ok =
        new Response(
            ResponseProto.newBuilder().setStatus(StatusProto.OK).build(), ByteBuffer.allocate(0));
    services.answered(server, request, ok, arrived);
  }

  @Test
  void twoThatAnswerInTurnsAreNoticed() {
    answered(first, change(1, 1), 10);
    answered(second, change(2, 2), 20);
    assertThat(services.violations()).isEmpty();
    answered(first, change(1, 3), 30);
    assertThat(services.violations()).hasSize(1);
  }

  @Test
  void anOperationThatComesAgainMayHaveHappenedWhenItCameFirst() {
    answered(first, change(1, 1), 10);
    answered(second, change(2, 2), 20);
    answered(first, change(1, 1), 30); // A copy that the network had kept.
    assertThat(services.violations()).isEmpty();
  }

  @Test
  void anOperationThatIsAskedForUnderAnotherEpochIsAnother() {
    services.arrived(first, change(1, 1), 10); // Refused: the tablet is about to move away.
    answered(second, change(2, 2), 20);
    answered(first, change(3, 1), 30);
    assertThat(services.violations()).isEmpty();
  }
}
