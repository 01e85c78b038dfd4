package io.stele.mapreduce.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.model.Limits;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ImportTextTest {
  private static String whyBad(String... values) {
    return ImportText.whyBad(
        Stream.of(values).map(Bytes::of).toList(), List.of("f:a", ImportText.ROW));
  }

  @Test
  void aBadLineIsToldItsOwnReasonAlone() {
    assertThat(whyBad("a", "b", "c")).isEqualTo("has 3 fields, but --fields names 2");
    assertThat(whyBad("a,b"))
        .isEqualTo("has 1 field, but --fields names 2 (--separator says what separates them)");
    assertThat(whyBad("a", "")).isEqualTo("has an empty row key");
    assertThat(whyBad("a", "r".repeat(Limits.ROW_BYTES_MAX + 1)))
        .isEqualTo("has a row key of 65537 bytes, above 65536");
  }
}
