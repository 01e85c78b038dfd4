package io.stele.metadata;

import io.stele.metadata.avro.FormerCountValue;
import io.stele.metadata.avro.PinValue;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.TableSchema;
import io.stele.record.FormerCount;
import io.stele.record.Pin;
import java.util.List;
import java.util.Map;

/** Pins as values of METADATA. */
final class PinCodec {
  private PinCodec() {}

  static Bytes encode(Pin pin) {
    return Avro.encode(
        PinValue.newBuilder()
            .setReadPoint(pin.readPoint())
            .setClockMicros(pin.clockMicros())
            .setTimestampMicros(pin.timestampMicros())
            .setTableSchema(Avro.buffer(TableCodec.encode(pin.schema())))
            .setFormerCounts(Avro.lists(pin.former(), PinCodec::encode))
            .build());
  }

  /** The pin of that name. */
  static Pin decode(String name, Bytes value, String where) throws CorruptionException {
    Encoded encoded =
        Avro.decode(
            value,
            PinValue.class,
            where,
            pin ->
                new Encoded(
                    pin.getReadPoint(),
                    pin.getClockMicros(),
                    pin.getTimestampMicros(),
                    Avro.bytes(pin.getTableSchema()),
                    Avro.lists(pin.getFormerCounts(), PinCodec::decode)));
    TableSchema schema = TableCodec.decodeStored(encoded.schema(), where);
    return new Pin(
        name,
        encoded.readPoint(),
        encoded.clockMicros(),
        encoded.timestampMicros(),
        schema,
        encoded.former());
  }

  private static FormerCountValue encode(FormerCount one) {
    return FormerCountValue.newBuilder()
        .setVersions(one.versions())
        .setThrough(one.through())
        .build();
  }

  private static FormerCount decode(FormerCountValue one) {
    return new FormerCount(one.getVersions(), one.getThrough());
  }

  private record Encoded(
      long readPoint,
      long clockMicros,
      long timestampMicros,
      Bytes schema,
      Map<String, List<FormerCount>> former) {}
}
