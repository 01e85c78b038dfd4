/**
 * Checkers: pure functions that say what is wrong with a recorded history of client calls, or with
 * what a cluster has in METADATA and on disk. They use no I/O, clocks or threads, and share no code
 * with what they check.
 *
 * <p>Internal: not part of the public API.
 */
package io.stele.sim.check;
