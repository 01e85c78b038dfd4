package io.stele.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.format.ByteWriter;
import io.stele.metadata.avro.AssignmentValue;
import io.stele.metadata.avro.FileValue;
import io.stele.metadata.avro.GcKindValue;
import io.stele.metadata.avro.GcValue;
import io.stele.metadata.avro.RedoValue;
import io.stele.metadata.avro.ServerValue;
import io.stele.metadata.avro.TableValue;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import io.stele.model.TableSchema;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.zip.CRC32C;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.junit.jupiter.api.Test;

/** Values as other versions of Stele write them are made here without the code under test. */
class AvroTest {
  private static final Schema NEXT_REDO =
      SchemaBuilder.record("RedoValue")
          .namespace("io.stele.metadata.avro")
          .fields()
          .requiredLong("sequence")
          .requiredLong("highestTimestamp")
          .optionalString("why")
          .requiredInt("rank")
          .endRecord();

  private static byte[] body(GenericRecord record) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
    new GenericDatumWriter<GenericRecord>(record.getSchema()).write(record, encoder);
    encoder.flush();
    return out.toByteArray();
  }

  private static Bytes framed(String type, int fields, byte[] body) {
    ByteBuffer value = ByteBuffer.allocate(2 + body.length + 4).order(ByteOrder.LITTLE_ENDIAN);
    value.put((byte) 1).put((byte) fields).put(body);
    CRC32C crc = new CRC32C();
    crc.update(type.getBytes(StandardCharsets.UTF_8));
    crc.update(value.array(), 0, value.position());
    value.putInt((int) crc.getValue());
    return Bytes.wrap(value.array());
  }

  private static Redo redo(Bytes value) throws CorruptionException {
    return Avro.decode(
        value,
        RedoValue.class,
        "here",
        redo -> new Redo(redo.getSequence(), redo.getHighestTimestamp()));
  }

  @Test
  void aValueHasItsFormatItsFieldCountItsBodyAndAChecksum() {
    Bytes value =
        Avro.encode(RedoValue.newBuilder().setSequence(5).setHighestTimestamp(300).build());
    // Zigzag: 5 is 10; 300 is 600, which is 0xd8 0x04.
    assertThat(value).isEqualTo(framed("RedoValue", 2, new byte[] {10, (byte) 0xd8, 0x04}));
  }

  @Test
  void whatTheNextVersionAddedAtTheEndIsSkipped() throws Exception {
    GenericRecord next = new GenericData.Record(NEXT_REDO);
    next.put("sequence", 7L);
    next.put("highestTimestamp", 70L);
    next.put("why", "because");
    next.put("rank", 3);
    assertThat(redo(framed("RedoValue", 4, body(next)))).isEqualTo(new Redo(7, 70));
  }

  @Test
  void whatThePreviousVersionDidNotHaveIsTheDefault() throws Exception {
    Schema before =
        SchemaBuilder.record("ServerValue")
            .fields()
            .requiredString("control")
            .requiredString("data")
            .endRecord();
    GenericRecord old = new GenericData.Record(before);
    old.put("control", "a:1");
    old.put("data", "a:2");
    Bytes value = framed("ServerValue", 2, body(old));
    ServerValue read = Avro.decode(value, ServerValue.class, "here", server -> server);
    assertThat(read.getControl()).isEqualTo("a:1");
    assertThat(read.getWeb()).isEmpty();
    assertThat(read.getDraining()).isFalse();
  }

  @Test
  void aRecordWithRecordsInItEvolvesByTheSchemaItCarries() throws Exception {
    Bytes value = TableCodec.encode(TableSchema.of("t", "f"));
    String json = TableSchemaJson.of(value);
    assertThat(new Schema.Parser().parse(json).getName()).isEqualTo("TableValue");
    assertThat(TableCodec.decode(value)).isEqualTo(TableSchema.of("t", "f"));
    // The next version gives each family a field more, in the middle.
    Bytes next =
        TableSchemaJson.rewritten(
            value,
            text ->
                text.replace(
                    "{\"name\":\"group\"",
                    "{\"name\":\"note\",\"type\":\"string\",\"default\":\"\"},{\"name\":\"group\""));
    assertThat(TableCodec.decode(next)).isEqualTo(TableSchema.of("t", "f"));
  }

  @Test
  void aTableWrittenBeforeTablesHadReadersHasNone() throws Exception {
    Bytes value = TableCodec.encode(TableSchema.of("t", "f").withReaders("user:alice"));
    Bytes old =
        TableSchemaJson.rewritten(
            value, text -> text.replaceFirst(",\\{\"name\":\"readers\".*?\\]\\}", ""));
    assertThat(TableSchemaJson.of(old)).doesNotContain("readers");
    assertThat(TableCodec.decode(old)).isEqualTo(TableSchema.of("t", "f"));
  }

  @Test
  void aValueOfAnotherTypeIsNotTakenForThis() {
    Bytes redo = Avro.encode(RedoValue.newBuilder().setSequence(1).setHighestTimestamp(1).build());
    assertThatThrownBy(() -> Avro.decode(redo, AssignmentValue.class, "there", value -> value))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining("there");
  }

  @Test
  void damageIsFound() {
    Bytes value =
        Avro.encode(RedoValue.newBuilder().setSequence(99).setHighestTimestamp(98).build());
    for (int bit = 0; bit < value.length() * 8; bit++) {
      byte[] damaged = value.toByteArray();
      damaged[bit / 8] ^= (byte) (1 << (bit % 8));
      assertThatThrownBy(() -> redo(Bytes.wrap(damaged))).isInstanceOf(CorruptionException.class);
    }
    for (int length = 0; length < value.length(); length++) {
      Bytes cut = value.slice(0, length);
      assertThatThrownBy(() -> redo(cut)).isInstanceOf(CorruptionException.class);
    }
  }

  @Test
  void rubbishWithARightChecksumIsFound() {
    for (long seed = 0; seed < 1000; seed++) {
      Random random = new Random(seed);
      byte[] body = new byte[random.nextInt(40)];
      random.nextBytes(body);
      Bytes value = framed("AssignmentValue", 3, body);
      try {
        Assignment.decode(value, "seed " + seed);
      } catch (CorruptionException | NewerFormatException e) {
        assertThat(e).hasMessageContaining("seed " + seed);
      }
      assertFileIsReadOrDamaged(framed("FileValue", 12, body), seed);
    }
  }

  private static void assertFileIsReadOrDamaged(Bytes value, long seed) {
    try {
      Avro.decode(value, FileValue.class, "seed " + seed, file -> file);
    } catch (CorruptionException | NewerFormatException e) {
      assertThat(e).hasMessageContaining("seed " + seed);
    }
  }

  @Test
  void bytesBehindTheLastKnownFieldAreDamage() {
    byte[] body = {10, 10, 10};
    assertThatThrownBy(() -> redo(framed("RedoValue", 2, body)))
        .isInstanceOf(CorruptionException.class);
  }

  /** A table as a client sends it, whose schema and body are anybody's; its checksum is right. */
  private static Bytes sent(String schema, byte[] body) {
    byte[] json = schema.getBytes(StandardCharsets.UTF_8);
    byte[] value =
        new ByteWriter(100).writeByte(2).writePrefixed(json).write(Bytes.of(body)).toByteArray();
    CRC32C crc = new CRC32C();
    crc.update("TableValue".getBytes(StandardCharsets.UTF_8));
    crc.update(value);
    return Bytes.of(
        new ByteWriter(100).write(Bytes.of(value)).writeInt((int) crc.getValue()).toByteArray());
  }

  private static void assertRefused(Bytes value, String how) {
    assertThatThrownBy(() -> TableCodec.decode(value))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining(how);
  }

  private static byte[] longs(long... numbers) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(out, null);
    for (long number : numbers) {
      encoder.writeLong(number);
    }
    return out.toByteArray();
  }

  @Test
  void aLengthOfWhichTheBytesAreNotThereTakesNoMemory() throws Exception {
    String own = TableSchemaJson.of(TableCodec.encode(TableSchema.of("t", "f")));
    assertRefused(sent(own, longs(0, 2_000_000_000)), "2000000000 bytes wanted");
    assertRefused(sent(own, longs(0, 0, 2_000_000_000)), "2000000000 items");
  }

  @Test
  void itemsWithoutBytesThatNobodyReadsTakeNoTime() throws Exception {
    String own = TableSchemaJson.of(TableCodec.encode(TableSchema.of("t", "f")));
    String schema =
        own.replaceFirst(
            "\"fields\":\\[",
            "\"fields\":[{\"name\":\"more\",\"type\":{\"type\":\"array\",\"items\":\"null\"}},");
    assertThat(schema).isNotEqualTo(own);
    assertRefused(
        sent(schema, longs(2_000_000_000, 2_000_000_000, 2_000_000_000)), "may have no bytes");
  }

  @Test
  void policiesInEachOtherWithoutEndTakeNoStack() throws Exception {
    String own = TableSchemaJson.of(TableCodec.encode(TableSchema.of("t", "f")));
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    body.write(longs(0, 0, 1, 0)); // No name; one family, without a name.
    for (int i = 0; i < 50_000; i++) {
      body.write(longs(3, 0, 0, 0, 1)); // A union of one policy.
    }
    assertRefused(sent(own, body.toByteArray()), "nests more than");
  }

  @Test
  void moreThanTheLockServiceHoldsIsNoSchemaOfATable() {
    assertRefused(sent("\"int\"", new byte[600_000]), "ZooKeeper holds at most");
  }

  @Test
  void aValueInAFormatOfALaterVersionSaysSo() {
    byte[] value = {3, 1, 2};
    CRC32C crc = new CRC32C();
    crc.update("RedoValue".getBytes(StandardCharsets.UTF_8));
    crc.update(value);
    Bytes later =
        Bytes.of(
            new ByteWriter(8).write(Bytes.of(value)).writeInt((int) crc.getValue()).toByteArray());
    assertNewer(() -> redo(later), "format 3");
  }

  private static void assertNewer(
      org.assertj.core.api.ThrowableAssert.ThrowingCallable read, String what) {
    assertThatThrownBy(read)
        .isInstanceOf(NewerFormatException.class)
        .hasMessageContaining(what)
        .hasMessageContaining("nothing is damaged");
  }

  @Test
  void aWordThatALaterVersionAddedToAnEnumIsNoDamage() throws Exception {
    Bytes later = LaterNodes.tableInLaterState(TableCodec.encode(TableSchema.of("t", "f")));
    assertNewer(() -> TableCodec.decode(later), "FROZEN");
    byte[] fourthState = {6, 0, 2, 0};
    assertNewer(
        () -> Assignment.decode(framed("AssignmentValue", 4, fourthState), "here"),
        "no choice 3 of 3");
    byte[] less = {5, 0, 2, 0};
    assertThatThrownBy(() -> Assignment.decode(framed("AssignmentValue", 4, less), "here"))
        .isInstanceOf(CorruptionException.class);
  }

  @Test
  void aBranchThatALaterVersionAddedToAUnionIsNoDamage() throws Exception {
    String own = TableSchemaJson.of(TableCodec.encode(TableSchema.of("t", "f")));
    String later =
        own.replace(
            "{\"name\":\"hsync\",\"type\":\"boolean\"}",
            "{\"name\":\"hsync\",\"type\":[\"boolean\",\"long\"]}");
    assertThat(later).isNotEqualTo(own);
    // READY, no name, families, groups, 64 bytes; a number in the place of the truth value.
    byte[] body = longs(1, 0, 0, 0, 64, 1, 7, 0, 0, 0, 0, 0, 0, 0);
    assertNewer(() -> TableCodec.decode(sent(later, body)), "long");
    assertRefused(
        sent(later, longs(1, 0, 0, 0, 64, 2, 7, 0, 0, 0, 0, 0, 0, 0)), "no choice 2 of 2");
  }

  @Test
  void anAgeThatNoDurationHasIsRefused() throws Exception {
    Bytes own = TableCodec.encode(TableSchema.of("t", "f"));
    TableValue value = Avro.decode(own, TableValue.class, "test", read -> read);
    GcValue gc = GcValue.newBuilder().setKind(GcKindValue.MAX_AGE).build();
    gc.setAgeSeconds(Long.MAX_VALUE);
    gc.setAgeNanos(2_000_000_000);
    value.getFamilies().get(0).setGc(gc);
    Bytes sent = Avro.encode(value);
    assertNewer(() -> TableCodec.decode(sent), "a table's schema");
  }

  @Test
  void aTextThatThisVersionDoesNotUnderstandIsNoDamage() {
    Bytes value =
        Avro.encode(RedoValue.newBuilder().setSequence(5).setHighestTimestamp(300).build());
    assertNewer(
        () ->
            Avro.decode(
                value,
                RedoValue.class,
                "here",
                redo -> {
                  throw new IllegalArgumentException("there is no codec BROTLI");
                }),
        "BROTLI");
  }
}
