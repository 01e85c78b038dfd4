package io.stele.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.airlift.compress.Compressor;
import io.stele.Seeds;
import io.stele.model.Codec;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.xerial.snappy.Snappy;

class CompressionTest {
  private static final byte UNTOUCHED = 0x5a;

  /** Every way to compress, those included that are not used where there is a better one. */
  private enum Way {
    SNAPPY(new SnappyCodec()),
    LZ4(new Lz4Codec()),
    DEFLATE(new DeflateCodec()),
    JAVA_ZSTD(new JavaZstdCodec()),
    NATIVE_ZSTD(new NativeZstdCodec(3)),
    NATIVE_ZSTD_HIGH(new NativeZstdCodec(6));

    final BlockCodec codec;

    Way(BlockCodec codec) {
      this.codec = codec;
    }
  }

  static LongStream seeds() {
    return Seeds.of(3);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void whatWasCompressedComesBack(long seed) throws IOException {
    for (Way way : Way.values()) {
      Random random = new Random(seed);
      for (int i = 0; i < 200; i++) {
        byte[] raw = text(random, random.nextInt(10_000));
        byte[] target = room(way, raw);
        int length = way.codec.compress(raw, 0, raw.length, target);
        assertThat(back(way, target, length, raw.length)).as("%s", way).isEqualTo(raw);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void whatCannotBeCompressedHasRoom(Way way) throws IOException {
    for (int length : new int[] {0, 1, 7, 100, 65_536, 300_000}) {
      byte[] raw = new byte[length];
      new Random(length).nextBytes(raw);
      byte[] target = room(way, raw);
      int size = way.codec.compress(raw, 0, length, target);
      assertThat(back(way, target, size, length)).isEqualTo(raw);
    }
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void theMostThatAByteCanStandForIsKnown(Way way) {
    byte[] raw = new byte[8 << 20];
    int size = way.codec.compress(raw, 0, raw.length, room(way, raw));
    assertThat(raw.length).isLessThanOrEqualTo((int) (size * way.codec.expansionMax()));
  }

  /** Beyond 8 MiB the decoder in Java takes only frames whose window is the whole. */
  @ParameterizedTest
  @EnumSource(names = {"NATIVE_ZSTD", "NATIVE_ZSTD_HIGH"})
  void whatTheNativeLibraryWritesIsReadInJava(Way way) throws IOException {
    for (int length : new int[] {0, 1, 1000, 70_000, 1 << 20, 20 << 20}) {
      byte[] raw = text(new Random(length), length);
      byte[] target = room(way, raw);
      int size = way.codec.compress(raw, 0, length, target);
      assertThat(back(Way.JAVA_ZSTD, target, size, length)).isEqualTo(raw);
    }
  }

  @Test
  void whatJavaWritesIsReadByTheNativeLibrary() throws IOException {
    for (int length : new int[] {0, 1, 1000, 70_000, 1 << 20}) {
      byte[] raw = text(new Random(length), length);
      byte[] target = room(Way.JAVA_ZSTD, raw);
      int size = Way.JAVA_ZSTD.codec.compress(raw, 0, length, target);
      assertThat(back(Way.NATIVE_ZSTD, target, size, length)).isEqualTo(raw);
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void whatWasNotCompressedIsRefusedOrHarmless(long seed) {
    for (Way way : Way.values()) {
      Random random = new Random(seed);
      byte[] raw = text(random, 5000);
      byte[] good = room(way, raw);
      int length = way.codec.compress(raw, 0, raw.length, good);
      for (int i = 0; i < 1000; i++) {
        byte[] bad = Arrays.copyOf(good, length);
        for (int flips = random.nextInt(4); flips >= 0; flips--) {
          bad[random.nextInt(length)] ^= (byte) (1 + random.nextInt(255));
        }
        refusedOrHarmless(way, bad, random.nextInt(length + 1), raw.length, seed);
        refusedOrHarmless(way, bad, length, random.nextInt(2 * raw.length), seed);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void garbageIsRefusedOrHarmless(long seed) {
    for (Way way : Way.values()) {
      Random random = new Random(seed);
      for (int i = 0; i < 1000; i++) {
        byte[] bad = new byte[random.nextInt(200)];
        random.nextBytes(bad);
        if (bad.length > 4 && way.name().contains("ZSTD")) {
          bad[0] = 0x28; // What a frame begins with, so that there is more to get wrong.
          bad[1] = (byte) 0xb5;
          bad[2] = 0x2f;
          bad[3] = (byte) 0xfd;
        }
        refusedOrHarmless(way, bad, bad.length, random.nextInt(1000), seed);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void whatWasCutOffIsRefused(Way way) {
    byte[] raw = text(new Random(1), 5000);
    byte[] target = room(way, raw);
    int length = way.codec.compress(raw, 0, raw.length, target);
    assertThatThrownBy(() -> back(way, target, length / 2, raw.length))
        .isInstanceOf(MalformedException.class);
    assertThatThrownBy(() -> back(way, target, length, raw.length + 1))
        .isInstanceOf(MalformedException.class);
    assertThatThrownBy(() -> back(way, target, 0, raw.length))
        .isInstanceOf(MalformedException.class);
  }

  @ParameterizedTest
  @EnumSource(Codec.class)
  void everyCodecHasItsCode(Codec codec) {
    assertThat(Compression.ofCode(Compression.code(codec))).contains(codec);
    assertThat(Compression.ofCode(77)).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(value = Codec.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void manyThreadsCompressAtOnce(Codec codec) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try {
      List<Callable<Boolean>> tasks =
          IntStream.range(0, 200)
              .mapToObj(i -> (Callable<Boolean>) () -> isKept(codec, i))
              .toList();
      for (Future<Boolean> task : threads.invokeAll(tasks)) {
        assertThat(task.get()).isTrue();
      }
    } finally {
      threads.shutdown();
    }
  }

  private static boolean isKept(Codec codec, int seed) throws IOException {
    byte[] raw = text(new Random(seed), 1000 * seed);
    byte[] target = new byte[Compression.roomFor(codec, raw.length)];
    int length = Compression.compress(codec, raw, 0, raw.length, target);
    byte[] back = new byte[raw.length];
    Compression.uncompress(codec, target, 0, length, back, raw.length);
    return Arrays.equals(back, raw) && Compression.isPlausible(codec, length, raw.length);
  }

  @ParameterizedTest
  @EnumSource(value = Codec.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void aTargetThatIsTooShortIsNotWrittenTo(Codec codec) {
    byte[] raw = text(new Random(1), 1000);
    byte[] target = new byte[Compression.roomFor(codec, raw.length) - 1];
    assertThat(Compression.compress(codec, raw, 0, raw.length, target)).isEqualTo(-1);
    assertThat(target).containsOnly(0);
  }

  /** As in a job: its tasks have no jar of the native library. */
  @Test
  void zstandardWorksWithoutTheNativeLibrary() throws Exception {
    URL[] classPath =
        Stream.of(Compression.class, Compressor.class, Snappy.class, Logger.class)
            .map(type -> type.getProtectionDomain().getCodeSource().getLocation())
            .toArray(URL[]::new);
    try (URLClassLoader job = new URLClassLoader(classPath, ClassLoader.getPlatformClassLoader())) {
      byte[] raw = text(new Random(1), 100_000);
      byte[] target = new byte[200_000];
      Class<?> there = job.loadClass(Compression.class.getName());
      Class<?> codecs = job.loadClass(Codec.class.getName());
      for (String name : List.of("ZSTD", "ZSTD_HIGH", "LZ4")) {
        Object codec = codecs.getMethod("valueOf", String.class).invoke(null, name);
        int length =
            (int)
                there
                    .getMethod("compress", codecs, byte[].class, int.class, int.class, byte[].class)
                    .invoke(null, codec, raw, 0, raw.length, target);
        byte[] back = new byte[raw.length];
        Compression.uncompress(Codec.valueOf(name), target, 0, length, back, raw.length);
        assertThat(back).isEqualTo(raw);
      }
      assertThatThrownBy(() -> job.loadClass("com.github.luben.zstd.Zstd"))
          .isInstanceOf(ClassNotFoundException.class);
    }
  }

  private static void refusedOrHarmless(
      Way way, byte[] bytes, int length, int rawLength, long seed) {
    try {
      back(way, bytes, length, rawLength);
    } catch (MalformedException e) {
      assertThat(e).hasMessageContaining("at byte");
    } catch (RuntimeException | Error e) {
      throw new AssertionError(way + ", seed " + seed + ": not refused in order", e);
    }
  }

  /** What comes of uncompressing exactly these bytes; nothing beside it may be written. */
  private static byte[] back(Way way, byte[] source, int length, int rawLength)
      throws MalformedException {
    byte[] target = new byte[rawLength + 100];
    Arrays.fill(target, UNTOUCHED);
    try {
      way.codec.uncompress(source, 0, length, target, rawLength);
    } finally {
      for (int i = rawLength; i < target.length; i++) {
        assertThat(target[i]).as("%s wrote beyond %s", way, rawLength).isEqualTo(UNTOUCHED);
      }
    }
    return Arrays.copyOf(target, rawLength);
  }

  private static byte[] room(Way way, byte[] raw) {
    return new byte[(int) way.codec.roomFor(raw.length)];
  }

  /** Words, some of them again and again. */
  private static byte[] text(Random random, int length) {
    StringBuilder text = new StringBuilder(length + 20);
    while (text.length() < length) {
      text.append(Integer.toString(random.nextInt(random.nextBoolean() ? 50 : 1_000_000), 36));
      text.append(random.nextInt(20) == 0 ? "</p>\n<p>" : " ");
    }
    return text.substring(0, length).getBytes(StandardCharsets.ISO_8859_1);
  }
}
