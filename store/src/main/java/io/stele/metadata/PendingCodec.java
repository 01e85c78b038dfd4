package io.stele.metadata;

import io.stele.metadata.avro.PendingValue;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.RowRange;
import io.stele.record.Pending;
import io.stele.record.PendingFile;
import io.stele.record.PendingReplacement;
import java.util.List;

/** What waits for the end of a job, as values of METADATA. */
final class PendingCodec {
  private PendingCodec() {}

  static Bytes encode(Pending pending) {
    PendingValue.Builder value =
        PendingValue.newBuilder()
            .setJob(pending.job())
            .setStart(Avro.buffer(pending.rows().start()))
            .setEnd(Avro.buffer(pending.rows().end()));
    if (pending instanceof PendingFile file) {
      value
          .setPath(file.file().path())
          .setLength(file.file().length())
          .setFamilies(List.copyOf(file.file().families()));
    } else {
      value.setPath("").setLength(0).setFamilies(List.of()).setReplaces(true);
    }
    return Avro.encode(value.build());
  }

  static Pending decode(Bytes value, String where) throws CorruptionException {
    return Avro.decode(value, PendingValue.class, where, PendingCodec::decode);
  }

  private static Pending decode(PendingValue pending) {
    RowRange rows = new RowRange(Avro.bytes(pending.getStart()), Avro.bytes(pending.getEnd()));
    if (pending.getReplaces()) {
      return new PendingReplacement(pending.getJob(), rows);
    }
    return new PendingFile(
        pending.getJob(),
        PendingFile.unnumbered(
            pending.getPath(), pending.getLength(), rows, pending.getFamilies()));
  }
}
