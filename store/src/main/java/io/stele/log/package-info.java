/**
 * The commit log: one for each of a tablet server's two kinds of tablets, shared by its tablets.
 * Group commit, segments, reading for recovery, fencing of a dead server's log.
 *
 * <p>Internal: not part of the public API. The format is in {@code docs/formats/log.md}.
 */
package io.stele.log;
