/**
 * The page and the metrics of a server process, over HTTP. Internal.
 *
 * <p>It does not know the servers: each provides a {@link io.stele.web.StatusPage}.
 */
package io.stele.web;
