package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Faults that end when they are to end. */
class FaultRunnerTest {
  private static final long STEPS_MAX = 3_000_000;
  private static final int NTH = 10_000; // No process comes so far by itself.
  private static final Duration WHILE = Duration.ofSeconds(30);

  @Test
  void whatWaitsForAProcessToComeToAStepEndsWithTheFaults() throws Exception {
    Simulation simulation = new Simulation(0, STEPS_MAX);
    simulation.run(
        () -> {
          SimulatedCluster cluster =
              new SimulatedCluster(
                  simulation, HistoryPlan.of(0, WHILE, Histories.NAMES).configuration());
          cluster.add(SimulatedCluster.Kind.MASTER);
          cluster.add(SimulatedCluster.Kind.SERVER);
          FaultRunner faults = new FaultRunner(cluster);
          Fault first =
              new Fault.PauseAt(SimulatedCluster.Kind.MASTER, 0, Step.REQUEST, NTH, WHILE);
          Fault second = new Fault.DieAt(SimulatedCluster.Kind.SERVER, 0, Step.FLUSH, NTH);
          faults.begin(
              List.of(
                  new Fault.Planned(Duration.ofSeconds(1), first),
                  new Fault.Planned(Duration.ofSeconds(1), second)));
          simulation.outside().sleep(Duration.ofSeconds(2));
          faults.heal();
          for (SimulatedCluster.Kind kind :
              List.of(SimulatedCluster.Kind.MASTER, SimulatedCluster.Kind.SERVER)) {
            for (SimulatedCluster.Slot slot : cluster.slots(kind)) {
              for (int i = 0; i < NTH; i++) {
                for (Step step : Step.values()) {
                  assertThat(slot.process().traps().at(step)).isEmpty();
                }
              }
            }
          }
        });
  }
}
