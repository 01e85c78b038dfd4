/**
 * Reading tables without their servers: the files of pinned tablets, with the code that servers
 * read them by. Internal: for input formats, and for the job that verifies tables.
 */
package io.stele.direct;
