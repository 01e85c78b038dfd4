/**
 * The lock service: locks bound to a session, small versioned files, watches, election, and the
 * lease under which a server answers. Only {@link io.stele.lock.CuratorLockService} and the classes
 * it is made of use Curator and ZooKeeper; {@code io.stele.sim.MemoryLockService} is its fake.
 *
 * <p>Internal: not part of the public API.
 */
package io.stele.lock;
