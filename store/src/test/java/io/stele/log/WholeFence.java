package io.stele.log;

import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/** Both steps of a fence at once, for a server that may be alive. */
public final class WholeFence {
  private WholeFence() {}

  /**
   * Renames {@code directory} to {@code fenced}, closes every segment in it and lists them.
   *
   * @return {@code fenced}; empty if the server had no log directory
   * @throws IOException if a step failed: call again
   */
  public static Optional<Path> fence(LogFence fence, Path directory, Path fenced)
      throws IOException {
    Optional<Path> renamed = fence.rename(directory, fenced);
    if (renamed.isPresent()) {
      fence.close(fenced, () -> false, () -> {});
    }
    return renamed;
  }
}
