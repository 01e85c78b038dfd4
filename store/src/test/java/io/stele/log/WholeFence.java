package io.stele.log;

import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Fences with the default minimum of replicas, and both their steps at once. */
public final class WholeFence {
  private WholeFence() {}

  /** A fence for the logs in {@code fs}. */
  public static LogFence of(ProcessRuntime runtime, FileSystem fs) {
    return new LogFence(runtime, fs, LogOptions.DEFAULT.replicasMin());
  }

  /**
   * Renames {@code directory} to {@code fenced}, closes every segment in it and lists them, while
   * the server may be alive.
   *
   * @return {@code fenced}; empty if the server had no log directory
   * @throws IOException if a step failed: call again
   */
  public static Optional<Path> fence(LogFence fence, Path directory, Path fenced)
      throws IOException {
    Optional<Path> renamed = fence.rename(directory, fenced);
    if (renamed.isPresent()) {
      fence.close(fenced, LogOwner.UNKNOWN, () -> {});
    }
    return renamed;
  }
}
