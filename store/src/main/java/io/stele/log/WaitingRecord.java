package io.stele.log;

import io.stele.format.ByteWriter;
import io.stele.format.Crc32c;
import io.stele.model.Durability;
import io.stele.model.TabletId;
import java.util.concurrent.CompletableFuture;

/** A queued record: encoded by the thread that appends it, framed by the thread that writes it. */
final class WaitingRecord {
  final TabletId tablet;
  final long sequence;
  final ByteWriter body;
  final int bodyCrc;
  final Durability durability;
  final CompletableFuture<Void> done = new CompletableFuture<>();

  WaitingRecord(LogRecord record, Durability durability) {
    this.tablet = record.tablet();
    this.sequence = record.sequence();
    this.body = LogFormat.encodeBody(record);
    if (body.size() > LogRecord.BYTES_MAX) {
      throw new IllegalArgumentException(
          "a record of "
              + body.size()
              + " bytes is too long for readers: check its length before adding it");
    }
    this.bodyCrc = Crc32c.of(body.array(), 0, body.size());
    this.durability = durability;
  }
}
