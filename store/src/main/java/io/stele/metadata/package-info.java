/**
 * The one door to what is known of tablets and tables: their records in METADATA, their schemas and
 * names in the lock service, and the way from a row to the server that has it.
 *
 * <p>Internal: not part of the public API. Every change of a tablet's record is one conditional
 * write of one row ({@link io.stele.metadata.TabletRecords}); every request for a row goes out by
 * {@link io.stele.metadata.TabletAccess}, which finds the server and tries again until a deadline.
 */
package io.stele.metadata;
