/**
 * What applications import: {@link io.stele.client.Stele} is a connection to a cluster, {@link
 * io.stele.client.Table} reads and writes a table through it, {@link io.stele.client.BatchWriter}
 * writes much, {@link io.stele.client.Admin} makes and changes tables. Public API.
 *
 * <p>Every call either succeeds, or throws a {@link io.stele.model.SteleException} that says what
 * went wrong, where, and what to do, or throws an {@link java.io.IOException} where the thread was
 * interrupted or the network or the lock service failed. Calls are tried again by themselves, for
 * as long as {@code stele.client.timeout} says, through moves, splits and deaths of tablet servers;
 * a change that is tried again is applied once, because every attempt carries the same operation
 * id.
 */
package io.stele.client;
