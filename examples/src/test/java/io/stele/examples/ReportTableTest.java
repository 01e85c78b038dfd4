package io.stele.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReportTableTest {
  @Test
  void textIsToTheLeftAndNumbersToTheRight() {
    ReportTable table = new ReportTable("page", "views", "");
    table.row("/", 1234567, "x").row("/a/long/one", 1, "");
    assertThat(table.toString())
        .isEqualTo(
            """
              page             views
              /            1,234,567  x
              /a/long/one          1
            """);
  }
}
