package io.stele.metadata;

import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.function.Function;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.message.BinaryMessageDecoder;
import org.apache.avro.message.BinaryMessageEncoder;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificRecord;
import org.apache.avro.specific.SpecificRecordBase;

/**
 * Avro records as bytes in Avro's single-object encoding: marker, fingerprint of the schema they
 * were written with, value. So a record tells which schema wrote it, and a later version of Stele
 * that registers the earlier schemas reads them all.
 */
final class Avro {
  /** What reads and writes one type of record: dear to make, and safe for any number of threads. */
  private record Codec(
      BinaryMessageEncoder<SpecificRecord> encoder, BinaryMessageDecoder<SpecificRecord> decoder) {
    static Codec of(Class<?> type) {
      SpecificData data = SpecificData.getForClass(type);
      Schema schema = data.getSchema(type);
      return new Codec(
          new BinaryMessageEncoder<>(data, schema), new BinaryMessageDecoder<>(data, schema));
    }
  }

  private static final ClassValue<Codec> CODECS =
      new ClassValue<>() {
        @Override
        protected Codec computeValue(Class<?> type) {
          return Codec.of(type);
        }
      };

  private Avro() {}

  static Bytes encode(SpecificRecordBase value) {
    try {
      return Bytes.wrap(array(CODECS.get(value.getClass()).encoder().encode(value)));
    } catch (IOException e) {
      throw new UncheckedIOException(e); // Memory only.
    }
  }

  /**
   * Reads a record and makes what it stands for of it.
   *
   * @param where what to name if it cannot be read
   */
  static <A extends SpecificRecord, T> T decode(
      Bytes bytes, Class<A> type, String where, Function<A, T> meaning) throws CorruptionException {
    try {
      return meaning.apply(type.cast(CODECS.get(type).decoder().decode(bytes.asByteBuffer())));
    } catch (IOException | AvroRuntimeException | IllegalArgumentException e) {
      CorruptionException damaged =
          new CorruptionException(where, 0, "not a readable " + type.getSimpleName() + ": " + e);
      damaged.initCause(e);
      throw damaged;
    }
  }

  static ByteBuffer buffer(Bytes bytes) {
    return ByteBuffer.wrap(bytes.toByteArray());
  }

  static Bytes bytes(ByteBuffer buffer) {
    return Bytes.wrap(array(buffer));
  }

  private static byte[] array(ByteBuffer buffer) {
    byte[] copy = new byte[buffer.remaining()];
    buffer.duplicate().get(copy);
    return copy;
  }
}
