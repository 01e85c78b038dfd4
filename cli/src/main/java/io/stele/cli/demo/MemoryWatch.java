package io.stele.cli.demo;

import io.stele.cli.embedded.EmbeddedHadoop;
import io.stele.cli.embedded.TaggedProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Watches how much memory this process, the daemons and all containers take together: the sum of
 * their resident sets, looked at every other second. What processes share is counted for each of
 * them.
 */
final class MemoryWatch implements AutoCloseable {
  private static final long PAGE_BYTES = 4096;
  private static final int PERIOD_SECONDS = 2;

  private final EmbeddedHadoop hadoop;
  private final ScheduledExecutorService scheduler =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "memory-watch");
            thread.setDaemon(true);
            return thread;
          });
  private volatile long peakBytes;
  private volatile int peakProcesses;

  MemoryWatch(EmbeddedHadoop hadoop) {
    this.hadoop = hadoop;
    scheduler.scheduleAtFixedRate(this::look, 0, PERIOD_SECONDS, TimeUnit.SECONDS);
  }

  /** The most seen so far, in bytes; none if the system does not tell. */
  OptionalLong peakBytes() {
    return peakBytes == 0 ? OptionalLong.empty() : OptionalLong.of(peakBytes);
  }

  /** The most Java processes seen at a time. */
  int peakProcesses() {
    return peakProcesses;
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
    scheduler.shutdownNow();
  }
}
