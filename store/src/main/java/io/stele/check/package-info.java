/**
 * Whether a cluster is as it should be: METADATA against itself, the lock service, the files and
 * what the tablet servers serve.
 *
 * <p>Internal. It reads and changes nothing, needs no master, and shares no code with what decides
 * about tablets and files.
 */
package io.stele.check;
