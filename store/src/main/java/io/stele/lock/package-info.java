/**
 * The lock service: locks bound to a session, small versioned files, watches, election, and the
 * lease a server answers under. Only {@link io.stele.lock.CuratorLockService} and what it is made
 * of know Curator and ZooKeeper; {@code io.stele.sim.MemoryLockService} is its fake.
 *
 * <p>Internal: not part of the public API.
 */
package io.stele.lock;
