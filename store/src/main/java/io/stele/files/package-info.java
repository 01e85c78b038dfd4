/**
 * Creates files that survive a power failure, and takes files from a dead writer, on HDFS and on
 * the local file system.
 *
 * <p>Internal: not part of the public API.
 */
package io.stele.files;
