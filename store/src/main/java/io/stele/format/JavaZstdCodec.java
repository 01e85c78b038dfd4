package io.stele.format;

import io.airlift.compress.zstd.ZstdCompressor;
import io.airlift.compress.zstd.ZstdDecompressor;

/**
 * Zstandard frames in plain Java, for programs without the native library, such as jobs, which get
 * no more jars than they need. It always writes at about level 3, at half the speed of the native
 * library, and reads every frame that {@link NativeZstdCodec} writes.
 */
final class JavaZstdCodec implements BlockCodec {
  @Override
  public long expansionMax() {
    return ZstdFrame.EXPANSION_MAX;
  }

  @Override
  public long roomFor(int length) {
    return ZstdFrame.roomFor(length);
  }

  @Override
  public int compress(byte[] source, int offset, int length, byte[] target) {
    return new ZstdCompressor().compress(source, offset, length, target, 0, target.length);
  }

  @Override
  public void uncompress(byte[] source, int offset, int length, byte[] target, int rawLength)
      throws MalformedException {
    int size;
    try {
      size = new ZstdDecompressor().decompress(source, offset, length, target, 0, rawLength);
    } catch (RuntimeException e) { // It throws many kinds for what is no frame.
      throw new MalformedException(0, "not a Zstandard frame: " + e);
    }
    ZstdFrame.checkLength(size, rawLength);
  }
}
