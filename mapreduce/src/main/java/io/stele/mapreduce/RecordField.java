package io.stele.mapreduce;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import io.stele.model.SteleException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.AvroTypeException;
import org.apache.avro.Conversion;
import org.apache.avro.Conversions;
import org.apache.avro.JsonProperties;
import org.apache.avro.LogicalType;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericFixed;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificRecordBase;
import org.jspecify.annotations.Nullable;

/** One field of a record: its values as bytes of cells, and back. Immutable. */
final class RecordField {
  private static final Bytes FALSE = Bytes.of(new byte[] {0});
  private static final Bytes TRUE = Bytes.of(new byte[] {1});

  private static final String ARRAY_CLASS = byte[].class.getName();

  /** The Java classes that a schema may name for values which are as the schema says. */
  private static final Set<String> CLASSES = Set.of(ARRAY_CLASS, String.class.getName());

  private final GenericData model;
  private final Schema record;
  private final Schema.Field field;
  private final Schema type; // Without null.
  private final Optional<JavaField> declared;

  /**
   * A field of {@code record}, whose objects {@code model} makes.
   *
   * @param declared the field of the records' class, if Avro sets it by reflection
   */
  RecordField(GenericData model, Schema record, Schema.Field field, Optional<JavaField> declared) {
    this.model = model;
    this.record = record;
    this.field = field;
    this.type = withoutNull(field.schema());
    this.declared = declared;
  }

  private static Schema withoutNull(Schema schema) {
    boolean optional =
        schema.getType() == Schema.Type.UNION
            && schema.getTypes().size() == 2
            && schema.isNullable();
    if (!optional) {
      return schema;
    }
    List<Schema> both = schema.getTypes();
    return both.get(both.get(0).getType() == Schema.Type.NULL ? 1 : 0);
  }

  /** This, if it can be a row key. */
  RecordField ofRow() {
    if (type.getType() != Schema.Type.STRING && type.getType() != Schema.Type.BYTES) {
      throw refused("is a row key, which is a string or bytes, not " + type);
    }
    checkDeclared();
    return this;
  }

  /** This, if it can be the value of a cell. */
  RecordField ofValue() {
    checkValue(type);
    if (field.schema().isNullable()
        && field.hasDefaultValue()
        && field.defaultVal() != JsonProperties.NULL_VALUE) {
      throw refused(
          "may be null and has another default: a row without its cell would stand for both. Let"
              + " the default be null, or the type not be null");
    }
    checkDeclared();
    return this;
  }

  /** This, if it can be read with its default. */
  RecordField ofNowhere() {
    Object value = field.hasDefaultValue() ? defaultValue() : null;
    if (value != null) {
      declared.ifPresent(java -> checkHolds(java, value.getClass()));
    }
    return this;
  }

  /** This, if it can be a family. */
  RecordField ofMap() {
    if (type.getType() != Schema.Type.MAP) {
      throw refused("is a whole family, which is a map, not " + type);
    }
    Schema values = type.getValueType();
    checkValue(values);
    checkClass(type, SpecificData.KEY_CLASS_PROP);
    declared.ifPresent(
        java -> {
          checkHolds(java, LinkedHashMap.class);
          if (!java.holdsInMap(String.class, decodedClass(values))) {
            throw notHeld(java, "a map of String and " + decodedClass(values).getSimpleName());
          }
        });
    return this;
  }

  private void checkValue(Schema of) {
    switch (of.getType()) {
      case STRING, BYTES, FIXED, ENUM, INT, LONG, FLOAT, DOUBLE, BOOLEAN -> {}
      case RECORD, ARRAY, MAP, UNION, NULL ->
          throw refused(
              "is of type "
                  + of
                  + ": a cell is a string, bytes, fixed, enum, int, long, float, double or boolean,"
                  + " or one of them or null");
    }
    checkClass(of, SpecificData.CLASS_PROP);
  }

  /** Refuses what Avro's readers convert, such as a decimal number that the schema has as text. */
  private void checkClass(Schema of, String property) {
    String name = of.getProp(property);
    if (model instanceof SpecificData && name != null && !CLASSES.contains(name)) {
      throw refused(
          "has "
              + name
              + ", which Avro stores as "
              + of.getType().getName()
              + ": cells are not converted to it, so declare the type that is stored");
    }
  }

  private void checkDeclared() {
    declared.ifPresent(java -> checkHolds(java, decodedClass(type)));
  }

  /** Avro sets the field without a check, which may end the process instead of a cast. */
  private void checkHolds(JavaField java, Class<?> value) {
    if (!java.holds(value)) {
      throw notHeld(java, value.getSimpleName());
    }
  }

  private SteleException notHeld(JavaField java, String value) {
    return refused("is declared as " + java + ", which does not take what is read, " + value);
  }

  /** What {@link #decodePlain} makes for a class without Avro's compiler. */
  private Class<?> decodedClass(Schema of) {
    return switch (of.getType()) {
      case STRING -> String.class;
      case BYTES -> isArray(of) ? byte[].class : ByteBuffer.class;
      case INT -> Integer.class;
      case LONG -> Long.class;
      case FLOAT -> Float.class;
      case DOUBLE -> Double.class;
      case BOOLEAN -> Boolean.class;
      case FIXED, ENUM, RECORD, ARRAY, MAP, UNION, NULL ->
          Optional.<Class<?>>ofNullable(((SpecificData) model).getClass(of))
              .orElseThrow(() -> refused("is of " + of.getFullName() + ", which is no Java class"));
    };
  }

  private static boolean isArray(Schema of) {
    return ARRAY_CLASS.equals(of.getProp(SpecificData.CLASS_PROP));
  }

  String name() {
    return field.name();
  }

  /** What {@code of} has in this field, if it is not null. */
  Optional<Bytes> value(Object of) {
    Object value = model.getField(of, field.name(), field.pos());
    if (value == null && !field.schema().isNullable()) {
      throw isNull();
    }
    return Optional.ofNullable(value).map(some -> encode(of, type, some));
  }

  /**
   * What {@code of} has in this field, which is a map, in the order of its keys: nothing if it is
   * null. The map's own order may be another in each process, and attempts of a task must write the
   * same.
   */
  SortedMap<Bytes, Bytes> values(Object of) {
    SortedMap<Bytes, Bytes> values = new TreeMap<>();
    Object map = model.getField(of, field.name(), field.pos());
    if (map != null) {
      ((Map<?, ?>) map)
          .forEach(
              (key, value) -> {
                if (key == null || value == null) {
                  throw refused("is a map, which has null in it: key " + key);
                }
                values.put(Bytes.of(key.toString()), encode(of, type.getValueType(), value));
              });
    }
    return values;
  }

  /** Sets the field of {@code of} to what its cell has, or to the default. */
  void set(Object of, Row row, Optional<Bytes> value) {
    Object decoded = value.isPresent() ? decode(of, type, row, value.get()) : missing(row);
    model.setField(of, field.name(), field.pos(), decoded);
  }

  /** Sets the field of {@code of}, which is a map, to what its family has. */
  void setMap(Object of, Row row, List<Cell> cells) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (Cell cell : cells) { // Newest first.
      map.computeIfAbsent(
          key(row, cell), key -> decode(of, type.getValueType(), row, cell.value()));
    }
    model.setField(of, field.name(), field.pos(), map);
  }

  private String key(Row row, Cell cell) {
    try {
      return text(cell.qualifier());
    } catch (IllegalArgumentException e) {
      throw refused(
          "is a map, but row \""
              + row.key()
              + "\", column "
              + cell.family()
              + ":"
              + cell.qualifier()
              + ": "
              + e.getMessage());
    }
  }

  private @Nullable Object missing(Row row) {
    if (field.hasDefaultValue()) {
      return defaultValue();
    }
    if (field.schema().isNullable()) {
      return null;
    }
    throw refused("has no default, and row \"" + row.key() + "\" has no cell for it");
  }

  /** One of its own for each record, which may change it: Avro gives out the same object. */
  private @Nullable Object defaultValue() {
    Object value = model.getDefaultValue(field);
    if (value instanceof CharSequence) {
      return value.toString();
    }
    return switch (type.getType()) {
      case STRING, ENUM, INT, LONG, FLOAT, DOUBLE, BOOLEAN, NULL -> value;
      case BYTES, FIXED, RECORD, ARRAY, MAP, UNION -> value == null ? null : copy(value);
    };
  }

  /** Written and read again: {@code GenericData.deepCopy} does not take what reflection makes. */
  @SuppressWarnings("unchecked") // The model's writer takes what the model made.
  private Object copy(Object value) {
    try {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
      model.createDatumWriter(field.schema()).write(value, encoder);
      encoder.flush();
      return model
          .createDatumReader(field.schema())
          .read(null, DecoderFactory.get().binaryDecoder(bytes.toByteArray(), null));
    } catch (IOException e) {
      throw new UncheckedIOException("a copy in memory", e);
    }
  }

  /**
   * How this field of {@code record} comes from the plain value of a logical type: as Avro's own
   * readers do it, by what the class has for the field, and by its model where the field is not
   * directly of the type. Empty: the record has plain values.
   *
   * @param ofModel what the model has for the type
   */
  private Optional<Conversion<?>> conversion(
      Object record, Schema of, Function<LogicalType, @Nullable Conversion<?>> ofModel) {
    if (of.getLogicalType() == null) {
      return Optional.empty();
    }
    return Optional.ofNullable(
        field.schema().equals(of) && record instanceof SpecificRecordBase generated
            ? generated.getConversion(field.pos())
            : ofModel.apply(of.getLogicalType()));
  }

  private Bytes encode(Object record, Schema of, Object value) {
    try {
      Optional<Conversion<?>> conversion =
          conversion(record, of, type -> model.getConversionByClass(value.getClass(), type));
      return encodePlain(
          of,
          conversion.isPresent()
              ? Conversions.convertToRawType(value, of, of.getLogicalType(), conversion.get())
              : value);
    } catch (ClassCastException | ArithmeticException | AvroRuntimeException e) {
      throw refused(
          "is of type "
              + of
              + ", but a record has "
              + value.getClass().getName()
              + " there: "
              + e.getMessage());
    }
  }

  private static Bytes encodePlain(Schema of, Object value) {
    return switch (of.getType()) {
      case BYTES -> value instanceof byte[] array ? Bytes.of(array) : bytes((ByteBuffer) value);
      case FIXED -> Bytes.of(((GenericFixed) value).bytes());
      case INT -> Bytes.ofLong(toInt(whole(value)));
      case LONG -> Bytes.ofLong(whole(value));
      case FLOAT -> ofDouble(floating(((Number) value).doubleValue()));
      case DOUBLE -> ofDouble(((Number) value).doubleValue());
      case BOOLEAN -> (Boolean) value ? TRUE : FALSE;
      case ENUM -> Bytes.of(symbol(of, value));
      case STRING, RECORD, ARRAY, MAP, UNION, NULL -> Bytes.of(value.toString());
    };
  }

  /** A number that is whole: of others a part would be lost without a word. */
  private static long whole(Object value) {
    if (value instanceof Long
        || value instanceof Integer
        || value instanceof Short
        || value instanceof Byte) {
      return ((Number) value).longValue();
    }
    throw new ArithmeticException(
        value + " is of none of the classes that are taken: Long, Integer, Short and Byte");
  }

  private static int toInt(long value) {
    if (value != (int) value) {
      throw new ArithmeticException(value + " is too large for an int");
    }
    return (int) value;
  }

  /** A number of which a float can be read: infinity is, and NaN. */
  private static double floating(double value) {
    if (Float.isInfinite((float) value) && !Double.isInfinite(value)) {
      throw new ArithmeticException(value + " is too large for a float");
    }
    return value;
  }

  private static Bytes ofDouble(double value) {
    return Bytes.ofLong(Double.doubleToLongBits(value));
  }

  /** The symbol of an object, which may print otherwise. */
  private static String symbol(Schema of, Object value) {
    // Avro's compiler adds a $ to symbols that are words of Java.
    String symbol = value instanceof Enum<?> own ? own.name().replace("$", "") : value.toString();
    if (!of.hasEnumSymbol(symbol)) {
      throw new AvroTypeException("\"" + symbol + "\" is not a symbol of the enum");
    }
    return symbol;
  }

  private static Bytes bytes(ByteBuffer buffer) {
    byte[] copy = new byte[buffer.remaining()];
    buffer.duplicate().get(copy);
    return Bytes.wrap(copy);
  }

  private Object decode(Object record, Schema of, Row row, Bytes value) {
    try {
      Object plain = decodePlain(of, value);
      Optional<Conversion<?>> conversion = conversion(record, of, model::getConversionFor);
      return conversion.isPresent()
          ? Conversions.convertToLogicalType(plain, of, of.getLogicalType(), conversion.get())
          : plain;
    } catch (IllegalArgumentException
        | ArithmeticException
        | DateTimeException
        | AvroRuntimeException e) {
      throw refused(
          "is of type " + of.getType() + ", but row \"" + row.key() + "\": " + e.getMessage());
    }
  }

  private Object decodePlain(Schema of, Bytes value) {
    return switch (of.getType()) {
      case BYTES -> isArray(of) ? value.toByteArray() : ByteBuffer.wrap(value.toByteArray());
      case FIXED -> {
        checkLength(value, of.getFixedSize());
        yield model.createFixed(null, value.toByteArray(), of);
      }
      case INT -> toInt(number(value));
      case LONG -> number(value);
      case FLOAT -> (float) floating(Double.longBitsToDouble(number(value)));
      case DOUBLE -> Double.longBitsToDouble(number(value));
      case BOOLEAN -> {
        checkLength(value, 1);
        yield value.at(0) != 0;
      }
      case ENUM -> model.createEnum(symbol(of, value.toUtf8()), of);
      case STRING, RECORD, ARRAY, MAP, UNION, NULL -> text(value);
    };
  }

  /** Strict: other bytes would be changed where the record is written again. */
  private static String text(Bytes value) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(value.asByteBuffer()).toString();
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException(
          "\"" + value + "\" is not UTF-8; the type for any bytes is bytes", e);
    }
  }

  private static long number(Bytes value) {
    checkLength(value, Long.BYTES);
    return value.toLong();
  }

  private static void checkLength(Bytes value, int length) {
    if (value.length() != length) {
      throw new IllegalArgumentException(
          "the cell has " + value.length() + " bytes instead of " + length);
    }
  }

  private static String symbol(Schema of, String symbol) {
    if (of.hasEnumSymbol(symbol)) {
      return symbol;
    }
    if (of.getEnumDefault() == null) {
      throw new IllegalArgumentException(
          "the cell has \"" + symbol + "\", which is not a symbol of the enum");
    }
    return of.getEnumDefault();
  }

  /** The refusal of a record in which this is null and may not be. */
  SteleException isNull() {
    return refused("is null, which its type does not allow");
  }

  /** A refusal that names the field. */
  SteleException refused(String why) {
    return SteleException.refused(
        "field " + field.name() + " of record " + record.getFullName() + " " + why);
  }
}
