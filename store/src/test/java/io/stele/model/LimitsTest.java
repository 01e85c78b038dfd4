package io.stele.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** What cannot be made at all, whatever the schema. */
class LimitsTest {
  private static final Bytes ROW = Bytes.of("r");
  private static final Bytes Q = Bytes.of("q");
  private static final String LONG_QUALIFIER = "a qualifier has 65537 bytes: the limit is 65536";

  private static Bytes bytes(int length) {
    return Bytes.of("x".repeat(length));
  }

  private static void refused(ThrowingCallable what, String message) {
    SteleException refusal = catchThrowableOfType(SteleException.class, what);
    assertThat(refusal).as("not refused: %s", message).isNotNull().hasMessage(message);
    assertThat(refusal.code()).isEqualTo(SteleException.Code.REFUSED);
  }

  @Test
  void rowKeysHaveALength() {
    String empty = "the row key is empty: give it 1 to 65536 bytes";
    refused(() -> Mutation.of(""), empty);
    refused(() -> RowQuery.row(""), empty);
    refused(() -> ReadModifyWrite.increment(Bytes.EMPTY, "f", Q, 1), empty);
    assertThat(Mutation.of(bytes(65536)).row().length()).isEqualTo(65536);
    refused(
        () -> Mutation.of(bytes(65537)),
        "the row key starting \"" + "x".repeat(32) + "\" has 65537 bytes: the limit is 65536");
  }

  @Test
  void namesArePrintable() {
    for (String name : List.of("", "a:b", "a b", "\u00e4", "x".repeat(256))) {
      String why =
          " cannot name a family: a name is 1 to 255 printable ASCII characters without ':' and"
              + " space";
      String message = "\"" + Bytes.of(name) + "\"" + why;
      refused(() -> ColumnFamily.of(name), message);
      refused(() -> Mutation.of("r").put(name, "q", "v"), message);
      refused(() -> Mutation.of("r").deleteCell(name, Q, 1), message);
      refused(() -> Mutation.of("r").deleteColumn(name, "q"), message);
      refused(() -> Mutation.of("r").deleteFamily(name), message);
      refused(() -> ReadModifyWrite.increment(ROW, name, Q, 1), message);
      refused(() -> RowQuery.ALL.family(name), message);
      refused(() -> RowQuery.ALL.column(name, "q"), message);
      refused(() -> LocalityGroup.of(name), message.replace("family", "locality group"));
    }
  }

  @Test
  void oneQueryNamesSoManyFamiliesAndColumns() {
    List<Column> columns = Collections.nCopies(10_000, Column.of("f", "q"));
    List<RowRange> ranges = Collections.nCopies(20_000, RowRange.ALL);
    RowQuery most = query(ranges, List.of(), columns);
    assertThat(most.columns()).hasSize(10_000);
    assertThat(most.ranges()).hasSize(20_000);
    refused(
        () -> query(ranges, List.of("f"), columns),
        "a query names 10001 families and columns: the limit is 10000; name whole families, use a"
            + " filter, or make several queries of it");
  }

  private static RowQuery query(
      List<RowRange> ranges, List<String> families, List<Column> columns) {
    return new RowQuery(
        ranges, families, columns, 1, TimeRange.ALL, Long.MAX_VALUE, Optional.empty());
  }

  @Test
  void qualifiersHaveAGreatestLength() {
    Bytes tooLong = bytes(65537);
    refused(() -> Mutation.of("r").put("f", tooLong, Q), LONG_QUALIFIER);
    refused(() -> Mutation.of("r").deleteCell("f", tooLong, 1), LONG_QUALIFIER);
    refused(() -> Mutation.of("r").deleteColumn("f", tooLong, TimeRange.ALL), LONG_QUALIFIER);
    refused(() -> ReadModifyWrite.append(ROW, "f", tooLong, Q), LONG_QUALIFIER);
    refused(() -> RowQuery.ALL.column("f", tooLong.toUtf8()), LONG_QUALIFIER);
  }

  @Test
  void timestampsAreInRange() {
    String message = "a timestamp must be 0 to 9223372036854775806 microseconds, not ";
    refused(() -> Mutation.of("r").put("f", Q, -2, Q), message + "-2");
    refused(() -> Mutation.of("r").put("f", Q, Long.MAX_VALUE, Q), message + Long.MAX_VALUE);
    refused(() -> Mutation.of("r").deleteCell("f", Q, -1), message + "-1");
  }

  @Test
  void operationsHaveAGreatestNumberOfEdits() {
    refused(
        () -> new Mutation(ROW, Collections.nCopies(100_001, new Edit.DeleteRow())),
        "a mutation of row \"r\" has 100001 edits: the limit is 100000");
  }

  @Test
  void aReadModifyWriteHasSoManyRules() {
    ReadModifyWrite.Rule rule = new ReadModifyWrite.Increment("f", Q, 1);
    refused(
        () -> new ReadModifyWrite(ROW, List.of()),
        "a read-modify-write of row \"r\" has 0 rules: give it 1 to 10000");
    assertThat(new ReadModifyWrite(ROW, Collections.nCopies(10_000, rule)).rules()).hasSize(10_000);
    refused(
        () -> new ReadModifyWrite(ROW, Collections.nCopies(10_001, rule)),
        "a read-modify-write of row \"r\" has 10001 rules: give it 1 to 10000");
  }

  @Test
  void aConditionalMutationChangesTheRowItLooksAt() {
    refused(
        () ->
            new CheckAndMutate(
                ROW, new Filter.PassAll(), Mutation.of("r"), Mutation.of("other").deleteRow()),
        "a conditional mutation of row \"r\" may only change that row, not \"other\"");
  }

  @Test
  void readsAndFiltersHaveSensibleNumbers() {
    refused(() -> RowQuery.ALL.versions(0), "a read must ask for at least 1 version, not 0");
    refused(
        () -> new RowQuery(List.of(), List.of(), List.of(), 1, TimeRange.ALL, 0, Optional.empty()),
        "a read must ask for at least 1 row, not 0");
    refused(() -> new Filter.RowSample(1.5), "a sample's probability must be 0 to 1, not 1.5");
    refused(
        () -> new Filter.RowSample(Double.NaN), "a sample's probability must be 0 to 1, not NaN");
    String count = "a count of cells must be 0 or more, not -1";
    refused(() -> new Filter.CellsPerRowLimit(-1), count);
    refused(() -> new Filter.CellsPerRowOffset(-1), count);
    refused(() -> new Filter.CellsPerColumnLimit(-1), count);
  }
}
