package io.stele.metadata;

import io.stele.metadata.avro.PinValue;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.TableSchema;
import io.stele.record.Pin;

/** Pins as values of METADATA. */
final class PinCodec {
  private PinCodec() {}

  static Bytes encode(Pin pin) {
    return Avro.encode(
        PinValue.newBuilder()
            .setReadPoint(pin.readPoint())
            .setClockMicros(pin.clockMicros())
            .setTableSchema(Avro.buffer(TableCodec.encode(pin.schema())))
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
                    pin.getReadPoint(), pin.getClockMicros(), Avro.bytes(pin.getTableSchema())));
    TableSchema schema = TableCodec.decode(encoded.schema());
    return new Pin(name, encoded.readPoint(), encoded.clockMicros(), schema);
  }

  private record Encoded(long readPoint, long clockMicros, Bytes schema) {}
}
