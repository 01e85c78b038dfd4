/**
 * Fakes behind the store's seams, and whole clusters over them, in one process.
 *
 * <p>{@link io.stele.sim.Simulation} runs a cluster one task at a time, on virtual time, as a seed
 * decides. {@link io.stele.sim.SimulatedProcess} is the runtime of a process, {@link
 * io.stele.sim.SimulatedNetwork} its network, {@link io.stele.sim.SimulatedEnsemble} the lock
 * service, {@link io.stele.sim.SimulatedFiles} the file system. A seed decides a {@link
 * io.stele.sim.HistoryPlan}; {@link io.stele.sim.HistoryRun} runs it: clients work while each
 * {@link io.stele.sim.Fault} happens, then the cluster must come to rest and every answer is
 * checked. The clients' workloads are in {@code workload}; the checks of their answers are in
 * {@code check}.
 *
 * <p>{@link io.stele.sim.MiniStele} runs a cluster on real threads and real time instead, over
 * files and a lock service in memory or of an embedded Hadoop.
 *
 * <p>Internal: not part of the public API.
 */
package io.stele.sim;
