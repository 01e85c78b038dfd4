package io.stele.master;

import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecordReader;
import io.stele.model.RowRange;
import io.stele.runtime.FanOut;
import io.stele.runtime.Futures;
import io.stele.runtime.IoConsumer;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Reads many rows of METADATA at once, on threads of its own.
 *
 * <p>For the master's loop alone.
 */
final class RecordFetch implements AutoCloseable {
  private static final int READS_AT_ONCE = 64;

  private final ProcessRuntime runtime;
  private final TabletRecordReader records;
  private final WorkerPool readers;

  /** A row, and its record as it is now; empty: it is gone. */
  record RowRead(RecordRow row, Optional<TabletRecord> now) {}

  /** The records in a range of rows. */
  record RangeRead(RowRange rows, List<TabletRecord> now) {}

  RecordFetch(ProcessRuntime runtime, TabletRecordReader records) {
    this.runtime = runtime;
    this.records = records;
    this.readers = runtime.pool("master-reader", READS_AT_ONCE - 1);
  }

  /**
   * Reads the records in {@code rows}.
   *
   * @throws IOException if one of them cannot be read, after the others were
   */
  List<RowRead> read(Collection<RecordRow> rows) throws IOException {
    Collection<RowRead> read = new ConcurrentLinkedQueue<>();
    each(rows, row -> read.add(new RowRead(row, records.read(row.table(), row.row()))));
    return new ArrayList<>(read);
  }

  /**
   * Reads the records in each of {@code ranges}; damaged ones are skipped.
   *
   * @throws IOException if one of the ranges cannot be read, after the others were
   */
  List<RangeRead> readRanges(Collection<RowRange> ranges) throws IOException {
    Collection<RangeRead> read = new ConcurrentLinkedQueue<>();
    each(
        ranges,
        rows ->
            read.add(
                new RangeRead(rows, records.readUndamaged(rows, Integer.MAX_VALUE, damage -> {}))));
    return new ArrayList<>(read);
  }

  private <T> void each(Collection<T> items, IoConsumer<T> action) throws IOException {
    Collection<IOException> failed = new ConcurrentLinkedQueue<>();
    try {
      FanOut.each(
          runtime,
          readers,
          READS_AT_ONCE,
          items,
          item -> {
            try {
              action.accept(item);
            } catch (IOException e) {
              failed.add(e);
            }
          });
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "reading records");
    }
    if (!failed.isEmpty()) {
      throw failed.iterator().next();
    }
  }

  @Override
  public void close() {
    readers.close();
  }
}
