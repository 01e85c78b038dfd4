/**
 * What applications import: {@link io.stele.client.Stele} is a connection to a cluster, {@link
 * io.stele.client.Table} reads and writes a table through it, {@link io.stele.client.BatchWriter}
 * writes many mutations, {@link io.stele.client.Admin} creates and changes tables. Public API,
 * except for the classes listed below.
 *
 * <p>Every call either succeeds, or throws a {@link io.stele.model.SteleException} that says what
 * went wrong, where, and what to do, or throws an {@link java.io.IOException} if the thread was
 * interrupted or the network or ZooKeeper failed. Calls are retried automatically until {@code
 * stele.client.timeout} is over, through moves, splits and deaths of tablet servers; a retried
 * change is applied once, because every attempt has the same operation id.
 *
 * <p>Some classes are public only for the input and output formats. Applications use the formats,
 * not these: {@link io.stele.client.Jobs}, {@link io.stele.client.JobEnvironment}, {@link
 * io.stele.client.JobRenewal}, {@link io.stele.client.PinnedTablets} and {@link
 * io.stele.client.SubmittedOutput}. {@link io.stele.client.ModelSerialization} is registered by the
 * formats too; only a job that uses none of them registers it itself.
 */
package io.stele.client;
