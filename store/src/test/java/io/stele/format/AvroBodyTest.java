package io.stele.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.junit.jupiter.api.Test;

class AvroBodyTest {
  private static final Schema SCHEMA = parsed();

  private static Schema parsed() {
    try {
      return CarriedSchema.parse(
          """
          {"type": "record", "name": "R", "fields": [
            {"name": "id", "type": "int"},
            {"name": "none", "type": "null"},
            {"name": "is", "type": "boolean"},
            {"name": "real", "type": ["null", "float", "double"]},
            {"name": "kind", "type": {"type": "enum", "name": "E", "symbols": ["A", "B", "C"]}},
            {"name": "hash", "type": {"type": "fixed", "name": "F", "size": 5}},
            {"name": "text", "type": "string"},
            {"name": "bytes", "type": "bytes"},
            {"name": "more", "type": {"type": "array", "items": "R"}},
            {"name": "named", "type": {"type": "map", "values": ["null", "long", "R"]}}
          ]}
          """);
    } catch (MalformedException e) {
      throw new AssertionError(e);
    }
  }

  private static GenericData.Record value(Random random, int depth) {
    GenericData.Record record = new GenericData.Record(SCHEMA);
    record.put("id", random.nextInt());
    record.put("is", random.nextBoolean());
    record.put("real", random.nextBoolean() ? null : random.nextDouble());
    Schema kind = SCHEMA.getField("kind").schema();
    record.put("kind", new GenericData.EnumSymbol(kind, "B"));
    byte[] hash = new byte[5];
    random.nextBytes(hash);
    record.put("hash", new GenericData.Fixed(SCHEMA.getField("hash").schema(), hash));
    record.put("text", "x".repeat(random.nextInt(100)));
    record.put("bytes", ByteBuffer.wrap(new byte[random.nextInt(100)]));
    List<Object> more = new ArrayList<>();
    Map<String, Object> named = new HashMap<>();
    for (int i = random.nextInt(4); depth > 0 && i > 0; i--) {
      more.add(value(random, depth - 1));
      named.put("n" + i, random.nextBoolean() ? random.nextLong() : value(random, depth - 1));
    }
    record.put("more", more);
    record.put("named", named);
    return record;
  }

  private static byte[] encoded(long seed) throws IOException {
    Random random = new Random(seed);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    // One of the two says the lengths of blocks.
    BinaryEncoder encoder =
        random.nextBoolean()
            ? EncoderFactory.get().binaryEncoder(out, null)
            : new EncoderFactory().configureBlockSize(64).blockingBinaryEncoder(out, null);
    new GenericDatumWriter<>(SCHEMA).write(value(random, 3), encoder);
    encoder.flush();
    return out.toByteArray();
  }

  @Test
  void whatAvroWroteIsPassedOverWhole() throws IOException {
    for (long seed = 0; seed < 500; seed++) {
      byte[] bytes = encoded(seed);
      ByteReader in = new ByteReader(bytes);
      AvroBody.check(SCHEMA, in, bytes.length);
      assertThat(in.remaining()).as("seed %d", seed).isZero();
    }
  }

  /** Avro itself may refuse more, such as a number of an int that no int is. */
  @Test
  void whatIsPassedOverAvroReadsToTheSameByte() throws IOException {
    int passed = 0;
    for (long seed = 0; seed < 20_000; seed++) {
      byte[] bytes = encoded(seed % 500);
      Random random = new Random(seed);
      for (int i = 1 + random.nextInt(4); i > 0; i--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      ByteReader in = new ByteReader(bytes);
      try {
        AvroBody.check(SCHEMA, in, bytes.length);
      } catch (MalformedException e) {
        continue;
      }
      passed++;
      BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(bytes, null);
      try {
        new GenericDatumReader<>(SCHEMA).read(null, decoder);
      } catch (IOException | RuntimeException e) {
        assertThat(e).as("seed %d", seed).hasMessageContaining("Invalid int encoding");
        continue;
      }
      assertThat(decoder.inputStream().readAllBytes().length)
          .as("seed %d", seed)
          .isEqualTo(in.remaining());
    }
    assertThat(passed).isGreaterThan(1000);
  }

  @Test
  void moreItemsThanAreAllowedAreRefused() throws IOException {
    Schema longs = CarriedSchema.parse("{\"type\": \"array\", \"items\": \"long\"}");
    byte[] three = {6, 1, 1, 1, 0};
    AvroBody.check(longs, new ByteReader(three), 3);
    assertThatThrownBy(() -> AvroBody.check(longs, new ByteReader(three), 2))
        .isInstanceOf(MalformedException.class)
        .hasMessageContaining("cannot be 3 items");
    byte[] blocks = {2, 1, 2, 1, 2, 1, 0}; // One each.
    assertThatThrownBy(() -> AvroBody.check(longs, new ByteReader(blocks), 2))
        .isInstanceOf(MalformedException.class);
  }

  @Test
  void theLowestNumberOfItemsIsRefusedLikeAnyOther() throws IOException {
    Schema longs = CarriedSchema.parse("{\"type\": \"array\", \"items\": \"long\"}");
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    EncoderFactory.get().directBinaryEncoder(out, null).writeLong(Long.MIN_VALUE);
    out.write(new byte[10]);
    assertThatThrownBy(() -> AvroBody.check(longs, new ByteReader(out.toByteArray()), 10))
        .isInstanceOf(MalformedException.class);
  }

  @Test
  void valuesInEachOtherWithoutEndAreRefused() throws IOException {
    Schema nested =
        CarriedSchema.parse(
            """
            {"type": "record", "name": "N", "fields": [
              {"name": "in", "type": {"type": "array", "items": "N"}}]}
            """);
    byte[] deep = new byte[200_000];
    Arrays.fill(deep, (byte) 2); // One item, in each.
    assertThatThrownBy(() -> AvroBody.check(nested, new ByteReader(deep), deep.length))
        .isInstanceOf(MalformedException.class)
        .hasMessageContaining("nests more than");
  }

  @Test
  void aNameInAStringDoesNotCountAsNesting() throws IOException {
    String braces = "{[\\\"".repeat(200);
    assertThat(CarriedSchema.parse("{\"type\": \"int\", \"doc\": \"" + braces + "\"}").getType())
        .isEqualTo(Schema.Type.INT);
  }
}
