package io.stele.tablet;

import io.stele.log.DistinctRecords;
import io.stele.log.LogRecord;
import io.stele.log.RecordSource;
import io.stele.memtable.Memtable;
import io.stele.model.TabletId;
import java.io.IOException;
import java.util.Comparator;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The records that a tablet replays from logs when it is opened: those above its files, as {@link
 * DistinctRecords} picks them.
 */
final class Replay {
  private final DistinctRecords records;
  private final Memtable memtable;
  private final TreeMap<Integer, Long> firstAfter = new TreeMap<>(); // By alteration.
  private long highestTimestamp;

  /**
   * A replay of the records above a sequence number.
   *
   * @param memtable takes the cells; the caller still releases it
   */
  Replay(TabletId id, long above, Memtable memtable) {
    this.records = new DistinctRecords(id, above);
    this.memtable = memtable;
  }

  /** Takes in all records. */
  void take(RecordSource logged, OperationWindow window) throws IOException {
    for (Optional<LogRecord> next = logged.next(); next.isPresent(); next = logged.next()) {
      LogRecord record = next.get();
      boolean first = records.add(record);
      highestTimestamp = Math.max(highestTimestamp, record.timestampMax());
      if (first) {
        firstAfter.merge(record.alteration(), record.sequence(), Math::min);
        LoggedCells.of(record.cells()).addTo(memtable);
        record.operation().ifPresent(operation -> window.replay(operation, record.sequence()));
      }
    }
    records.passOver(logged.losses());
    records.checkComplete();
  }

  Memtable memtable() {
    return memtable;
  }

  /** The files hold everything up to this sequence number. */
  long above() {
    return records.above();
  }

  /** The highest sequence number seen, or that of the files if there were no records. */
  long lastSequence() {
    return records.last();
  }

  /**
   * The last sequence number before an alteration, so far as the records tell: the one before the
   * first of the records that were made after it. If there is none, {@link #lastSequence}.
   */
  long lastBefore(int alteration) {
    // Later records may name an earlier alteration: when a number is raised again, it is forgotten.
    return firstAfter.tailMap(alteration).values().stream()
        .min(Comparator.naturalOrder())
        .map(first -> first - 1)
        .orElseGet(this::lastSequence);
  }

  /** The highest assigned timestamp according to a record. */
  long highestTimestamp() {
    return highestTimestamp;
  }

  /** Number of records taken in. */
  long records() {
    return records.count();
  }
}
