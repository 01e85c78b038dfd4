package io.stele.sim.workload;

import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A cluster's root directory, for clients that write files themselves.
 *
 * @param fs as the client's process sees it
 * @param root the directory
 */
public record RootFiles(FileSystem fs, Path root) {}
