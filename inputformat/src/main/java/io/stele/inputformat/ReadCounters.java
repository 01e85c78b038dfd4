package io.stele.inputformat;

import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/**
 * Counts what a reader has read. The task's counters hear of it once for many rows, as each takes a
 * lock, which costs as much as a good part of reading a row. For use by one thread.
 */
final class ReadCounters {
  private static final int ROWS_AT_ONCE = 64;

  private final Counter rows;
  private final Counter cells;
  private final Counter bytes;
  private long newRows;
  private long newCells;
  private long newBytes;

  /** Counts for the task of {@code context}. */
  ReadCounters(TaskAttemptContext context) {
    rows = context.getCounter(TableInputFormat.Counter.ROWS);
    cells = context.getCounter(TableInputFormat.Counter.CELLS);
    bytes = context.getCounter(TableInputFormat.Counter.BYTES);
  }

  /** A row was read. */
  void row(int rowCells, long rowBytes) {
    newRows++;
    newCells += rowCells;
    newBytes += rowBytes;
    if (newRows == ROWS_AT_ONCE) {
      tell();
    }
  }

  /** Tells the task's counters of all that was read. */
  void tell() {
    rows.increment(newRows);
    cells.increment(newCells);
    bytes.increment(newBytes);
    newRows = 0;
    newCells = 0;
    newBytes = 0;
  }
}
