package io.stele.config;

/**
 * The memory that a process was given.
 *
 * @param heapBytes the most that Java's heap may have
 * @param directBytes the most that buffers outside of it may have
 */
public record ProcessMemory(long heapBytes, long directBytes) {
  public ProcessMemory {
    if (heapBytes < 1 || directBytes < 0) {
      throw new IllegalArgumentException("a process has some memory");
    }
  }
}
