/**
 * A tablet server: hosts tablets, serves their reads and writes, splits them, and decides when they
 * compact. Internal.
 *
 * <p>{@link io.stele.tabletserver.TabletServerMain} is the process; {@link
 * io.stele.tabletserver.TabletServer} is the server in it, which needs nothing but a file system
 * and a lock service. What a tablet is lies below, in {@code tablet}.
 */
package io.stele.tabletserver;
