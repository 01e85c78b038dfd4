package io.stele.format;

import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/** A raw deflate stream, without gzip's header and checksum. */
final class DeflateCodec implements BlockCodec {
  private final Pool<Deflater> deflaters =
      new Pool<>(() -> new Deflater(Deflater.BEST_SPEED, true), Deflater::end);
  private final Pool<Inflater> inflaters = new Pool<>(() -> new Inflater(true), Inflater::end);

  @Override
  public long expansionMax() {
    return 1032; // 258 bytes in two bits.
  }

  @Override
  public long roomFor(int length) {
    return 64L + length + length / 1000; // Zlib's own bound at its usual settings is less.
  }

  @Override
  public int compress(byte[] source, int offset, int length, byte[] target) {
    Deflater deflater = deflaters.take();
    try {
      deflater.reset();
      deflater.setInput(source, offset, length);
      deflater.finish();
      int size = deflater.deflate(target);
      if (!deflater.finished()) {
        throw new IllegalStateException(
            "deflating " + length + " bytes made more than " + target.length);
      }
      return size;
    } finally {
      deflaters.giveBack(deflater);
    }
  }

  @Override
  public void uncompress(byte[] source, int offset, int length, byte[] target, int rawLength)
      throws MalformedException {
    Inflater inflater = inflaters.take();
    try {
      inflater.reset();
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
      inflaters.giveBack(inflater);
    }
  }
}
