package io.stele.format;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.xerial.snappy.Snappy;

/** Snappy's raw format, without framing. */
final class SnappyCodec implements BlockCodec {
  @Override
  public long expansionMax() {
    return 32; // A copy of 64 bytes takes three.
  }

  @Override
  public long roomFor(int length) {
    return 32L + length + length / 6;
  }

  @Override
  public int compress(byte[] source, int offset, int length, byte[] target) {
    try {
      return Snappy.compress(source, offset, length, target, 0);
    } catch (IOException e) {
      throw new UncheckedIOException("Snappy cannot compress " + length + " bytes", e);
    }
  }

  @Override
  public void uncompress(byte[] source, int offset, int length, byte[] target, int rawLength)
      throws MalformedException {
    int stored;
    try {
      stored = Snappy.uncompressedLength(source, offset, length);
      if (stored == rawLength) {
        Snappy.uncompress(source, offset, length, target, 0);
      }
    } catch (IOException e) {
      throw new MalformedException(0, "not a Snappy block: " + e.getMessage());
    }
    if (stored != rawLength) {
      throw new MalformedException(0, "a Snappy block has " + stored + " bytes, not " + rawLength);
    }
  }
}
