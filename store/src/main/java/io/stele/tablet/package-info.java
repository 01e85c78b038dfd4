/**
 * One tablet: memtables and SSTables under one roof, with their multi-version concurrency, garbage
 * collection, compactions and the memory of operations. Knows no network and no ZooKeeper, and owns
 * no threads: everything is a call. Internal.
 *
 * <p>Start at {@link io.stele.tablet.Tablet}.
 */
package io.stele.tablet;
