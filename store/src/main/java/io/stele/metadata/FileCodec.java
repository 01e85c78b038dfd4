package io.stele.metadata;

import io.stele.metadata.avro.FileValue;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.RowRange;
import io.stele.record.FileRef;
import java.util.List;

/** References to SSTables as values of METADATA. */
final class FileCodec {
  private FileCodec() {}

  static Bytes encode(FileRef file) {
    return Avro.encode(
        FileValue.newBuilder()
            .setPath(file.path())
            .setLength(file.length())
            .setStart(Avro.buffer(file.bounds().start()))
            .setEnd(Avro.buffer(file.bounds().end()))
            .setMinSequence(file.minSequence())
            .setMaxSequence(file.maxSequence())
            .setFamilies(List.copyOf(file.families()))
            .setCollectedMicros(file.collectedMicros())
            .setOperationsMicros(file.operationsMicros())
            .setMerged(file.merged())
            .setClearedAt(file.clearedAt())
            .setErased(file.erased())
            .build());
  }

  static FileRef decode(Bytes value, String where) throws CorruptionException {
    return Avro.decode(
        value,
        FileValue.class,
        where,
        file ->
            FileRef.builder(
                    file.getPath(),
                    file.getLength(),
                    new RowRange(Avro.bytes(file.getStart()), Avro.bytes(file.getEnd())))
                .sequences(file.getMinSequence(), file.getMaxSequence())
                .families(file.getFamilies())
                .collectedMicros(file.getCollectedMicros())
                .operationsMicros(file.getOperationsMicros())
                .merged(file.getMerged())
                .clearedAt(file.getClearedAt())
                .erased(file.getErased())
                .build());
  }
}
