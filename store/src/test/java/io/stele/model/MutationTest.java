package io.stele.model;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The ways to write down operations of rows. */
class MutationTest {
  @Test
  void aBuilderMakesWhatTheCallsMake() {
    Bytes column = Bytes.of("q");
    TimeRange range = new TimeRange(1, 2);
    assertThat(
            Mutation.builder("row")
                .put("f", "q", "value")
                .deleteCell("f", column, 7)
                .deleteColumn("f", "q")
                .deleteColumn("f", column, range)
                .deleteFamily("f")
                .deleteRow()
                .build())
        .isEqualTo(
            Mutation.of("row")
                .put("f", "q", "value")
                .deleteCell("f", column, 7)
                .deleteColumn("f", "q")
                .deleteColumn("f", column, range)
                .deleteFamily("f")
                .deleteRow());
  }

  @Test
  void textIsShortForItsBytes() {
    Bytes row = Bytes.of("row");
    Bytes column = Bytes.of("q");
    assertThat(ReadModifyWrite.increment("row", "f", "q", 2))
        .isEqualTo(ReadModifyWrite.increment(row, "f", column, 2));
    assertThat(ReadModifyWrite.append("row", "f", "q", "more"))
        .isEqualTo(ReadModifyWrite.append(row, "f", column, Bytes.of("more")));
    assertThat(RowRange.from("a")).isEqualTo(new RowRange(Bytes.of("a"), Bytes.EMPTY));
    assertThat(RowRange.until("b")).isEqualTo(new RowRange(Bytes.EMPTY, Bytes.of("b")));
  }
}
