package io.stele.format;

import io.airlift.compress.MalformedInputException;
import io.airlift.compress.lz4.Lz4Compressor;
import io.airlift.compress.lz4.Lz4Decompressor;

/** LZ4's block format, without a frame. */
final class Lz4Codec implements BlockCodec {
  private final Pool<Lz4Compressor> compressors = new Pool<>(Lz4Compressor::new, unused -> {});
  private final Lz4Decompressor decompressor = new Lz4Decompressor(); // Has no state.

  @Override
  public long expansionMax() {
    return 255;
  }

  @Override
  public long roomFor(int length) {
    return 16L + length + length / 255;
  }

  @Override
  public int compress(byte[] source, int offset, int length, byte[] target) {
    Lz4Compressor compressor = compressors.take();
    try {
      return compressor.compress(source, offset, length, target, 0, target.length);
    } finally {
      compressors.giveBack(compressor);
    }
  }

  @Override
  public void uncompress(byte[] source, int offset, int length, byte[] target, int rawLength)
      throws MalformedException {
    int size;
    try {
      size = decompressor.decompress(source, offset, length, target, 0, rawLength);
    } catch (MalformedInputException e) {
      throw new MalformedException((int) e.getOffset(), "not an LZ4 block: " + e.getMessage());
    }
    if (size != rawLength) {
      throw new MalformedException(0, "an LZ4 block has " + size + " bytes, not " + rawLength);
    }
  }
}
