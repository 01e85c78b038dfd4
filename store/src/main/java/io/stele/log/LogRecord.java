package io.stele.log;

import io.stele.model.Bytes;
import io.stele.model.TabletId;
import java.util.Optional;

/**
 * One record of the commit log: what one operation did to one tablet.
 *
 * @param tablet whose record it is
 * @param sequence the tablet's sequence number; records of a tablet are appended in its order
 * @param timestampMax the highest timestamp the server has assigned in this tablet, microseconds;
 *     -1 where it has assigned none
 * @param alteration the last alteration by which the table came to count fewer versions, as the
 *     server knew it when the operation was done; 0: none. Of operations in order it never falls
 *     below one that still matters (see {@link io.stele.record.LoweredCounts})
 * @param operation the operation's id and result; empty for what no client asked for
 * @param cells a sequential cell block; empty for an operation that changed nothing but whose
 *     result must be remembered
 */
public record LogRecord(
    TabletId tablet,
    long sequence,
    long timestampMax,
    int alteration,
    Optional<LoggedOperation> operation,
    Bytes cells) {
  /** A record that would take more bytes in the log is not to be appended: no reader takes it. */
  public static final int BYTES_MAX = LogFormat.BODY_BYTES_MAX;

  /** A record of an operation that was made before any such alteration. */
  public LogRecord(
      TabletId tablet,
      long sequence,
      long timestampMax,
      Optional<LoggedOperation> operation,
      Bytes cells) {
    this(tablet, sequence, timestampMax, 0, operation, cells);
  }

  public LogRecord {
    if (sequence < 0) {
      throw new IllegalArgumentException("a sequence number must be 0 or more, not " + sequence);
    }
  }

  /** How many bytes it takes in the log at most. */
  public long bytesAtMost() {
    long ofOperation = operation.isPresent() ? operation.get().bytesAtMost() : 0;
    return LogFormat.BODY_BYTES_BESIDE + ofOperation + cells.length();
  }
}
