/**
 * How files are made that must survive a loss of power, and taken from a dead writer, on HDFS and
 * on the local file system.
 *
 * <p>Internal: not part of the public API.
 */
package io.stele.files;
