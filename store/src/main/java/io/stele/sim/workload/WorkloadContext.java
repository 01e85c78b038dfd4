package io.stele.sim.workload;

import io.stele.client.Stele;
import io.stele.sim.check.History;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * The environment of a workload's client. Each client has one of its own; all clients of a run have
 * the history and the clock in common.
 */
public interface WorkloadContext {
  /** The client's connection. */
  Stele client();

  /** All that is random in what the client does. */
  RandomGenerator random();

  /** The time, in nanoseconds since some moment that is the same for all clients of the run. */
  long nanoTime();

  /** Waits. */
  void pause(Duration duration) throws InterruptedException;

  /** Whether to begin no more calls. */
  boolean isOver();

  /** The cluster's files, as the client's process sees them; only in simulated clusters. */
  RootFiles files();

  /** Where the client records its calls. */
  History history();
}
