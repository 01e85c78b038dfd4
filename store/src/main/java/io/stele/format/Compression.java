package io.stele.format;

import io.stele.model.Codec;
import java.io.IOException;
import java.util.Optional;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.xerial.snappy.Snappy;

/**
 * What each {@link Codec} does to bytes, and the number it is stored under.
 *
 * <p>Snappy is the raw format without framing; gzip is a raw deflate stream without gzip's header
 * and checksum, since every block has a checksum of its own. Safe for use by any number of threads.
 */
public final class Compression {
  /** No codec makes less than one byte of so many. */
  private static final long EXPANSION_MAX = 1100;

  private Compression() {}

  /** The number that stands for {@code codec} on disk. */
  public static int code(Codec codec) {
    return switch (codec) {
      case NONE -> 0;
      case SNAPPY -> 1;
      case GZIP -> 2;
    };
  }

  /** The codec stored as {@code code}, if there is one. */
  public static Optional<Codec> ofCode(int code) {
    return switch (code) {
      case 0 -> Optional.of(Codec.NONE);
      case 1 -> Optional.of(Codec.SNAPPY);
      case 2 -> Optional.of(Codec.GZIP);
      default -> Optional.empty();
    };
  }

  /**
   * Compresses bytes.
   *
   * @param target gets the result, from 0 on
   * @return the result's length; or -1 where the codec is NONE, or the result has no room in {@code
   *     target}
   */
  public static int compress(Codec codec, byte[] source, int offset, int length, byte[] target)
      throws IOException {
    return switch (codec) {
      case NONE -> -1;
      case SNAPPY ->
          target.length < Snappy.maxCompressedLength(length)
              ? -1
              : Snappy.compress(source, offset, length, target, 0);
      case GZIP -> deflate(source, offset, length, target);
    };
  }

  /** The length of a {@code target} in which the result of compressing has room. */
  public static int roomFor(int length) {
    return Snappy.maxCompressedLength(length);
  }

  /**
   * Gives back what was compressed.
   *
   * @param target gets the result, from 0 on; at least {@code rawLength} long
   * @param rawLength the result's length
   * @throws MalformedException where the bytes are not the result of compressing so many
   */
  public static void uncompress(
      Codec codec, byte[] source, int offset, int length, byte[] target, int rawLength)
      throws MalformedException {
    switch (codec) {
      case NONE -> System.arraycopy(source, offset, target, 0, rawLength);
      case SNAPPY -> unsnappy(source, offset, length, target, rawLength);
      case GZIP -> inflate(source, offset, length, target, rawLength);
    }
  }

  /** Whether {@code length} bytes may be the compressed form of {@code rawLength} bytes. */
  public static boolean isPlausible(Codec codec, int length, int rawLength) {
    return codec == Codec.NONE
        ? length == rawLength
        : length >= 0 && rawLength >= 0 && rawLength <= length * EXPANSION_MAX;
  }

  private static void unsnappy(byte[] source, int offset, int length, byte[] target, int rawLength)
      throws MalformedException {
    try {
      int stored = Snappy.uncompressedLength(source, offset, length);
      if (stored != rawLength) {
        throw new MalformedException(
            0, "a Snappy block has " + stored + " bytes, not " + rawLength);
      }
      Snappy.uncompress(source, offset, length, target, 0);
    } catch (MalformedException e) {
      throw e;
    } catch (IOException e) {
      throw new MalformedException(0, "not a Snappy block: " + e.getMessage());
    }
  }

  private static int deflate(byte[] source, int offset, int length, byte[] target) {
    Deflater deflater = new Deflater(Deflater.BEST_SPEED, true);
    try {
      deflater.setInput(source, offset, length);
      deflater.finish();
      int size = 0;
      while (!deflater.finished()) {
        if (size == target.length) {
          return -1;
        }
        size += deflater.deflate(target, size, target.length - size);
      }
      return size;
    } finally {
      deflater.end();
    }
  }

  private static void inflate(byte[] source, int offset, int length, byte[] target, int rawLength)
      throws MalformedException {
    Inflater inflater = new Inflater(true);
    try {
      inflater.setInput(source, offset, length);
      int size = 0;
      while (size < rawLength) {
        int more = inflater.inflate(target, size, rawLength - size);
        if (more == 0) {
          throw new MalformedException(size, "a deflate stream ends before " + rawLength);
        }
        size += more;
      }
    } catch (DataFormatException e) {
      throw new MalformedException(0, "not a deflate stream: " + e.getMessage());
    } finally {
      inflater.end();
    }
  }
}
