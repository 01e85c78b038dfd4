package io.stele.log;

import io.stele.model.TabletId;
import java.io.Closeable;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Records of a log, in the order they were written. Not safe for use by several threads.
 *
 * <p>After a failed flush the same records stand in two segments, so a record may come twice: see
 * {@link #distinct()}.
 */
public interface RecordSource extends Closeable {
  /**
   * The next record; empty at the end.
   *
   * @throws io.stele.model.CorruptionException where the log is damaged; the records so far were
   *     right, and there is no going on
   * @throws IOException where the log cannot be read
   */
  Optional<LogRecord> next() throws IOException;

  /** Only the records of {@code tablet}. */
  default RecordSource only(TabletId tablet) {
    return filter(record -> record.tablet().equals(tablet));
  }

  /**
   * Every record once: without those at or below the highest sequence number seen before of the
   * same tablet. Right for logs of one server process, as it appends a tablet's records in order.
   */
  default RecordSource distinct() {
    Map<TabletId, Long> highest = new HashMap<>();
    return filter(
        record -> {
          Long before = highest.get(record.tablet());
          if (before != null && record.sequence() <= before) {
            return false;
          }
          highest.put(record.tablet(), record.sequence());
          return true;
        });
  }

  /** Only the records that {@code wanted} accepts. */
  default RecordSource filter(Predicate<LogRecord> wanted) {
    RecordSource all = this;
    return new RecordSource() {
      @Override
      public Optional<LogRecord> next() throws IOException {
        Optional<LogRecord> record = all.next();
        while (record.isPresent() && !wanted.test(record.get())) {
          record = all.next();
        }
        return record;
      }

      @Override
      public void close() throws IOException {
        all.close();
      }
    };
  }
}
