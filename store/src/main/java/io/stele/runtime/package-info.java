/**
 * What a process uses of its machine besides files, locks and the network: time, random numbers,
 * threads, and ways to wait. Internal.
 *
 * <p>All other packages get these from a {@link io.stele.runtime.ProcessRuntime}, so that a
 * simulation can decide which task runs when. This is the only package that uses {@code Thread},
 * executors, {@code System.nanoTime} and the like; {@code PackagesTest} checks it.
 */
package io.stele.runtime;
