package io.stele.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Codec;
import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CompressionTest {
  @ParameterizedTest
  @EnumSource(
      value = Codec.class,
      names = {"SNAPPY", "GZIP"})
  void whatWasCompressedComesBack(Codec codec) throws IOException {
    Random random = new Random(1);
    for (int i = 0; i < 200; i++) {
      byte[] raw = randomText(random, random.nextInt(10_000));
      byte[] target = new byte[Compression.roomFor(raw.length)];
      int length = Compression.compress(codec, raw, 0, raw.length, target);
      assertThat(Compression.isPlausible(codec, length, raw.length)).isTrue();
      byte[] back = new byte[raw.length + 3];
      Compression.uncompress(codec, target, 0, length, back, raw.length);
      assertThat(Arrays.copyOf(back, raw.length)).isEqualTo(raw);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Codec.class,
      names = {"SNAPPY", "GZIP"})
  void whatWasNotCompressedIsRefusedOrHarmless(Codec codec) throws IOException {
    Random random = new Random(1);
    byte[] raw = randomText(random, 5000);
    byte[] good = new byte[Compression.roomFor(raw.length)];
    int length = Compression.compress(codec, raw, 0, raw.length, good);
    byte[] back = new byte[raw.length];
    for (int i = 0; i < 3000; i++) {
      byte[] bad = good.clone();
      bad[random.nextInt(length)] ^= (byte) (1 + random.nextInt(255));
      try {
        Compression.uncompress(codec, bad, 0, random.nextInt(length + 1), back, raw.length);
      } catch (MalformedException e) {
        assertThat(e).hasMessageContaining("at byte");
      }
    }
    assertThatThrownBy(() -> Compression.uncompress(codec, good, 0, length / 2, back, raw.length))
        .isInstanceOf(MalformedException.class);
  }

  @ParameterizedTest
  @EnumSource(Codec.class)
  void everyCodecHasItsCode(Codec codec) {
    assertThat(Compression.ofCode(Compression.code(codec))).contains(codec);
    assertThat(Compression.ofCode(77)).isEmpty();
  }

  private static byte[] randomText(Random random, int length) {
    byte[] text = new byte[length];
    for (int i = 0; i < length; i++) {
      text[i] = (byte) ('a' + random.nextInt(1 + i % 4));
    }
    return text;
  }
}
