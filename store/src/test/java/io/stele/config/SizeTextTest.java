package io.stele.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SizeTextTest {
  @Test
  void eachUnitIs1024OfTheOneBefore() {
    Map.of(
            "0", 0L,
            "7", 7L,
            "3k", 3L << 10,
            "64m", 64L << 20,
            "1g", 1L << 30,
            "2t", 2L << 40,
            "5p", 5L << 50,
            "7e", 7L << 60,
            "1025", 1025L)
        .forEach(
            (text, bytes) -> {
              assertThat(SizeText.parse(text)).isEqualTo(bytes);
              assertThat(SizeText.of(bytes)).isEqualTo(text);
            });
    assertThat(SizeText.parse("64M")).isEqualTo(64 << 20);
    assertThat(SizeText.of(Long.MAX_VALUE)).isEqualTo("" + Long.MAX_VALUE);
    assertThat(SizeText.parse("" + Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void whatIsNoSizeIsRefused() {
    for (String text : List.of("", "k", "-1", "1.5m", "64mb", "64 m", "much")) {
      assertThatThrownBy(() -> SizeText.parse(text))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("a size is a number and")
          .hasMessageContaining("not \"" + text + "\"");
    }
    for (String text : List.of("8e", "9223372036854775808", "99999999999g")) {
      assertThatThrownBy(() -> SizeText.parse(text))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("\"" + text + "\" is out of range");
    }
  }
}
