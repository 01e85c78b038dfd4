/**
 * One tablet: memtables and SSTables, what of them is visible, the order of its writes, its
 * compactions. Internal.
 *
 * <p>It knows no network and no lock service, and owns no threads: {@link io.stele.tablet.Tablet}
 * is called, and calls back.
 */
package io.stele.tablet;
