/**
 * Fakes behind the store's seams, for its own tests and for those of its users: a file system that
 * crashes, a lock service whose sessions end when told. Deterministic by seed. What clients do to
 * such a cluster is in {@code workload}, and what must hold of the answers in {@code check}.
 *
 * <p>Internal: not part of the public API.
 */
package io.stele.sim;
