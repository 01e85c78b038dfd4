package io.stele.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.SteleException;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Test;

/** Records some of whose fields have logical types, such as points in time. */
class LogicalTypesTest {
  private static final Instant AT = Instant.parse("2024-02-29T12:00:00.123Z");
  private static final Instant UNTIL = Instant.parse("2024-02-29T12:00:00.123456Z");
  private static final String UUID = "0c3f0c1e-7a4e-4f55-9a29-1b8f7e1f7a10";

  private static final RecordMapping<Measurement> MAPPING = RecordMapping.of(Measurement.class);

  private static Measurement measurement() {
    Measurement one = new Measurement();
    one.id = "row";
    one.at = AT;
    one.until = UNTIL;
    one.day = LocalDate.of(2024, 2, 29);
    one.price = new BigDecimal("-12.34");
    one.plain = 77;
    one.uuid = UUID;
    one.seen = Map.of("here", AT);
    return one;
  }

  /** What the puts of a mutation leave in an empty row, by column. */
  private static Map<String, Bytes> puts(Mutation mutation) {
    Map<String, Bytes> puts = new TreeMap<>();
    for (Edit edit : mutation.edits()) {
      if (edit instanceof Edit.Put put) {
        puts.put(put.family() + ":" + put.qualifier(), put.value());
      }
    }
    return puts;
  }

  private static Row row(Map<String, Bytes> puts) {
    List<Cell> cells = new ArrayList<>();
    puts.forEach(
        (column, value) -> {
          String[] parts = column.split(":", 2);
          cells.add(new Cell(parts[0], Bytes.of(parts[1]), 1, value));
        });
    return new Row(Bytes.of("row"), cells);
  }

  @Test
  void valuesOfLogicalTypesAreStoredAsThePlainOnesOfTheSchema() {
    Map<String, Bytes> puts = puts(MAPPING.mutation(measurement()));
    assertThat(puts)
        .containsEntry("m:at", Bytes.ofLong(AT.toEpochMilli()))
        .containsEntry("m:until", Bytes.ofLong(AT.toEpochMilli() * 1000 + 456))
        .containsEntry("m:day", Bytes.ofLong(LocalDate.of(2024, 2, 29).toEpochDay()))
        .containsEntry("m:price", Bytes.of(new byte[] {(byte) 0xfb, 0x2e}))
        .containsEntry("m:plain", Bytes.ofLong(77))
        .containsEntry("m:uuid", Bytes.of(UUID))
        .containsEntry("seen:here", Bytes.ofLong(AT.toEpochMilli()));
  }

  @Test
  void aGeneratedRecordWithLogicalTypesComesBackAsItWas() {
    Measurement before = measurement();
    Measurement after = MAPPING.record(row(puts(MAPPING.mutation(before))));
    assertThat(after.id).hasToString("row");
    assertThat(after.at).isEqualTo(before.at);
    assertThat(after.until).isEqualTo(before.until);
    assertThat(after.day).isEqualTo(before.day);
    assertThat(after.price).isEqualTo(before.price);
    assertThat(after.plain).isEqualTo(77);
    assertThat(after.uuid).hasToString(UUID);
    assertThat(after.seen).isEqualTo(Map.of("here", AT));
  }

  @Test
  void fieldsOfLogicalTypesMayBeNullOrHaveDefaults() {
    Measurement before = measurement();
    before.until = null;
    Map<String, Bytes> puts = puts(MAPPING.mutation(before));
    puts.remove("m:day");
    Measurement after = MAPPING.record(row(puts));
    assertThat(after.until).isNull();
    assertThat(after.day).isEqualTo(LocalDate.ofEpochDay(10));
  }

  @Test
  void aValueThatItsLogicalTypeDoesNotAllowIsRefusedWithTheField() {
    Measurement one = measurement();
    one.price = new BigDecimal("1.234");
    assertThatThrownBy(() -> MAPPING.mutation(one))
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
        .hasMessageContaining("field price");
  }

  @Test
  void recordsOfASchemaHaveThePlainValues() {
    RecordMapping<GenericRecord> mapping = RecordMapping.of(Measurement.SCHEMA$);
    Map<String, Bytes> puts = puts(MAPPING.mutation(measurement()));
    GenericRecord record = mapping.record(row(puts));
    assertThat(record.get("at")).isEqualTo(AT.toEpochMilli());
    assertThat(puts(mapping.mutation(record))).isEqualTo(puts);
    GenericRecord wrong = new GenericData.Record((GenericData.Record) record, true);
    wrong.put("at", AT);
    assertThatThrownBy(() -> mapping.mutation(wrong))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("field at")
        .hasMessageContaining("java.time.Instant");
  }
}
