package io.stele.sstable;

import io.stele.model.CachePriority;
import java.util.Objects;

/**
 * How the cache treats a file, as its locality group asks.
 *
 * @param inMemory whether the whole file is loaded at its first read and then held while it is
 *     open, as far as the cache has room for such files
 * @param priority the priority of its blocks in the cache, if the file is not held whole
 */
public record FileCaching(boolean inMemory, CachePriority priority) {
  /** As blocks are asked for. */
  public static final FileCaching NORMAL = new FileCaching(false, CachePriority.NORMAL);

  public FileCaching {
    Objects.requireNonNull(priority, "priority");
  }
}
