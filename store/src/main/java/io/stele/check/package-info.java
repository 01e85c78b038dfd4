/**
 * Checks whether a cluster is consistent: compares METADATA with itself, the lock service, the
 * files and what the tablet servers serve.
 *
 * <p>Internal. The check only reads, needs no master, and shares no code with what decides about
 * tablets and files.
 */
package io.stele.check;
