package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.sim.SimulatedProcess;
import io.stele.sim.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class EventQueueTest {
  private final Simulation simulation = new Simulation(1, 100_000);
  private final SimulatedProcess process = simulation.process("application-master");
  private final EventQueue events = new EventQueue(process);

  @Test
  void eventsComeInOrderAndWakeTheirTaker() throws Exception {
    simulation.run(
        () -> {
          List<Integer> taken = new ArrayList<>();
          process.after(
              Duration.ofMillis(10),
              () -> {
                events.add(() -> taken.add(1));
                events.add(() -> taken.add(2));
              });
          for (int i = 0; i < 2; i++) {
            events.poll(Duration.ofSeconds(1)).orElseThrow().run();
          }
          assertThat(taken).containsExactly(1, 2);
          assertThat(process.nanoTime()).isEqualTo(Duration.ofMillis(10).toNanos());
        });
  }

  @Test
  void anEmptyQueueIsWaitedForNoLongerThanSaid() throws Exception {
    simulation.run(
        () -> {
          assertThat(events.poll(Duration.ofSeconds(1))).isEqualTo(Optional.empty());
          assertThat(process.nanoTime()).isEqualTo(Duration.ofSeconds(1).toNanos());
        });
  }
}
