/**
 * One tablet: its memtables and SSTables, multi-version concurrency, garbage collection,
 * compactions and the window of remembered operations. It uses no network and no ZooKeeper, and
 * owns no threads. Internal.
 *
 * <p>Start at {@link io.stele.tablet.Tablet}.
 */
package io.stele.tablet;
