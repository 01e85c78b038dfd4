package io.stele.metadata;

import io.stele.model.Bytes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;
import java.util.zip.CRC32C;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;

/** A table's stored schema taken apart, and put together as another version would have it. */
final class TableSchemaJson {
  private TableSchemaJson() {}

  /** The Avro schema that a value carries. */
  static String of(Bytes value) {
    byte[] bytes = value.toByteArray();
    return new String(bytes, schemaStart(bytes), schemaLength(bytes), StandardCharsets.UTF_8);
  }

  /** The same table, written under another Avro schema. */
  static Bytes rewritten(Bytes value, UnaryOperator<String> change) throws IOException {
    byte[] bytes = value.toByteArray();
    int body = schemaStart(bytes) + schemaLength(bytes);
    Schema before = new Schema.Parser().parse(of(value));
    Schema after = new Schema.Parser().parse(change.apply(of(value)));
    GenericRecord record =
        new GenericDatumReader<GenericRecord>(before, after)
            .read(
                null,
                DecoderFactory.get().binaryDecoder(bytes, body, bytes.length - 4 - body, null));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(2);
    byte[] json = after.toString().getBytes(StandardCharsets.UTF_8);
    for (int rest = json.length; ; rest >>>= 7) {
      out.write(rest < 128 ? rest : (rest & 127) | 128);
      if (rest < 128) {
        break;
      }
    }
    out.write(json);
    BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
    new GenericDatumWriter<GenericRecord>(after).write(record, encoder);
    encoder.flush();
    CRC32C crc = new CRC32C();
    crc.update("TableValue".getBytes(StandardCharsets.UTF_8));
    crc.update(out.toByteArray());
    out.write(
        ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt((int) crc.getValue()).array());
    return Bytes.wrap(out.toByteArray());
  }

  private static int schemaStart(byte[] bytes) {
    int at = 1;
    while (bytes[at] < 0) {
      at++;
    }
    return at + 1;
  }

  private static int schemaLength(byte[] bytes) {
    int length = 0;
    for (int at = 1, shift = 0; ; at++, shift += 7) {
      length |= (bytes[at] & 127) << shift;
      if (bytes[at] >= 0) {
        return length;
      }
    }
  }
}
