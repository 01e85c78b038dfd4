/**
 * The durable facts about tablets and tables, and access to them: tablet records in METADATA
 * ({@link io.stele.metadata.TabletRecords}), schemas and names in the lock service ({@link
 * io.stele.metadata.Schemas}), the root directory ({@link io.stele.metadata.Layout}), and the way
 * from a row to the server that has it ({@link io.stele.metadata.TabletLocator}, {@link
 * io.stele.metadata.TabletAccess}). The values in a record are in {@code record}.
 *
 * <p>Every change of a tablet's record is one conditional write of one row. {@link
 * io.stele.metadata.Attempts} decides about every retry, including the client's. Internal.
 */
package io.stele.metadata;
