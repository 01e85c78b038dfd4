package io.stele.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class FilterTextTest {
  private static void means(String text, Filter filter) {
    assertThat(FilterText.parse(text)).as(text).isEqualTo(filter);
  }

  @Test
  void everyFilterCanBeWritten() {
    means("pass_all", new Filter.PassAll());
    means(" block_all ( ) ", new Filter.BlockAll());
    means("row_key_regex('com\\.(a|b), \"c\"')", new Filter.RowKeyRegex("com\\.(a|b), \"c\""));
    means("row_sample(0.25)", new Filter.RowSample(0.25));
    means("family_regex(\"a'.*\")", new Filter.FamilyRegex("a'.*"));
    means("qualifier_regex('.*')", new Filter.QualifierRegex(".*"));
    means("column_range('f', 'a', '')", new Filter.ColumnRange("f", Bytes.of("a"), Bytes.EMPTY));
    means("column_is('f:a:\\x00')", new Filter.ColumnIs(Column.parse("f:a:\\x00")));
    means("value_regex('')", new Filter.ValueRegex(""));
    means("value_range('', '\\xff')", new Filter.ValueRange(Bytes.EMPTY, Bytes.parse("\\xff")));
    means("value_is('en')", new Filter.ValueIs(Bytes.of("en")));
    means("cells_per_row_limit(3)", new Filter.CellsPerRowLimit(3));
    means("cells_per_row_offset(3)", new Filter.CellsPerRowOffset(3));
    means("cells_per_column_limit(1)", new Filter.CellsPerColumnLimit(1));
    means("strip_value", new Filter.StripValue());
    means("label('x')", new Filter.Label("x"));
    means(
        "chain(column_is('language:'), cells_per_column_limit(1), value_is('en'))",
        Filter.newestIs(Column.of("language", ""), Bytes.of("en")));
    means(
        "interleave(pass_all,interleave())",
        new Filter.Interleave(List.of(new Filter.PassAll(), new Filter.Interleave(List.of()))));
    means(
        "condition(value_is('a'), pass_all(), block_all)",
        new Filter.Condition(
            new Filter.ValueIs(Bytes.of("a")), new Filter.PassAll(), new Filter.BlockAll()));
  }

  @Test
  void timesAreWrittenAsOnTheCommandLine() {
    Filter january =
        new Filter.TimestampRange(
            TimeRange.of(
                Instant.parse("2026-01-01T00:00:00Z"), Instant.parse("2026-02-01T00:00:00Z")));
    means("timestamp_range(2026-01-01T00:00:00Z, 2026-02-01T00:00:00Z)", january);
    means("timestamp_range(1767225600000000,1769904000000000)", january);
    means(
        "timestamp_range(2026-01-01T00:00:00Z)",
        new Filter.TimestampRange(TimeRange.since(Instant.parse("2026-01-01T00:00:00Z"))));
    means(
        "chain(timestamp_range(0, 1970-01-01T00:00:00.000007Z))",
        new Filter.Chain(List.of(new Filter.TimestampRange(new TimeRange(0, 7)))));
    refused(
        "timestamp_range(1767225600000, 1769904000000)", "at character 17: 1767225600000 micro");
    refused("timestamp_range(1767225600000, 1769904000000)", "not in milliseconds");
    refused("timestamp_range(0, 1769904000000)", "at character 20: ");
    refused("timestamp_range(today, 0)", "at character 17: write a time such as 2026-01-31T12");
    refused(
        "timestamp_range(2026-02-01T00:00:00Z, 2026-01-01T00:00:00Z)",
        "at character 17: a time range needs 0 <= from <= to");
  }

  private static void refused(String text, String why) {
    assertThatThrownBy(() -> FilterText.parse(text))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining(why);
  }

  @Test
  void whatIsWrongIsToldWithItsPlace() {
    refused("", "at character 1: a filter is needed, one of pass_all, block_all, row_key_regex");
    refused("chain(pass_all, pas_all)", "at character 17: a filter is needed");
    refused("chain(pass_all", "at character 15: \")\" is needed");
    refused("pass_all)", "at character 9: nothing can follow a filter");
    refused("value_is(en)", "at character 10: a string is needed");
    refused("value_is('en", "at character 10: a string is needed");
    refused("value_is('\\q')", "at character 10: ");
    refused("column_is('language')", "a column is needed, as 'family:qualifier'");
    refused("cells_per_row_limit(two)", "a whole number is needed, not \"two\"");
    refused("cells_per_row_limit(3000000000)", "a count of cells is needed");
    refused("cells_per_row_limit(-1)", "0 or more, not -1");
    refused("row_sample(2)", "0 to 1, not 2.0");
    refused("value_range('a')", "\",\" is needed");
    refused("value_regex('(')", "(");
    refused("value_regex('caf\u00e9')", "are not ASCII");
    refused("chain(".repeat(200) + "pass_all", "deep");
  }
}
