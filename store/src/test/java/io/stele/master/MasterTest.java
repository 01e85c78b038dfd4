package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.config.Keys;
import io.stele.lock.LockService;
import io.stele.metadata.MasterInfo;
import io.stele.sim.CrashableDisk;
import io.stele.sim.SimulatedEnsemble;
import io.stele.sim.SimulatedNetwork;
import io.stele.sim.SimulatedProcess;
import io.stele.sim.Simulation;
import io.stele.web.StatusPage;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

class MasterTest {
  private static final Duration SESSION = Duration.ofSeconds(6);
  private static final int PORT = 7000;

  private final Simulation simulation = new Simulation(1, 1_000_000);
  private final SimulatedNetwork network = new SimulatedNetwork(simulation);
  private final SimulatedEnsemble ensemble = new SimulatedEnsemble(simulation, network, SESSION);
  private final CrashableDisk disk = new CrashableDisk();
  private final LockService observer = ensemble.connect(simulation.outside());

  @Test
  void theAddressIsThatOfTheLocksHolderAndGoesWithTheLock() throws Exception {
    simulation.run(
        () -> {
          SimulatedProcess first = simulation.process("first");
          Master one = start(first);
          simulation.outside().sleep(Duration.ofSeconds(2));
          assertThat(one.isActive()).isTrue();
          assertThat(MasterInfo.address(observer)).isEqualTo(one.address()).isPresent();

          Master two = start(simulation.process("second"));
          simulation.outside().sleep(Duration.ofSeconds(2));
          assertThat(two.isActive()).isFalse();

          first.pause();
          simulation.outside().sleep(SESSION.multipliedBy(3));
          assertThat(two.isActive()).isTrue();
          first.resume();
          simulation.outside().sleep(SESSION.multipliedBy(2));
          assertThat(one.isActive()).isFalse();
          assertThat(one.ended()).isCompletedExceptionally();
          assertThat(MasterInfo.address(observer)).isEqualTo(two.address()).isPresent();

          two.close();
          simulation.outside().sleep(Duration.ofSeconds(1));
          assertThat(MasterInfo.address(observer)).isEmpty();
        });
  }

  @Test
  void aMasterThatIsStoppedBeforeItPublishesItsAddressDoesNotHideItsSuccessor() throws Exception {
    for (int millis = 1; millis < 40; millis++) {
      Duration until = Duration.ofMillis(millis);
      new MasterTest().stopAndGoOn(until);
    }
  }

  private void stopAndGoOn(Duration until) throws Exception {
    simulation.run(
        () -> {
          SimulatedProcess first = simulation.process("first");
          Master one = start(first);
          Master two = start(simulation.process("second"));
          simulation.outside().sleep(until);
          first.pause();
          simulation.outside().sleep(SESSION.multipliedBy(3));
          first.resume();
          simulation.outside().sleep(SESSION.multipliedBy(2));
          Master active = one.isActive() ? one : two;
          assertThat(MasterInfo.address(observer))
              .as("stopped after %s", until)
              .isEqualTo(active.address())
              .isPresent();
        });
  }

  @Test
  void aMasterWhosePortIsTakenDoesNotWaitForIt() throws Exception {
    simulation.run(
        () -> {
          SimulatedProcess other = simulation.process("other");
          network
              .transport(other, "host")
              .servePage(PORT, () -> new StatusPage("other", List.of(), List.of()));
          Master master = start(simulation.process("master"), "host", PORT);
          simulation.outside().sleep(Duration.ofSeconds(2));
          assertThat(master.ended())
              .isCompletedExceptionally()
              .failsWithin(Duration.ZERO)
              .withThrowableThat()
              .withMessageContaining("host:" + PORT + " is taken");
        });
  }

  private Master start(SimulatedProcess process) {
    return start(process, process.name(), 0);
  }

  private Master start(SimulatedProcess process, String host, int port) {
    Configuration conf = new Configuration(false);
    conf.set(Keys.ROOT_DIR.name(), "/stele");
    conf.setInt(Keys.MASTER_PORT.name(), port);
    return Master.start(
        new Master.Environment(
            conf,
            process,
            disk.mount(),
            ensemble.connect(process),
            network.transport(process, host),
            Optional.empty(),
            Applications.NONE));
  }
}
