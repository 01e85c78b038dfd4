/**
 * What a process takes from its machine besides files, locks and the network: time, chance,
 * threads, and ways to wait. Internal.
 *
 * <p>All other rooms get these from a {@link io.stele.runtime.ProcessRuntime}, so that a simulation
 * can decide who runs when. This is the only room that knows {@code Thread}, executors, {@code
 * System.nanoTime} and their like; {@code RoomsTest} sees to it.
 */
package io.stele.runtime;
