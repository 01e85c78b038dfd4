package io.stele.sstable;

import org.apache.hadoop.fs.Path;

/**
 * A file that was written.
 *
 * @param path where it is
 * @param length its length in bytes
 * @param properties its properties
 */
public record SSTableSummary(Path path, long length, SSTableProperties properties) {}
