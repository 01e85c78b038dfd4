package io.stele.sim.workload;

import io.stele.client.Stele;
import io.stele.runtime.ProcessRuntime;
import io.stele.sim.check.History;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/**
 * What a client of a workload has of a process.
 *
 * @param client its connection
 * @param process where it runs
 * @param clock whose monotonic clock is that of the history
 * @param history where it records its calls
 * @param random all that is random in what it does
 * @param over whether to begin no more calls
 * @param mount gives a process the cluster's files
 */
public record ClientContext(
    Stele client,
    ProcessRuntime process,
    ProcessRuntime clock,
    History history,
    RandomGenerator random,
    BooleanSupplier over,
    Function<ProcessRuntime, RootFiles> mount)
    implements WorkloadContext {
  @Override
  public long nanoTime() {
    return clock.nanoTime();
  }

  @Override
  public RootFiles files() {
    return mount.apply(process);
  }

  @Override
  public void pause(Duration duration) throws InterruptedException {
    process.sleep(duration);
  }

  @Override
  public boolean isOver() {
    return over.getAsBoolean();
  }
}
