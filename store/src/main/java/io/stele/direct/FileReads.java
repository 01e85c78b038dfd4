package io.stele.direct;

import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileSystem.Statistics.StatisticsData;

/**
 * What one thread reads of a file system's files in some of its calls, as the file system itself
 * counts it; nothing where it does not tell near from far. For one thread.
 */
final class FileReads {
  private final FileSystem.Statistics statistics;
  private StatisticsData data; // Of the thread that counts.
  private long localBefore;
  private long remoteBefore;
  private long local;
  private long remote;

  /** Nothing yet, of {@code fs}. */
  @SuppressWarnings("deprecation") // What is in its place does not count by thread.
  FileReads(FileSystem fs) {
    this.statistics = FileSystem.getStatistics(fs.getUri().getScheme(), fs.getClass());
    this.data = statistics.getThreadStatistics();
  }

  /** Counts what this thread reads until {@link #end}. */
  void begin() {
    data = statistics.getThreadStatistics();
    localBefore = data.getBytesReadLocalHost();
    remoteBefore = far(data);
  }

  /** Counts no more. */
  void end() {
    local += data.getBytesReadLocalHost() - localBefore;
    remote += far(data) - remoteBefore;
  }

  private static long far(StatisticsData data) {
    return data.getBytesReadDistanceOfOneOrTwo()
        + data.getBytesReadDistanceOfThreeOrFour()
        + data.getBytesReadDistanceOfFiveOrLarger();
  }

  /** Bytes from DataNodes of the same host. */
  long local() {
    return local;
  }

  /** Bytes from DataNodes of other hosts. */
  long remote() {
    return remote;
  }
}
