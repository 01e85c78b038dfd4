package io.stele.metadata;

import io.stele.format.ByteWriter;
import io.stele.metadata.avro.NameValue;
import io.stele.metadata.avro.TableValue;
import io.stele.model.Bytes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.zip.CRC32C;

/** Data of nodes as a later version of Stele would write them. */
public final class LaterNodes {
  /** A feature that this version does not know. */
  public static final String FEATURE = "later-feature";

  private LaterNodes() {}

  /** The same table, in a state that this version does not know. */
  public static Bytes tableInLaterState(Bytes table) throws IOException {
    return TableSchemaJson.rewritten(
        table,
        text ->
            text.replace(
                "\"symbols\":[\"CREATING\",\"READY\",\"DROPPING\"]",
                "\"symbols\":[\"CREATING\",\"FROZEN\",\"DROPPING\"],\"default\":\"FROZEN\""));
  }

  /** The same table, whose node requires {@link #FEATURE}. */
  public static Bytes tableRequiringMore(Bytes table) throws IOException {
    TableValue value = Avro.decode(table, TableValue.class, "test", read -> read);
    value.setRequires(List.of(Features.PINS, FEATURE));
    return Avro.encode(value);
  }

  /** The same name, whose node requires {@link #FEATURE}. */
  public static Bytes nameRequiringMore(Bytes name) throws IOException {
    NameValue value = Avro.decode(name, NameValue.class, "test", read -> read);
    value.setRequires(List.of(FEATURE));
    return Avro.encode(value);
  }

  /** The same name, whose table has what is no id in this version. */
  public static Bytes nameOf(Bytes name, String table) throws IOException {
    NameValue value = Avro.decode(name, NameValue.class, "test", read -> read);
    value.setTable(table);
    return Avro.encode(value);
  }

  /** A name in a format that this version does not know. */
  public static Bytes nameInLaterFormat() {
    return inLaterFormat("NameValue");
  }

  /** A value of a type, in a format that this version does not know. */
  static Bytes inLaterFormat(String type) {
    byte[] value = {3, 1, 2};
    CRC32C crc = new CRC32C();
    crc.update(type.getBytes(StandardCharsets.UTF_8));
    crc.update(value);
    return Bytes.wrap(
        new ByteWriter(8).write(Bytes.of(value)).writeInt((int) crc.getValue()).toByteArray());
  }
}
