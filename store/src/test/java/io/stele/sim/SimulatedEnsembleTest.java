package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.lock.Lock;
import io.stele.model.Bytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class SimulatedEnsembleTest {
  private static final Duration SESSION = Duration.ofSeconds(3);

  private final Simulation simulation = new Simulation(1, 1_000_000);
  private final SimulatedNetwork network = new SimulatedNetwork(simulation);
  private final SimulatedEnsemble ensemble = new SimulatedEnsemble(simulation, network, SESSION);

  /** As to ZooKeeper: a lease that was renewed must not outlive the session. */
  @Test
  void everyCallIsASignOfLife() throws Exception {
    simulation.run(
        () -> {
          SimulatedProcess process = simulation.process("stopped-again-and-again");
          Lock lock = ensemble.connect(process).tryLock("lock", Bytes.EMPTY).orElseThrow();
          process.start(
              "renewals",
              () -> {
                while (lock.isHeld()) {
                  renew(lock);
                }
              });
          for (int i = 0; i < 10; i++) {
            process.pause();
            simulation.outside().sleep(SESSION.dividedBy(2));
            process.resume();
            simulation.outside().sleep(Duration.ofMillis(60));
            assertThat(lock.isHeld()).isTrue();
          }
          process.kill();
        });
  }

  private static void renew(Lock lock) {
    try {
      lock.renew();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
