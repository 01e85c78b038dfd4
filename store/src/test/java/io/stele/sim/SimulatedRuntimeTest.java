package io.stele.sim;

import io.stele.runtime.ProcessRuntimeContract;

class SimulatedRuntimeTest extends ProcessRuntimeContract {
  @Override
  protected void with(Work work) throws Exception {
    for (int seed = 0; seed < 20; seed++) {
      Simulation simulation = new Simulation(seed, 100_000);
      simulation.run(() -> work.run(simulation.outside()));
    }
  }
}
