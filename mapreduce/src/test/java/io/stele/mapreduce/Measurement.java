package io.stele.mapreduce;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Map;
import org.apache.avro.Conversion;
import org.apache.avro.Conversions;
import org.apache.avro.Schema;
import org.apache.avro.data.TimeConversions;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificRecordBase;
import org.jspecify.annotations.Nullable;

/** A record with logical types, as Avro's compiler generates it, without what is not needed. */
@SuppressWarnings({"MemberName", "ConstantName"}) // Avro looks for these.
public final class Measurement extends SpecificRecordBase {
  /** The record's schema. */
  public static final Schema SCHEMA$ =
      new Schema.Parser()
          .parse(
              """
              {"type": "record", "name": "Measurement", "namespace": "io.stele.mapreduce",
               "stele": "m", "fields": [
                {"name": "id", "type": "string", "stele": "ROW"},
                {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
                {"name": "until",
                 "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
                {"name": "day", "type": {"type": "int", "logicalType": "date"}, "default": 10},
                {"name": "price",
                 "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
                {"name": "plain", "type": {"type": "long", "logicalType": "timestamp-millis"}},
                {"name": "uuid", "type": {"type": "string", "logicalType": "uuid"}},
                {"name": "seen", "stele": "seen:*", "type": {"type": "map",
                 "values": {"type": "long", "logicalType": "timestamp-millis"}}}]}
              """);

  private static final SpecificData MODEL$ = new SpecificData();

  static {
    MODEL$.addLogicalTypeConversion(new TimeConversions.DateConversion());
    MODEL$.addLogicalTypeConversion(new TimeConversions.TimestampMillisConversion());
    MODEL$.addLogicalTypeConversion(new TimeConversions.TimestampMicrosConversion());
    MODEL$.addLogicalTypeConversion(new Conversions.DecimalConversion());
  }

  /** By the field. The compiler may leave the values of some fields as they are stored. */
  private static final @Nullable Conversion<?>[] CONVERSIONS = {
    null,
    new TimeConversions.TimestampMillisConversion(),
    null,
    new TimeConversions.DateConversion(),
    new Conversions.DecimalConversion(),
    null,
    null,
    null
  };

  @Nullable CharSequence id;
  @Nullable Instant at;
  @Nullable Instant until;
  @Nullable LocalDate day;
  @Nullable BigDecimal price;
  long plain;
  @Nullable CharSequence uuid;
  @Nullable Map<CharSequence, Instant> seen;

  @Override
  public SpecificData getSpecificData() {
    return MODEL$;
  }

  @Override
  public Schema getSchema() {
    return SCHEMA$;
  }

  @Override
  public @Nullable Conversion<?> getConversion(int field) {
    return CONVERSIONS[field];
  }

  @Override
  public @Nullable Object get(int field) {
    return switch (field) {
      case 0 -> id;
      case 1 -> at;
      case 2 -> until;
      case 3 -> day;
      case 4 -> price;
      case 5 -> plain;
      case 6 -> uuid;
      case 7 -> seen;
      default -> throw new IndexOutOfBoundsException(field);
    };
  }

  @Override
  @SuppressWarnings("unchecked")
  public void put(int field, @Nullable Object value) {
    switch (field) {
      case 0 -> id = (CharSequence) value;
      case 1 -> at = (Instant) value;
      case 2 -> until = (Instant) value;
      case 3 -> day = (LocalDate) value;
      case 4 -> price = (BigDecimal) value;
      case 5 -> plain = (Long) value;
      case 6 -> uuid = (CharSequence) value;
      case 7 -> seen = (Map<CharSequence, Instant>) value;
      default -> throw new IndexOutOfBoundsException(field);
    }
  }
}
