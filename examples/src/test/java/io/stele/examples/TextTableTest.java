package io.stele.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TextTableTest {
  @Test
  void textIsToTheLeftAndNumbersToTheRight() {
    TextTable table = new TextTable("page", "views", "");
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
