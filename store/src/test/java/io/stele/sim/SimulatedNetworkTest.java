package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.runtime.Futures;
import io.stele.wire.Address;
import io.stele.wire.CallException;
import io.stele.wire.DataPlane;
import io.stele.wire.DataServer;
import io.stele.wire.Transport;
import io.stele.wire.data.DataProtos.PingProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What callers may conclude from what a {@link SimulatedNetwork} does to messages. */
class SimulatedNetworkTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final RequestProto PING =
      RequestProto.newBuilder().setPing(PingProto.getDefaultInstance()).build();

  @Test
  void aRequestThatComesTwiceLeavesItsCallerInDoubt() throws Exception {
    for (long seed = 0; seed < 20; seed++) {
      Simulation simulation = new Simulation(seed, 100_000);
      simulation.run(
          () -> {
            SimulatedNetwork network = new SimulatedNetwork(simulation);
            Transport server = network.transport(simulation.process("server"), "server");
            AtomicInteger received = new AtomicInteger();
            Transport.Listener listener =
                server.serveData(
                    0,
                    DataServer.Limits.DEFAULT,
                    (request, responder) -> {
                      received.incrementAndGet();
                      responder.answer(ResponseProto.getDefaultInstance());
                    });
            Address address = new Address("server", listener.port());
            Transport client = network.transport(simulation.outside(), "client");

            call(simulation, client, address);
            assertThat(received).hasValue(1);

            network.setWeather(new SimulatedNetwork.Weather(0, 0, 1, 0));
            assertThatThrownBy(() -> call(simulation, client, address))
                .isInstanceOfSatisfying(
                    CallException.class, lost -> assertThat(lost.mayHaveExecuted()).isTrue());
            simulation.outside().sleep(TIMEOUT);
            assertThat(received).hasValue(3);
          });
    }
  }

  private static void call(Simulation simulation, Transport client, Address server)
      throws Exception {
    Futures.await(
        simulation.outside(),
        client.dataPlane().call(server, PING, DataPlane.EMPTY, TIMEOUT),
        "calling");
  }
}
