package io.stele.metadata;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.format.AvroBody;
import io.stele.format.ByteReader;
import io.stele.format.ByteWriter;
import io.stele.format.CarriedSchema;
import io.stele.format.Crc32c;
import io.stele.format.MalformedException;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.io.ResolvingDecoder;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificDatumReader;
import org.apache.avro.specific.SpecificDatumWriter;
import org.apache.avro.specific.SpecificRecord;
import org.apache.avro.specific.SpecificRecordBase;

/**
 * Avro records as bytes that both earlier and later versions of Stele read.
 *
 * <pre>
 * value := 1:u8 fields:u8 body crc32c:u32                             a flat record
 *        | 2:u8 schema-length:varint schema body crc32c:u32           a record with records in it
 * </pre>
 *
 * Integers are little-endian, the body is in Avro's binary encoding. A flat record, of which there
 * may be many, says only how many fields it has: <b>new fields come at its end, with a default</b>.
 * A version that knows fewer fields reads those it knows and skips the rest; one that knows more
 * takes the defaults for what is missing. A record with records in it carries the schema that it
 * was written with, and Avro's rules apply.
 *
 * <p>What a version does not know it also loses when it writes the value again. What must not be
 * lost, or not be misunderstood, goes with a feature that the tablet's record requires ({@link
 * Features}).
 *
 * <p>The checksum is of the type's name and all before it, so that a value of another type is not
 * taken for one of this.
 *
 * <p>A value is damaged if its checksum is wrong, or if its bytes are not those of a value of the
 * schema that it was written with. One that is whole and cannot be understood, as it has a word of
 * an enum, a branch of a union, or a text that this version does not know, is a later version's.
 */
final class Avro {
  private static final int FLAT = 1;
  private static final int WITH_SCHEMA = 2;
  private static final int EXPECTED_BYTES = 256;

  /** Schemas of other versions that are kept: two versions live beside each other, or three. */
  private static final int CARRIED_MAX = 8;

  /** Reads and writes one type of record. Expensive to create, safe for any number of threads. */
  private static final class Codec {
    final SpecificData data;
    final Schema schema;
    final byte[] name;
    final boolean flat;
    final byte[] json;
    private final List<Writer> prefixes = new ArrayList<>(); // By number of fields.
    private final Writer own;

    @GuardedBy("carried")
    private final Map<String, Writer> carried = new LinkedHashMap<>(); // By their JSON.

    Codec(Class<?> type) {
      data = SpecificData.getForClass(type);
      schema = data.getSchema(type);
      name = schema.getName().getBytes(StandardCharsets.UTF_8);
      flat = schema.getFields().stream().noneMatch(field -> hasRecords(field.schema()));
      json = schema.toString().getBytes(StandardCharsets.UTF_8);
      own = new Writer(schema);
      for (int fields = 0; fields < schema.getFields().size(); fields++) {
        prefixes.add(new Writer(prefix(fields)));
      }
    }

    private static boolean hasRecords(Schema schema) {
      return switch (schema.getType()) {
        case RECORD -> true;
        case ARRAY -> hasRecords(schema.getElementType());
        case MAP -> hasRecords(schema.getValueType());
        case UNION -> schema.getTypes().stream().anyMatch(Codec::hasRecords);
        case ENUM, FIXED, STRING, BYTES, INT, LONG, FLOAT, DOUBLE, BOOLEAN, NULL -> false;
      };
    }

    private Schema prefix(int count) {
      List<Schema.Field> fields = new ArrayList<>();
      for (Schema.Field field : schema.getFields().subList(0, count)) {
        fields.add(new Schema.Field(field, field.schema()));
      }
      return Schema.createRecord(
          schema.getName(), schema.getDoc(), schema.getNamespace(), schema.isError(), fields);
    }

    int fields() {
      return prefixes.size();
    }

    /** The schema of a flat value with this many fields, as far as this version knows them. */
    Writer writer(int fields) {
      return fields < fields() ? prefixes.get(fields) : own;
    }

    /** The schema in a value. */
    Writer writer(String text) throws MalformedException {
      synchronized (carried) {
        Writer known = carried.get(text);
        if (known != null) {
          return known;
        }
      }
      Writer parsed = new Writer(CarriedSchema.parse(text));
      synchronized (carried) {
        if (carried.size() >= CARRIED_MAX) {
          carried.remove(carried.keySet().iterator().next());
        }
        carried.put(text, parsed);
      }
      return parsed;
    }
  }

  /** A schema that values were written with. Safe for any number of threads. */
  private static final class Writer {
    final Schema schema;
    private final Queue<Reader> idle = new ConcurrentLinkedQueue<>();

    Writer(Schema schema) {
      this.schema = schema;
    }

    Object read(Codec codec, BinaryDecoder body) throws IOException {
      Reader reader = idle.poll();
      if (reader == null) {
        reader = new Reader(codec, schema);
      }
      Object value = reader.decode(body);
      idle.add(reader); // Only now: one that failed is in any state. As many as read at once.
      return value;
    }
  }

  /**
   * Reads values written with one schema. Avro caches the resolution of two schemas per thread;
   * this reader has its own cache, whichever thread reads. For one thread at a time.
   */
  private static final class Reader extends SpecificDatumReader<Object> {
    private final Schema type;
    private final ResolvingDecoder resolver;

    Reader(Codec codec, Schema writer) throws IOException {
      super(writer, codec.schema, codec.data);
      type = codec.schema;
      resolver = DecoderFactory.get().resolvingDecoder(writer, type, null);
    }

    Object decode(BinaryDecoder body) throws IOException {
      resolver.configure(body);
      Object value = read(null, type, resolver);
      resolver.drain();
      return value;
    }
  }

  private static final ClassValue<Codec> CODECS =
      new ClassValue<>() {
        @Override
        protected Codec computeValue(Class<?> type) {
          return new Codec(type);
        }
      };

  private Avro() {}

  static Bytes encode(SpecificRecordBase value) {
    Codec codec = CODECS.get(value.getClass());
    ByteWriter out = new ByteWriter(EXPECTED_BYTES);
    if (codec.flat) {
      out.writeByte(FLAT).writeByte(codec.fields());
    } else {
      out.writeByte(WITH_SCHEMA).writePrefixed(codec.json);
    }
    out.write(body(codec, value));
    byte[] checked = out.toByteArray();
    return Bytes.wrap(out.writeInt(checksum(codec, checked, checked.length)).toByteArray());
  }

  private static Bytes body(Codec codec, SpecificRecordBase value) {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    try {
      BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(body, null);
      new SpecificDatumWriter<SpecificRecordBase>(codec.schema, codec.data).write(value, encoder);
      encoder.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // Memory only.
    }
    return Bytes.wrap(body.toByteArray());
  }

  /**
   * Reads a record and converts it to a value.
   *
   * @param where the place to name if it cannot be read
   * @param meaning fails with any unchecked exception for what this version does not understand
   * @throws CorruptionException if it is damaged
   * @throws NewerFormatException if it is whole, and has what this version does not know
   */
  static <A extends SpecificRecord, T> T decode(
      Bytes bytes, Class<A> type, String where, Function<A, T> meaning) throws CorruptionException {
    return decode(bytes, type, where, bytes.length(), meaning);
  }

  /**
   * The same of a value from anybody.
   *
   * @param itemsMax the most items of its lists and maps, all together: it is refused if it has
   *     more
   */
  static <A extends SpecificRecord, T> T decode(
      Bytes bytes, Class<A> type, String where, int itemsMax, Function<A, T> meaning)
      throws CorruptionException {
    Whole whole = whole(bytes, type, where, itemsMax);
    try {
      return meaning.apply(type.cast(whole.read()));
    } catch (IOException
        | RuntimeException e) { // Avro throws many kinds for what it cannot resolve.
      throw new NewerFormatException(
          where,
          "a "
              + type.getSimpleName()
              + " that is whole, but not understood ("
              + e.getMessage()
              + ")",
          e);
    }
  }

  /** A value of which all bytes are there, as its writer meant them. */
  private record Whole(Codec codec, Writer writer, BinaryDecoder body) {
    Object read() throws IOException {
      return writer.read(codec, body);
    }
  }

  private static Whole whole(Bytes bytes, Class<?> type, String where, int itemsMax)
      throws CorruptionException {
    try {
      return whole(CODECS.get(type), bytes.toByteArray(), itemsMax);
    } catch (IOException | RuntimeException e) { // Avro throws many kinds for what is no schema.
      if (e instanceof MalformedException malformed && malformed.isNewer()) {
        throw new NewerFormatException(where, malformed.getMessage(), e);
      }
      throw new CorruptionException(
          where, 0, "cannot be read as " + type.getSimpleName() + ": " + e, e);
    }
  }

  private static Whole whole(Codec codec, byte[] bytes, int itemsMax) throws IOException {
    int end = bytes.length - Integer.BYTES;
    if (end < 1
        || new ByteReader(bytes, end, Integer.BYTES).readInt() != checksum(codec, bytes, end)) {
      throw new IOException("its checksum is wrong");
    }
    ByteReader in = new ByteReader(bytes, 0, end);
    int format = in.readByte();
    Writer writer;
    boolean hasMore = false; // Fields that this version does not know.
    switch (format) {
      case FLAT -> {
        int fields = in.readByte();
        writer = codec.writer(fields);
        hasMore = fields > codec.fields();
      }
      case WITH_SCHEMA -> writer = codec.writer(in.readPrefixed().toUtf8());
      default -> throw in.newer("a " + codec.schema.getName() + " in format " + format);
    }
    BinaryDecoder body =
        DecoderFactory.get().binaryDecoder(bytes, in.position(), in.remaining(), null);
    check(writer.schema, format, in, itemsMax);
    if (!hasMore && in.remaining() > 0) {
      throw new IOException("it has bytes after its last field");
    }
    return new Whole(codec, writer, body);
  }

  /** What is not in the schema that a value carries, no version has written. */
  private static void check(Schema schema, int format, ByteReader in, int itemsMax)
      throws IOException {
    try {
      AvroBody.check(schema, in, itemsMax);
    } catch (MalformedException e) {
      if (format == WITH_SCHEMA) {
        throw new IOException(e.getMessage(), e);
      }
      throw e;
    }
  }

  private static int checksum(Codec codec, byte[] bytes, int length) {
    byte[] named = new byte[codec.name.length + length];
    System.arraycopy(codec.name, 0, named, 0, codec.name.length);
    System.arraycopy(bytes, 0, named, codec.name.length, length);
    return Crc32c.of(named, 0, named.length);
  }

  /** Lists under the same names, with each element converted. */
  static <A, B> Map<String, List<B>> lists(Map<String, List<A>> from, Function<A, B> each) {
    Map<String, List<B>> to = new TreeMap<>();
    from.forEach((name, list) -> to.put(name, list.stream().map(each).toList()));
    return to;
  }

  static ByteBuffer buffer(Bytes bytes) {
    return ByteBuffer.wrap(bytes.toByteArray());
  }

  static Bytes bytes(ByteBuffer buffer) {
    byte[] copy = new byte[buffer.remaining()];
    buffer.duplicate().get(copy);
    return Bytes.wrap(copy);
  }
}
