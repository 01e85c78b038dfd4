package io.stele.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class BytesTest {
  @Test
  void bytesSortAsUnsignedNumbers() {
    assertThat(Bytes.wrap(new byte[] {(byte) 0x80})).isGreaterThan(Bytes.wrap(new byte[] {0x7f}));
    assertThat(Bytes.of("a")).isLessThan(Bytes.of("aa"));
    assertThat(Bytes.EMPTY).isLessThan(Bytes.of("\0"));
  }

  @Test
  void theSuccessorIsTheNextOfAll() {
    Bytes row = Bytes.of("row").slice(1, 3);
    assertThat(row.successor()).isEqualTo(Bytes.of("ow\0")).isGreaterThan(row);
  }

  @Test
  void thePrefixEndIsAboveAllWithThePrefixAndNothingElse() {
    assertThat(Bytes.of("ab").prefixEnd()).isEqualTo(Bytes.of("ac"));
    assertThat(Bytes.wrap(new byte[] {'a', (byte) 0xff}).prefixEnd()).isEqualTo(Bytes.of("b"));
    assertThat(Bytes.wrap(new byte[] {(byte) 0xff, (byte) 0xff}).prefixEnd())
        .isEqualTo(Bytes.EMPTY);
    assertThat(Bytes.EMPTY.prefixEnd()).isEqualTo(Bytes.EMPTY);
  }

  @Test
  void whatIsShownCanBeParsed() {
    Random random = new Random(1);
    for (int i = 0; i < 2000; i++) {
      byte[] bytes = new byte[random.nextInt(10)];
      random.nextBytes(bytes);
      for (int j = 0; j < bytes.length; j++) {
        bytes[j] = random.nextBoolean() ? (byte) "\\xa0".charAt(random.nextInt(4)) : bytes[j];
      }
      Bytes shown = Bytes.of(bytes);
      assertThat(Bytes.parse(shown.toString())).isEqualTo(shown);
    }
  }

  @Test
  void whatIsWrittenWronglyIsRefused() {
    assertThat(Bytes.parse("a\\x00\\\\\u00e9")).isEqualTo(Bytes.of("a\0\\\u00e9"));
    for (String wrong : new String[] {"\\", "a\\q", "\\x0", "\\xzz"}) {
      assertRefused(() -> Bytes.parse(wrong));
    }
  }

  @Test
  void rangesTheWrongWayRoundAreRefused() {
    assertRefused(() -> RowRange.of("b", "a"));
    assertRefused(() -> new TimeRange(2, 1));
    assertRefused(() -> new TimeRange(-1, 1));
  }

  private static void assertRefused(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED));
  }

  @Test
  void slicesAreEqualToWhatTheyShow() {
    Bytes slice = Bytes.of("abcdef").slice(2, 4);
    assertThat(slice).isEqualTo(Bytes.of("cd")).hasSameHashCodeAs(Bytes.of("cd"));
    assertThat(slice.compact().toByteArray()).isEqualTo(new byte[] {'c', 'd'});
    assertThat(slice.concat(Bytes.of("x"))).isEqualTo(Bytes.of("cdx"));
    assertThat(Bytes.of("abcdef").startsWith(Bytes.of("abc"))).isTrue();
    assertThat(slice.startsWith(Bytes.of("abc"))).isFalse();
    assertThatThrownBy(() -> slice.at(2)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void numbersHaveEightBytes() {
    assertThat(Bytes.ofLong(-2).toLong()).isEqualTo(-2);
    assertThatThrownBy(() -> Bytes.of("short").toLong()).isInstanceOf(IllegalStateException.class);
  }
}
