package io.stele.cli.demo;

import io.stele.cli.embedded.EmbeddedHadoop;
import io.stele.cli.embedded.TaggedProcess;
import io.stele.runtime.SystemRuntime;
import io.stele.runtime.Task;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalLong;

/**
 * Watches how much memory this process, the daemons and all containers take together: the sum of
 * their resident sets, looked at every other second. What processes share is counted for each of
 * them.
 */
final class MemoryWatch implements AutoCloseable {
  private static final long PAGE_BYTES = 4096;
  private static final Duration LOOK_EVERY = Duration.ofSeconds(2);

  private final EmbeddedHadoop hadoop;
  private final Task task;
  private volatile long peakBytes;
  private volatile int peakProcesses;

  MemoryWatch(EmbeddedHadoop hadoop) {
    this.hadoop = hadoop;
    this.task = SystemRuntime.INSTANCE.start("memory-watch", this::watch);
  }

  /** The most seen so far, in bytes; none if the system does not tell. */
  OptionalLong peakBytes() {
    return peakBytes == 0 ? OptionalLong.empty() : OptionalLong.of(peakBytes);
  }

  /** The most Java processes seen at a time. */
  int peakProcesses() {
    return peakProcesses;
  }

  private void watch() {
    try {
      while (true) {
        look();
        SystemRuntime.INSTANCE.sleep(LOOK_EVERY);
      }
    } catch (InterruptedException e) {
      return; // Closed.
    }
  }

  private void look() {
    long bytes = residentBytes(ProcessHandle.current().pid());
    int count = 1;
    for (TaggedProcess process : hadoop.processes()) {
      bytes += residentBytes(process.pid());
      count += process.isJava() ? 1 : 0;
    }
    peakBytes = Math.max(peakBytes, bytes);
    peakProcesses = Math.max(peakProcesses, count);
  }

  private static long residentBytes(long pid) {
    try {
      String[] pages = Files.readString(Path.of("/proc", Long.toString(pid), "statm")).split(" ");
      return Long.parseLong(pages[1]) * PAGE_BYTES;
    } catch (IOException e) {
      return 0; // It has ended, or there is no /proc.
    }
  }

  @Override
  public void close() {
    task.interrupt();
  }
}
