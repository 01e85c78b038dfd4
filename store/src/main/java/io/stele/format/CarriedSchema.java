package io.stele.format;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.apache.avro.Schema;

/**
 * The Avro schema that a value was written with and carries: a text from outside. Its size, how
 * deep it nests, and what it grows to where its named types are used again are all bounded, as
 * Avro's own work on a schema grows with each of them, some of it exponentially.
 */
public final class CarriedSchema {
  /** The most bytes of a schema's text: many times those of the largest that Stele has. */
  public static final int BYTES_MAX = 64 << 10;

  /** How deep text, schema, and what is encoded with it may nest: far below what a stack holds. */
  static final int DEPTH_MAX = 100;

  /** The most types in a schema, each counted wherever it is used. */
  private static final int TYPES_MAX = 10_000;

  private final Set<Schema> within = Collections.newSetFromMap(new IdentityHashMap<>());
  private int types;

  private CarriedSchema() {}

  /**
   * Parses a schema, and refuses one with which a few bytes can stand for any number of items.
   *
   * @throws MalformedException if it is too large, or its items may have no bytes
   * @throws RuntimeException if it is no schema: Avro throws many kinds
   */
  public static Schema parse(String text) throws MalformedException {
    if (text.length() > BYTES_MAX) {
      throw malformed("it has " + text.length() + " characters: the limit is " + BYTES_MAX);
    }
    checkNesting(text);
    // Nobody uses its defaults, and to check those of records in records takes exponential time.
    Schema schema = new Schema.Parser().setValidateDefaults(false).parse(text);
    new CarriedSchema().check(schema, 0);
    return schema;
  }

  private static void checkNesting(String text) throws MalformedException {
    int depth = 0;
    boolean quoted = false;
    for (int i = 0; i < text.length(); i++) {
      switch (text.charAt(i)) {
        case '"' -> quoted = !quoted;
        case '\\' -> i += quoted ? 1 : 0;
        case '{', '[' -> depth += quoted ? 0 : 1;
        case '}', ']' -> depth -= quoted ? 0 : 1;
        default -> {}
      }
      if (depth > DEPTH_MAX) {
        throw malformed("its text nests more than " + DEPTH_MAX + " deep");
      }
    }
  }

  /** Checks a type and those in it; returns whether a value of it may have no bytes. */
  private boolean check(Schema schema, int depth) throws MalformedException {
    types++;
    if (types > TYPES_MAX || depth > DEPTH_MAX) {
      throw malformed(
          "it has more than "
              + TYPES_MAX
              + " types, each counted wherever it is used, or nests more than "
              + DEPTH_MAX
              + " deep");
    }
    return switch (schema.getType()) {
      case NULL -> true;
      case FIXED -> schema.getFixedSize() == 0;
      case RECORD -> checkRecord(schema, depth);
      case ARRAY -> {
        if (check(schema.getElementType(), depth + 1)) {
          throw malformed("the items of an array may have no bytes");
        }
        yield false;
      }
      case MAP -> {
        check(schema.getValueType(), depth + 1);
        yield false;
      }
      case UNION -> {
        for (Schema branch : schema.getTypes()) {
          check(branch, depth + 1);
        }
        yield false;
      }
      case BOOLEAN, INT, LONG, FLOAT, DOUBLE, STRING, BYTES, ENUM -> false;
    };
  }

  private boolean checkRecord(Schema record, int depth) throws MalformedException {
    if (!within.add(record)) {
      return false; // It is in itself: by way of an array, map or union, which all have bytes.
    }
    boolean mayBeEmpty = true;
    for (Schema.Field field : record.getFields()) {
      mayBeEmpty &= check(field.schema(), depth + 1);
    }
    within.remove(record);
    return mayBeEmpty;
  }

  private static MalformedException malformed(String detail) {
    return new MalformedException(0, "no schema of Stele is like this: " + detail);
  }
}
