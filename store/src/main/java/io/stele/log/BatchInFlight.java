package io.stele.log;

import io.stele.model.Durability;
import java.util.List;

/**
 * A batch of records that is being written and flushed. When it moves from a slow writer to another
 * it becomes another object with the same records, so that the slow writer cannot complete it any
 * more.
 */
final class BatchInFlight {
  final WriterState writer;
  final List<WaitingRecord> records;
  final long bytes;
  final Durability durability;

  /** Whether the writer's segment is full with it, so that another writer goes on. */
  final boolean rolls;

  final long sinceNanos;

  /** How often it went to another writer because the one before was slow or failed. */
  final int moves;

  BatchInFlight(WriterState writer, List<WaitingRecord> records, boolean rolls, long sinceNanos) {
    this(writer, records, rolls, sinceNanos, 0);
  }

  private BatchInFlight(
      WriterState writer, List<WaitingRecord> records, boolean rolls, long sinceNanos, int moves) {
    this.writer = writer;
    this.records = records;
    this.rolls = rolls;
    this.sinceNanos = sinceNanos;
    this.moves = moves;
    // A segment is synced before the next takes records: a loss of power tears only the last one.
    Durability most = rolls ? Durability.HSYNC : Durability.HFLUSH;
    long sum = 0;
    for (WaitingRecord record : records) {
      sum += record.bodyBytes();
      most = most.and(record.durability);
    }
    this.bytes = sum;
    this.durability = most;
  }

  /** The same records, to be written by {@code other}. */
  BatchInFlight to(WriterState other, long nowNanos) {
    return new BatchInFlight(other, records, false, nowNanos, moves + 1);
  }
}
