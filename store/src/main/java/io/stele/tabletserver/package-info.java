/**
 * A tablet server: hosts tablets, serves their reads and writes, splits them, and decides when they
 * compact. Internal.
 *
 * <p>{@link io.stele.tabletserver.TabletServerMain} is the process; {@link
 * io.stele.tabletserver.TabletServer} is the server in it, which needs only a file system and a
 * lock service. Tablets themselves are in {@code tablet}.
 */
package io.stele.tabletserver;
