package io.stele.direct;

import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileSystem.Statistics.StatisticsData;

/**
 * What one thread reads of a file system's files in some of its calls, as the file system itself
 * counts it; nothing where it does not tell near from far. For one thread.
 */
final class FileReads {
  private final FileSystem.Statistics statistics;
  private long local;
  private long remote;

  /** Nothing yet, of {@code fs}. */
  @SuppressWarnings("deprecation") // What is in its place does not count by thread.
  FileReads(FileSystem fs) {
    this.statistics = FileSystem.getStatistics(fs.getUri().getScheme(), fs.getClass());
  }

  /** Something that reads files. */
  @FunctionalInterface
  interface Read<T> {
    /** Reads. */
    T make() throws IOException;
  }

  /** Makes {@code read}, and counts what it reads. */
  <T> T counting(Read<T> read) throws IOException {
    StatisticsData now = statistics.getThreadStatistics();
    long localBefore = now.getBytesReadLocalHost();
    long remoteBefore = far(now);
    try {
      return read.make();
    } finally {
      local += now.getBytesReadLocalHost() - localBefore;
      remote += far(now) - remoteBefore;
    }
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
