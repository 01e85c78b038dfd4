package io.stele.log;

import io.stele.model.Durability;
import java.util.List;

/**
 * A batch of records on its way to disk. Handed from a slow writer to the other it is another
 * flight with the same records, so that the first writer's does not land any more.
 */
final class Flight {
  final Seat writer;
  final List<WaitingRecord> records;
  final long bytes;
  final Durability durability;

  /** Whether the writer's segment is full with it, so that the other writer goes on. */
  final boolean rolls;

  final long sinceNanos;

  Flight(Seat writer, List<WaitingRecord> records, boolean rolls, long sinceNanos) {
    this.writer = writer;
    this.records = records;
    this.rolls = rolls;
    this.sinceNanos = sinceNanos;
    // A segment is on disk before the next takes records: a loss of power tears the last one only.
    Durability most = rolls ? Durability.HSYNC : Durability.HFLUSH;
    long sum = 0;
    for (WaitingRecord record : records) {
      sum += record.body.size();
      most = most.and(record.durability);
    }
    this.bytes = sum;
    this.durability = most;
  }

  Flight to(Seat other, long nowNanos) {
    return new Flight(other, records, false, nowNanos);
  }
}
