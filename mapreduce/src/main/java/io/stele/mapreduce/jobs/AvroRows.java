package io.stele.mapreduce.jobs;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import io.stele.model.SteleException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.hadoop.conf.Configuration;

/**
 * Rows as Avro records, which any Avro tool can read:
 *
 * <pre>
 * record Row { bytes key; array of Cell cells; }
 * record Cell { string family; bytes qualifier; long timestamp; bytes value; }
 * </pre>
 *
 * Timestamps are in microseconds. A reader of files may meet a row in several records.
 */
final class AvroRows {
  private static final String NAMESPACE = "io.stele.export";

  static final Schema CELL =
      SchemaBuilder.record("Cell")
          .namespace(NAMESPACE)
          .fields()
          .requiredString("family")
          .requiredBytes("qualifier")
          .requiredLong("timestamp")
          .requiredBytes("value")
          .endRecord();

  static final Schema ROW =
      SchemaBuilder.record("Row")
          .namespace(NAMESPACE)
          .fields()
          .requiredBytes("key")
          .name("cells")
          .type()
          .array()
          .items(CELL)
          .noDefault()
          .endRecord();

  /** Where Avro's job settings keep the schema of the input's keys. */
  static final String INPUT_SCHEMA_KEY = "avro.schema.input.key";

  /** Where Avro's job settings keep the schema of the output's keys. */
  static final String OUTPUT_SCHEMA_KEY = "avro.schema.output.key";

  private AvroRows() {}

  /**
   * Keeps Hadoop from replacing variables such as {@code ${user.name}} in a schema that a
   * configuration has under {@code key}: a dollar sign is only in its strings, as which JSON has
   * another form.
   */
  static void keepVariables(Configuration conf, String key) {
    String schema = conf.getRaw(key);
    if (schema != null) {
      conf.set(key, schema.replace("$", "\\u0024"));
    }
  }

  static GenericRecord encode(Row row) {
    List<GenericRecord> cells = new ArrayList<>();
    for (Cell cell : row.cells()) {
      GenericRecord record = new GenericData.Record(CELL);
      record.put("family", cell.family());
      record.put("qualifier", ByteBuffer.wrap(cell.qualifier().toByteArray()));
      record.put("timestamp", cell.timestampMicros());
      record.put("value", ByteBuffer.wrap(cell.value().toByteArray()));
      cells.add(record);
    }
    GenericRecord record = new GenericData.Record(ROW);
    record.put("key", ByteBuffer.wrap(row.key().toByteArray()));
    record.put("cells", cells);
    return record;
  }

  /**
   * The row of a record.
   *
   * @throws SteleException REFUSED if it is of another kind, or has a timestamp below 0, which
   *     would stand for that of the write
   */
  static Row decode(GenericRecord record) {
    try {
      List<Cell> cells = new ArrayList<>();
      for (Object item : (List<?>) record.get("cells")) {
        GenericRecord cell = (GenericRecord) item;
        requireTimestamp((Long) cell.get("timestamp"), record);
        cells.add(
            new Cell(
                cell.get("family").toString(),
                bytes(cell.get("qualifier")),
                (Long) cell.get("timestamp"),
                bytes(cell.get("value"))));
      }
      return new Row(bytes(record.get("key")), cells);
    } catch (ClassCastException | NullPointerException e) {
      throw new SteleException(
          SteleException.Code.REFUSED,
          "the file has records of " + record.getSchema().getFullName() + ", not rows of a table",
          e);
    }
  }

  private static void requireTimestamp(long timestamp, GenericRecord row) {
    if (timestamp < 0) {
      throw SteleException.refused(
          "a cell of row \""
              + bytes(row.get("key"))
              + "\" has timestamp "
              + timestamp
              + ": write timestamps from 0 on, in microseconds since 1970");
    }
  }

  private static Bytes bytes(Object value) {
    ByteBuffer buffer = ((ByteBuffer) value).duplicate();
    byte[] copy = new byte[buffer.remaining()];
    buffer.get(copy);
    return Bytes.of(copy);
  }
}
