/**
 * The lock service: locks bound to a session, small versioned files, watches, election, and the
 * lease a server answers under. {@link io.stele.lock.CuratorLockService} is the one class of Stele
 * that knows Curator and ZooKeeper; {@code io.stele.sim.MemoryLockService} is its fake.
 *
 * <p>Internal: not part of the public API.
 */
package io.stele.lock;
