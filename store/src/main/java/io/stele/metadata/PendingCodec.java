package io.stele.metadata;

import io.stele.metadata.avro.PendingValue;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.RowRange;
import io.stele.record.FileRef;
import io.stele.record.PendingFile;
import java.util.List;

/** Files that wait for the end of their job, as values of METADATA. */
final class PendingCodec {
  private PendingCodec() {}

  static Bytes encode(PendingFile pending) {
    FileRef file = pending.file();
    return Avro.encode(
        PendingValue.newBuilder()
            .setJob(pending.job())
            .setPath(file.path())
            .setLength(file.length())
            .setStart(Avro.buffer(file.bounds().start()))
            .setEnd(Avro.buffer(file.bounds().end()))
            .setFamilies(List.copyOf(file.families()))
            .build());
  }

  static PendingFile decode(Bytes value, String where) throws CorruptionException {
    return Avro.decode(
        value,
        PendingValue.class,
        where,
        pending ->
            new PendingFile(
                pending.getJob(),
                PendingFile.unnumbered(
                    pending.getPath(),
                    pending.getLength(),
                    new RowRange(Avro.bytes(pending.getStart()), Avro.bytes(pending.getEnd())),
                    pending.getFamilies())));
  }
}
