package io.stele.log;

import io.stele.format.ByteWriter;
import io.stele.model.Bytes;
import io.stele.model.Durability;
import io.stele.model.TabletId;
import java.util.concurrent.CompletableFuture;
import java.util.zip.CRC32C;

/**
 * A queued record: encoded by the thread that appends it, framed by the thread that writes it. Its
 * cells are those of the record, not a copy: they may be large.
 */
final class WaitingRecord {
  final TabletId tablet;
  final long sequence;
  final ByteWriter head;
  final Bytes cells;
  final int bodyCrc;
  final Durability durability;

  /** Whether its caller appends more at once, so that it may be written with the next record. */
  final boolean moreFollow;

  final CompletableFuture<Void> done = new CompletableFuture<>();

  WaitingRecord(LogRecord record, Durability durability, boolean moreFollow) {
    this.tablet = record.tablet();
    this.sequence = record.sequence();
    this.head = LogFormat.encodeHead(record);
    this.cells = record.cells();
    long bytes = (long) head.size() + cells.length();
    if (bytes > LogRecord.BYTES_MAX) {
      throw new IllegalArgumentException(
          "a record of "
              + bytes
              + " bytes is too long for readers: check its length before adding it");
    }
    CRC32C crc = new CRC32C();
    crc.update(head.array(), 0, head.size());
    cells.addTo(crc);
    this.bodyCrc = (int) crc.getValue();
    this.durability = durability;
    this.moreFollow = moreFollow;
  }

  /** How long its body is. */
  int bodyBytes() {
    return head.size() + cells.length();
  }
}
