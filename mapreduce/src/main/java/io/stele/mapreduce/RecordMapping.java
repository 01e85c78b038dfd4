package io.stele.mapreduce;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Column;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.TimeRange;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.reflect.ReflectData;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificRecord;

/**
 * Maps Avro records to rows and back. The property {@code stele} in the schema says where each
 * field is:
 *
 * <pre>
 * ROW      the row key: a string or bytes; one field has it
 * f:q      this column
 * f:*      this family, which holds nothing else: a map, whose keys are qualifiers
 * -        nowhere: what is read has the field's default
 * </pre>
 *
 * If the record's schema itself has the property {@code stele: f}, each field without the property
 * is in the column {@code f:name}.
 *
 * <pre>{@code
 * @AvroMeta(key = "stele", value = "profile")
 * class Person {
 *   @AvroMeta(key = "stele", value = "ROW") String email;
 *   String name;                                                       // profile:name
 *   @Nullable Long visits;                                             // profile:visits
 *   @AvroMeta(key = "stele", value = "likes:*") Map<String, Double> likes;
 * }
 *
 * RecordMapping<Person> people = RecordMapping.of(Person.class);
 * table.mutate(people.mutation(person));
 * Person again = people.record(table.readRow(row, people.query()).orElseThrow());
 * }</pre>
 *
 * <p>Strings and enums are stored as UTF-8, bytes and fixed as they are, int, long, float and
 * double as 8 bytes, big-endian, so that columns can be incremented, and boolean as one byte. A
 * field may also be null: then it has no cell, and no default but null. Arrays and nested records
 * are not supported. A field with a logical type is stored as its plain type; where the class has
 * another Java type for it, such as {@code Instant}, Avro's conversions of the class apply. A class
 * without Avro's compiler declares its fields as these types: {@code String}, {@code byte[]} or
 * {@code ByteBuffer}, {@code int}, {@code long}, {@code float}, {@code double}, {@code boolean}, an
 * enum, or {@code Map}. What Avro would convert, such as {@code short} or {@code BigDecimal}, is
 * refused.
 *
 * <p><b>Evolution.</b> This version of the record can read rows that another version wrote: a field
 * without a cell gets its default, or null if null is allowed; cells that no field names are left
 * alone. A renamed field that keeps its old name as an alias reads the column of the old name if
 * its own column has no cell. Types may change from int to long, float to double, and between
 * string and bytes.
 *
 * <p>Immutable.
 *
 * @param <T> the class of records
 */
public final class RecordMapping<T> {
  private static final String PROPERTY = "stele";
  private static final String ROW = "ROW";
  private static final String NOWHERE = "-";
  private static final String ALL = ":*";

  private final GenericData model;
  private final Schema schema;
  private final RecordField row;
  private final List<RecordField> nowhere = new ArrayList<>();
  private final Map<RecordField, List<Column>> columns = new LinkedHashMap<>(); // Old names last.
  private final Map<RecordField, String> families = new LinkedHashMap<>();

  /**
   * The mapping of a schema.
   *
   * @param reflected the class of records, if Avro sets its fields by reflection
   */
  private RecordMapping(GenericData model, Schema schema, Optional<Class<?>> reflected) {
    this.model = model;
    this.schema = schema;
    List<RecordField> rows = new ArrayList<>();
    for (Schema.Field each : schema.getFields()) {
      RecordField field =
          new RecordField(
              model, schema, each, reflected.flatMap(type -> JavaField.of(type, each.name())));
      String place = place(field, each);
      if (place.equals(ROW)) {
        rows.add(field);
      } else if (place.equals(NOWHERE)) {
        nowhere.add(field.ofNowhere());
      } else if (place.endsWith(ALL)) {
        families.put(field.ofMap(), place.substring(0, place.length() - ALL.length()));
      } else {
        columns.put(field.ofValue(), columns(each, place));
      }
    }
    if (rows.size() != 1 || (columns.isEmpty() && families.isEmpty())) {
      throw SteleException.refused(
          "record "
              + schema.getFullName()
              + " needs one field with \"stele\": \"ROW\", and others for columns; it has "
              + rows.size()
              + " and "
              + (columns.size() + families.size()));
    }
    this.row = rows.get(0).ofRow();
    checkApart();
  }

  /** Two fields in one place would overwrite, or delete, each other's cells. */
  private void checkApart() {
    Map<String, RecordField> maps = new HashMap<>();
    families.forEach(
        (field, family) -> {
          RecordField other = maps.putIfAbsent(family, field);
          if (other != null) {
            throw field.refused("is family " + family + ", as is field " + other.name());
          }
        });
    Map<Column, RecordField> taken = new HashMap<>();
    columns.forEach(
        (field, places) -> {
          for (Column place : places) {
            RecordField map = maps.get(place.family());
            RecordField other = taken.put(place, field);
            if (map != null || (other != null && other != field)) {
              throw field.refused(
                  "is, or was under an old name, in column "
                      + place
                      + ", as is field "
                      + (map != null ? map : other).name()
                      + ": give each a place of its own, or drop the alias once no row has the"
                      + " column of the old name");
            }
          }
        });
  }

  /** The property of a field, or else of its record. */
  private String place(RecordField field, Schema.Field of) {
    String own = of.getProp(PROPERTY);
    String family = schema.getProp(PROPERTY);
    if (own == null && family == null) {
      throw field.refused(
          "needs \"stele\": \"FAMILY:QUALIFIER\", or the record \"stele\": \"FAMILY\"");
    }
    String place = own == null ? family + ":" + of.name() : own;
    if (!place.equals(ROW) && !place.equals(NOWHERE) && place.indexOf(':') < 1) {
      throw field.refused(
          "has \"stele\": \"" + place + "\": it may be ROW, FAMILY:QUALIFIER, FAMILY:* or -");
    }
    return place;
  }

  /** Where a field is, and after that where it was under its old names. */
  private List<Column> columns(Schema.Field field, String place) {
    Set<Column> all = new LinkedHashSet<>(); // A field may have its own name as an alias.
    all.add(Column.parse(place));
    if (field.getProp(PROPERTY) == null) {
      field.aliases().forEach(old -> all.add(Column.of(schema.getProp(PROPERTY), old)));
    }
    return List.copyOf(all);
  }

  /**
   * The mapping of a class: either one that Avro has generated, or any class with a constructor
   * without parameters, whose schema Avro's reflection then derives.
   *
   * @throws SteleException REFUSED if a field cannot be mapped as its property says, or is not
   *     declared as a type that is read
   */
  public static <T> RecordMapping<T> of(Class<T> type) {
    boolean generated = SpecificRecord.class.isAssignableFrom(type);
    SpecificData model =
        generated ? SpecificData.getForClass(type) : new ReflectData(type.getClassLoader());
    Schema schema = model.getSchema(type);
    if (schema.getType() != Schema.Type.RECORD) {
      throw SteleException.refused(type.getName() + " is not an Avro record but " + schema);
    }
    return new RecordMapping<>(model, schema, generated ? Optional.empty() : Optional.of(type));
  }

  /**
   * The mapping of a schema.
   *
   * @throws SteleException REFUSED if it is not the schema of a record, or a field cannot be mapped
   *     as its property says
   */
  public static RecordMapping<GenericRecord> of(Schema schema) {
    if (schema.getType() != Schema.Type.RECORD) {
      throw SteleException.refused("a schema of records is needed, not " + schema);
    }
    return new RecordMapping<>(GenericData.get(), schema, Optional.empty());
  }

  /**
   * The mapping of a schema.
   *
   * @param json the schema, as in a file {@code .avsc}
   * @throws SteleException also REFUSED if the text is not a schema
   */
  public static RecordMapping<GenericRecord> parse(String json) {
    try {
      return of(new Schema.Parser().parse(json));
    } catch (AvroRuntimeException e) {
      throw new SteleException(
          SteleException.Code.REFUSED, "this is not an Avro schema: " + e.getMessage(), e);
    }
  }

  /** The schema of the records. */
  public Schema schema() {
    return schema;
  }

  /** The query for the rows: the newest versions of the columns to which fields are mapped. */
  public RowQuery query() {
    RowQuery query = RowQuery.ALL.versions(1);
    for (String family : families.values()) {
      query = query.family(family);
    }
    for (List<Column> places : columns.values()) {
      for (Column column : places) {
        query = query.column(column);
      }
    }
    return query;
  }

  /**
   * Makes the row equal to {@code record}: puts the fields that are not null, and deletes the
   * columns of null fields, the columns of old names, and the columns of keys that are no longer in
   * a map.
   *
   * @throws SteleException REFUSED if a field is null that must not be, or a value is not of its
   *     field's type
   */
  public Mutation mutation(T record) {
    return mutation(record, false);
  }

  /**
   * As {@link #mutation}, for a row that has no cells yet, such as those of a table that a job
   * replaces: only puts the fields that are not null. If such a job writes several records of one
   * row, the row gets the fields of all.
   *
   * @return no edits if there is nothing to put: then it must not be written
   * @throws SteleException REFUSED if a field is null that must not be, or a value is not of its
   *     field's type
   */
  public Mutation newRow(T record) {
    return mutation(record, true);
  }

  private Mutation mutation(T record, boolean isNew) {
    Mutation.Builder mutation = Mutation.builder(row.value(record).orElseThrow(row::isNull));
    columns.forEach(
        (field, places) -> {
          Optional<Bytes> value = field.value(record);
          Column now = places.get(0);
          value.ifPresent(bytes -> mutation.put(now.family(), now.qualifier(), bytes));
          if (isNew) {
            return;
          }
          places.stream()
              .skip(value.isPresent() ? 1 : 0)
              .map(gone -> new Edit.DeleteColumn(gone.family(), gone.qualifier(), TimeRange.ALL))
              .forEach(mutation::with);
        });
    families.forEach(
        (field, family) -> {
          if (!isNew) {
            mutation.deleteFamily(family);
          }
          field.values(record).forEach((key, value) -> mutation.put(family, key, value));
        });
    return mutation.build();
  }

  /**
   * The record that is in a row.
   *
   * @param from read by {@link #query}, or by a wider one
   * @throws SteleException REFUSED if a value is not of its field's type, or a column is missing
   *     whose field has no default
   */
  @SuppressWarnings("unchecked") // The model makes records of the schema's class.
  public T record(Row from) {
    Object record = model.newRecord(null, schema);
    row.set(record, from, Optional.of(from.key()));
    nowhere.forEach(field -> field.set(record, from, Optional.empty()));
    columns.forEach(
        (field, places) ->
            field.set(
                record,
                from,
                places.stream()
                    .flatMap(column -> from.cell(column.family(), column.qualifier()).stream())
                    .findFirst()
                    .map(Cell::value)));
    families.forEach((field, family) -> field.setMap(record, from, from.family(family)));
    return (T) record;
  }
}
