/**
 * Workloads: what clients do to a cluster, and what must hold of the answers. They use the public
 * client API and a {@link io.stele.sim.workload.WorkloadContext}, so that they run against a
 * simulated cluster and against real processes alike.
 *
 * <p>Internal: not part of the public API.
 */
package io.stele.sim.workload;
