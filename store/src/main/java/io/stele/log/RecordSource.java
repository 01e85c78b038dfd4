package io.stele.log;

import java.io.Closeable;
import java.io.IOException;
import java.util.Iterator;
import java.util.Optional;

/**
 * Records of a log, in the order they were written. Not safe for use by several threads.
 *
 * <p>After a slow or failed flush the same records are in two segments, so a record may be returned
 * twice: {@link DistinctRecords} picks each record once.
 */
public interface RecordSource extends Closeable {
  /**
   * The next record; empty at the end.
   *
   * @throws io.stele.model.CorruptionException if the log is damaged; the previous records were
   *     right, and reading cannot continue
   * @throws IOException if the log cannot be read
   */
  Optional<LogRecord> next() throws IOException;

  /** After everything was read: the records that may be missing. */
  default Losses losses() {
    return Losses.NONE;
  }

  /** These records. */
  static RecordSource of(Iterable<LogRecord> records) {
    Iterator<LogRecord> all = records.iterator();
    return new RecordSource() {
      @Override
      public Optional<LogRecord> next() {
        return all.hasNext() ? Optional.of(all.next()) : Optional.empty();
      }

      @Override
      public void close() {}
    };
  }
}
