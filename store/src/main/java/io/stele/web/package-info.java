/**
 * The page and the metrics of a server process, over HTTP. Internal.
 *
 * <p>It knows no server: a server says what it is by a {@link io.stele.web.StatusPage}.
 */
package io.stele.web;
