package io.stele.format;

import io.airlift.compress.Compressor;
import io.stele.model.Codec;
import java.util.List;
import java.util.Optional;

/**
 * What each {@link Codec} does to bytes, and the number it is stored under.
 *
 * <p>Each writes the raw format without header and checksum, since every block has these: Snappy
 * and LZ4 blocks, and a deflate stream. Zstandard has frames, without checksum. Safe for use by any
 * number of threads.
 */
public final class Compression {
  private static final int ZSTD_LEVEL = 3;
  private static final int ZSTD_HIGH_LEVEL = 6;

  private Compression() {}

  /** Each is made when first asked for, so that libraries that are not needed are not loaded. */
  private static final class Snappy {
    static final BlockCodec CODEC = new SnappyCodec();
  }

  private static final class Lz4 {
    static final BlockCodec CODEC = new Lz4Codec();
  }

  private static final class Deflate {
    static final BlockCodec CODEC = new DeflateCodec();
  }

  private static final class Zstd {
    static final BlockCodec CODEC = ZstdFrame.codec(ZSTD_LEVEL);
  }

  private static final class ZstdHigh {
    static final BlockCodec CODEC = ZstdFrame.codec(ZSTD_HIGH_LEVEL);
  }

  /** The number of {@code codec} on disk. */
  public static int code(Codec codec) {
    return switch (codec) {
      case NONE -> 0;
      case SNAPPY -> 1;
      case GZIP -> 2;
      case LZ4 -> 3;
      case ZSTD -> 4;
      case ZSTD_HIGH -> 5;
    };
  }

  /** The codec stored as {@code code}, if there is one. */
  public static Optional<Codec> ofCode(int code) {
    return switch (code) {
      case 0 -> Optional.of(Codec.NONE);
      case 1 -> Optional.of(Codec.SNAPPY);
      case 2 -> Optional.of(Codec.GZIP);
      case 3 -> Optional.of(Codec.LZ4);
      case 4 -> Optional.of(Codec.ZSTD);
      case 5 -> Optional.of(Codec.ZSTD_HIGH);
      default -> Optional.empty();
    };
  }

  /**
   * One class of each library that a program needs, besides Hadoop's own, to read and write what
   * the servers do. A job finds by them the jars to take along.
   */
  public static List<Class<?>> libraries() {
    return List.of(Compressor.class);
  }

  /**
   * Compresses bytes.
   *
   * @param target gets the result, from 0 on
   * @return the result's length; or -1 where the codec is NONE, or {@code target} is shorter than
   *     the result may be
   */
  public static int compress(Codec codec, byte[] source, int offset, int length, byte[] target) {
    if (codec == Codec.NONE || target.length < of(codec).roomFor(length)) {
      return -1;
    }
    return of(codec).compress(source, offset, length, target);
  }

  /**
   * The length that {@code target} needs to hold the result of compressing; less where no array can
   * be that long.
   */
  public static int roomFor(Codec codec, int length) {
    return codec == Codec.NONE
        ? 0
        : (int) Math.min(of(codec).roomFor(length), Integer.MAX_VALUE - 8);
  }

  /**
   * Restores what was compressed.
   *
   * @param target gets the result, from 0 on; at least {@code rawLength} long
   * @param rawLength the result's length
   * @throws MalformedException if the bytes are not the result of compressing that many bytes
   */
  public static void uncompress(
      Codec codec, byte[] source, int offset, int length, byte[] target, int rawLength)
      throws MalformedException {
    if (codec == Codec.NONE) {
      System.arraycopy(source, offset, target, 0, rawLength);
    } else {
      of(codec).uncompress(source, offset, length, target, rawLength);
    }
  }

  /** Whether {@code length} bytes may be the compressed form of {@code rawLength} bytes. */
  public static boolean isPlausible(Codec codec, int length, int rawLength) {
    return codec == Codec.NONE
        ? length == rawLength
        : length >= 0 && rawLength >= 0 && rawLength <= length * of(codec).expansionMax();
  }

  private static BlockCodec of(Codec codec) {
    return switch (codec) {
      case NONE -> throw new IllegalArgumentException("no compressor for " + codec);
      case SNAPPY -> Snappy.CODEC;
      case LZ4 -> Lz4.CODEC;
      case GZIP -> Deflate.CODEC;
      case ZSTD -> Zstd.CODEC;
      case ZSTD_HIGH -> ZstdHigh.CODEC;
    };
  }
}
