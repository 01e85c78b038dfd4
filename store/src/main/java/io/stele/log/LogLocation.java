package io.stele.log;

import io.stele.model.ServerId;
import io.stele.model.TabletKind;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Where a commit log is written, and by whom.
 *
 * @param fs has the directory
 * @param directory the server process's own, made by {@link LogDirectory#create}
 * @param server the process
 * @param kind of the tablets whose records it takes
 */
public record LogLocation(FileSystem fs, Path directory, ServerId server, TabletKind kind) {
  /** The file of segment {@code number}. */
  Path segment(long number) {
    return LogDirectory.segment(directory, kind, number);
  }
}
