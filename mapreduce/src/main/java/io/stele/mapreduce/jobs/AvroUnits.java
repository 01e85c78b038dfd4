package io.stele.mapreduce.jobs;

import io.stele.model.SteleException;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.avro.Schema;

/**
 * The units of numbers in Avro files: {@code timestamp-millis} counts other things than {@code
 * timestamp-micros}. Avro's resolution of schemas looks only at the plain types, which are the
 * same, or of which one is read as the other, and would return milliseconds, or days, as if they
 * were microseconds.
 */
final class AvroUnits {
  private static final List<String> TIMES = List.of("-millis", "-micros", "-nanos");

  /** As what Avro reads a number of type int. */
  private static final Set<Schema.Type> FROM_INT =
      Set.of(Schema.Type.LONG, Schema.Type.FLOAT, Schema.Type.DOUBLE);

  /** The property of a schema that says where a field is stored, and what says nowhere. */
  private static final String STORED = "stele";

  private static final String NOWHERE = "-";

  /** Records that are compared, or have been: a record may have itself in a field. */
  private final Set<Records> compared = new HashSet<>();

  /** The names of a record as it was written, and as it is read. */
  private record Records(String written, String read) {}

  private AvroUnits() {}

  /**
   * Checks that numbers in a file have the units that its reader takes them for. Where one of both
   * says nothing of a unit, there is nothing to check; nor is there in fields that are not stored.
   *
   * @param written the schema with which the file was written
   * @param read the schema with which it is read
   * @throws SteleException REFUSED if a field has another unit
   */
  static void check(Schema written, Schema read) {
    new AvroUnits().check(written, read, Optional.empty(), "");
  }

  private void check(Schema written, Schema read, Optional<String> expected, String field) {
    if (written.getType() == Schema.Type.UNION) {
      written.getTypes().forEach(one -> check(one, read, expected, field));
      return;
    }
    if (read.getType() == Schema.Type.UNION) {
      branch(written, read).ifPresent(one -> check(written, one, expected, field));
      return;
    }
    Optional<String> is = unit(written);
    Optional<String> meant = unit(read).or(() -> expected);
    if (is.isPresent() && meant.isPresent() && !is.equals(meant)) {
      throw SteleException.refused(
          "its field "
              + field
              + " has numbers with "
              + is.get()
              + ", but they would be read as numbers with "
              + meant.get()
              + ": convert the file"
              + (expected.isPresent() ? "" : ", or name the unit of the file in the schema"));
    }
    if (written.getType() != read.getType()) {
      return; // What does not fit together, Avro tells.
    }
    switch (read.getType()) {
      case RECORD -> checkFields(written, read, field);
      case ARRAY -> check(written.getElementType(), read.getElementType(), Optional.empty(), field);
      case MAP -> check(written.getValueType(), read.getValueType(), Optional.empty(), field);
      default -> {}
    }
  }

  private void checkFields(Schema written, Schema read, String above) {
    if (compared.add(new Records(written.getFullName(), read.getFullName()))) {
      read.getFields().stream()
          .filter(one -> !NOWHERE.equals(one.getProp(STORED)))
          .forEach(one -> checkField(written, read, one, above));
    }
  }

  private void checkField(Schema written, Schema read, Schema.Field one, String above) {
    // Records of whole rows have microseconds, and no logical type.
    Optional<String> expected =
        read.equals(AvroRows.CELL) && one.name().equals("timestamp")
            ? Optional.of("unit micros")
            : Optional.empty();
    Stream.concat(Stream.of(one.name()), one.aliases().stream())
        .map(written::getField)
        .filter(found -> found != null)
        .findFirst()
        .ifPresent(
            found ->
                check(
                    found.schema(),
                    one.schema(),
                    expected,
                    above.isEmpty() ? found.name() : above + "." + found.name()));
  }

  /** The branch of a union as which Avro reads {@code written}, if there is one. */
  private static Optional<Schema> branch(Schema written, Schema union) {
    List<Schema> same =
        union.getTypes().stream().filter(one -> one.getType() == written.getType()).toList();
    return same.stream()
        .filter(one -> one.getFullName().equals(written.getFullName()))
        .findFirst()
        .or(() -> same.stream().findFirst())
        .or(() -> wider(written, union));
  }

  private static Optional<Schema> wider(Schema written, Schema union) {
    return written.getType() == Schema.Type.INT
        ? union.getTypes().stream().filter(one -> FROM_INT.contains(one.getType())).findFirst()
        : Optional.empty();
  }

  private static Optional<String> unit(Schema schema) {
    String logical = schema.getProp("logicalType");
    if (logical == null) {
      return Optional.empty();
    }
    if (logical.equals("decimal")) {
      Object scale = schema.getObjectProp("scale");
      return Optional.of("scale " + (scale == null ? 0 : scale));
    }
    if (logical.equals("date")) {
      return Optional.of("unit days");
    }
    return TIMES.stream()
        .filter(logical.toLowerCase(Locale.ROOT)::endsWith)
        .findFirst()
        .map(suffix -> "unit " + suffix.substring(1));
  }
}
