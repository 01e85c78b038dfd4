package io.stele.tablet;

import io.stele.log.LogRecord;
import io.stele.memtable.Memtable;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/**
 * What a tablet takes from logs when it is opened: its records above what the files hold, each
 * once, in whatever order they come.
 *
 * <p>A tablet's sequence numbers have no gaps, and a log's records of it are a prefix of what it
 * was given. So a number missing below another is a record lost, and the tablet is not opened.
 */
final class Replay {
  private final TabletId id;
  private final long above;
  private final Memtable memtable;
  private final Map<Long, LogRecord> seen = new HashMap<>();
  private long lastSequence;
  private long highestTimestamp;

  /**
   * A replay of what is above a sequence number.
   *
   * @param memtable takes the cells; stays the caller's to release
   */
  Replay(TabletId id, long above, Memtable memtable) {
    this.memtable = memtable;
    this.id = id;
    this.above = above;
    this.lastSequence = above;
  }

  /** Takes all records in. */
  void take(Iterable<LogRecord> records, OperationWindow window, long nowMicros)
      throws IOException {
    for (LogRecord record : records) {
      if (!record.tablet().equals(id)) {
        throw new IllegalArgumentException(
            "a record of tablet " + record.tablet() + " is not one of " + id);
      }
      highestTimestamp = Math.max(highestTimestamp, record.timestampMax());
      if (record.sequence() > above && isFirst(record)) {
        LoggedCells.of(record.cells()).addTo(memtable);
        record
            .operation()
            .ifPresent(operation -> window.replay(operation, record.sequence(), nowMicros));
        lastSequence = Math.max(lastSequence, record.sequence());
      }
    }
    if (seen.size() != lastSequence - above) {
      throw new SteleException(
          SteleException.Code.CORRUPTION,
          "the logs of tablet "
              + id
              + " lack "
              + (lastSequence - above - seen.size())
              + " of the records "
              + (above + 1)
              + " to "
              + lastSequence
              + ", the first is "
              + firstMissing()
              + ": a log is missing or was cut; it is not opened, so that nothing is lost for good");
    }
  }

  Memtable memtable() {
    return memtable;
  }

  /** The files hold everything up to this sequence number. */
  long above() {
    return above;
  }

  /** The highest sequence number seen, or that of the files. */
  long lastSequence() {
    return lastSequence;
  }

  /** The highest timestamp that a record says was assigned. */
  long highestTimestamp() {
    return highestTimestamp;
  }

  /** Number of records taken in. */
  long records() {
    return seen.size();
  }

  private boolean isFirst(LogRecord record) {
    LogRecord before = seen.putIfAbsent(record.sequence(), record);
    if (before != null && !before.equals(record)) {
      throw new SteleException(
          SteleException.Code.CORRUPTION,
          "the logs of tablet "
              + id
              + " have two different records "
              + record.sequence()
              + ": it is not opened");
    }
    return before == null;
  }

  private long firstMissing() {
    long missing = above + 1;
    while (seen.containsKey(missing)) {
      missing++;
    }
    return missing;
  }
}
