package io.stele.format;

import org.apache.avro.Schema;

/**
 * Walks over a value in Avro's binary encoding before Avro decodes it. Avro takes memory for as
 * many bytes, and makes as many items, as the encoding says there are, and only then looks whether
 * they are there. After this walk they are.
 *
 * <p>Not safe for use by several threads.
 */
public final class AvroBody {
  private final ByteReader in;
  private long itemsLeft;

  private AvroBody(ByteReader in, long itemsMax) {
    this.in = in;
    this.itemsLeft = itemsMax;
  }

  /**
   * Passes over one value. It nests at most as deep as {@link CarriedSchema} allows.
   *
   * @param writer the schema it was written with: our own, or one from {@link CarriedSchema}
   * @param in is left behind the value
   * @param itemsMax the most items of all arrays and maps in it: each becomes an object
   * @throws MalformedException if a length or a number of items is more than what is left, or there
   *     is no such word of an enum or branch of a union: {@link MalformedException#isNewer} then,
   *     as a later version may have it, unless {@code writer} is what the value was written with
   */
  public static void check(Schema writer, ByteReader in, long itemsMax) throws MalformedException {
    new AvroBody(in, itemsMax).value(writer, 0);
  }

  private void value(Schema schema, int depth) throws MalformedException {
    if (depth > CarriedSchema.DEPTH_MAX) {
      throw in.malformed("it nests more than " + CarriedSchema.DEPTH_MAX + " deep");
    }
    switch (schema.getType()) {
      case NULL -> {}
      case BOOLEAN -> in.skip(1);
      case INT, LONG -> in.readVarlong();
      case FLOAT -> in.skip(Float.BYTES);
      case DOUBLE -> in.skip(Double.BYTES);
      case FIXED -> in.skip(schema.getFixedSize());
      case STRING, BYTES -> bytes();
      case ENUM -> index(schema.getEnumSymbols().size());
      case UNION -> value(schema.getTypes().get(index(schema.getTypes().size())), depth + 1);
      case RECORD -> {
        for (Schema.Field field : schema.getFields()) {
          value(field.schema(), depth + 1);
        }
      }
      case ARRAY -> items(false, schema.getElementType(), depth + 1);
      case MAP -> items(true, schema.getValueType(), depth + 1);
    }
  }

  private void bytes() throws MalformedException {
    in.skip(size(in.readZigzag()));
  }

  private int index(int count) throws MalformedException {
    long index = in.readZigzag();
    if (index < 0) {
      throw in.malformed("there is no choice " + index);
    }
    if (index >= count) {
      throw in.newer("there is no choice " + index + " of " + count);
    }
    return (int) index;
  }

  /** Blocks of items, each with its number of them and perhaps its length, until an empty one. */
  private void items(boolean named, Schema item, int depth) throws MalformedException {
    for (long count = in.readZigzag(); count != 0; count = in.readZigzag()) {
      int after = -1;
      if (count < 0) {
        int length = size(in.readZigzag());
        after = in.remaining() - length;
      }
      long items = Math.abs(count);
      if (items < 0 || items > in.remaining() || items > itemsLeft) { // Each has bytes.
        throw in.malformed(
            "there cannot be " + count + " items in " + in.remaining() + " bytes here");
      }
      itemsLeft -= items;
      for (long i = 0; i < items; i++) {
        if (named) {
          bytes();
        }
        value(item, depth);
      }
      if (after >= 0 && in.remaining() != after) { // Who skips them goes by the length.
        throw in.malformed("a block of items has another length than it says");
      }
    }
  }

  private int size(long bytes) throws MalformedException {
    if (bytes < 0 || bytes > in.remaining()) {
      throw in.malformed(bytes + " bytes wanted and " + in.remaining() + " left");
    }
    return (int) bytes;
  }
}
