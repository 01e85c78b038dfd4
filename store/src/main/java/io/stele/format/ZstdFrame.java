package io.stele.format;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What is common to all Zstandard frames (RFC 8878). */
final class ZstdFrame {
  /** A block of a frame is at most 128 KiB and takes at least 4 bytes. */
  static final long EXPANSION_MAX = (128 << 10) / 4;

  private static final Logger LOG = LoggerFactory.getLogger(ZstdFrame.class);

  private ZstdFrame() {}

  /** Not less than the libraries' own bounds, whether in one frame or in one for each MiB. */
  static long roomFor(int length) {
    return 128L + length + length / 256 + 128L * (length >>> 20);
  }

  static void checkLength(int size, int rawLength) throws MalformedException {
    if (size != rawLength) {
      throw new MalformedException(0, "a Zstandard frame has " + size + " bytes, not " + rawLength);
    }
  }

  /** The codec for {@code level}: the native one where its library can be loaded. */
  static BlockCodec codec(int level) {
    try {
      return new NativeZstdCodec(level);
    } catch (LinkageError e) {
      LOG.info(
          "Zstandard runs in Java at half the speed: the native library cannot be loaded ({})",
          e.toString());
      return new JavaZstdCodec();
    }
  }
}
