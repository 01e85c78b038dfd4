package io.stele.format;

import com.github.luben.zstd.ZstdCompressCtx;
import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;
import com.github.luben.zstd.util.Native;
import java.nio.ByteBuffer;

/**
 * Zstandard frames written by the native library at a given level. The window spans the block, so
 * that every repetition within it is found.
 *
 * <p>Compression goes through buffers outside the heap: the library stops garbage collection while
 * it holds arrays of the heap, and a large block takes milliseconds. Decompression is about ten
 * times as fast and uses the arrays directly.
 */
final class NativeZstdCodec implements BlockCodec {
  /** The largest window that any decoder must take; a larger block has a window of 8 MiB. */
  private static final int WINDOW_LOG_MAX = 27;

  private static final int WINDOW_LOG_BEYOND = 23;

  /** Buffers larger than this are not kept: such blocks are rare. */
  private static final int KEPT_BYTES_MAX = 4 << 20;

  private final Pool<Compressor> compressors;
  private final Pool<ZstdDecompressCtx> decompressors =
      new Pool<>(ZstdDecompressCtx::new, ZstdDecompressCtx::close);

  /**
   * A codec that compresses at {@code level}.
   *
   * @throws LinkageError where the library is not on the class path, or not for this machine
   */
  NativeZstdCodec(int level) {
    Native.load();
    compressors = new Pool<>(() -> new Compressor(level), Compressor::close);
  }

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
    Compressor compressor = compressors.take();
    try {
      return compressor.compress(source, offset, length, target);
    } finally {
      if (compressor.isLarge()) {
        compressor.close();
      } else {
        compressors.giveBack(compressor);
      }
    }
  }

  @Override
  public void uncompress(byte[] source, int offset, int length, byte[] target, int rawLength)
      throws MalformedException {
    ZstdDecompressCtx decompressor = decompressors.take();
    int size;
    try {
      size = decompressor.decompressByteArray(target, 0, rawLength, source, offset, length);
    } catch (ZstdException e) {
      throw new MalformedException(0, "not a Zstandard frame: " + e.getMessage());
    } finally {
      decompressors.giveBack(decompressor);
    }
    ZstdFrame.checkLength(size, rawLength);
  }

  /** A context with its buffers. */
  private static final class Compressor implements AutoCloseable {
    private final ZstdCompressCtx context = new ZstdCompressCtx();
    private ByteBuffer in = ByteBuffer.allocateDirect(0);
    private ByteBuffer out = ByteBuffer.allocateDirect(0);

    Compressor(int level) {
      context.setLevel(level);
    }

    int compress(byte[] source, int offset, int length, byte[] target) {
      int room = (int) Math.min(target.length, ZstdFrame.roomFor(length));
      if (in.capacity() < length) {
        in = ByteBuffer.allocateDirect(length);
      }
      if (out.capacity() < room) {
        out = ByteBuffer.allocateDirect(room);
      }
      in.put(0, source, offset, length);
      context.setWindowLog(length <= 1 << WINDOW_LOG_MAX ? WINDOW_LOG_MAX : WINDOW_LOG_BEYOND);
      int size = context.compressDirectByteBuffer(out, 0, room, in, 0, length);
      out.get(0, target, 0, size);
      return size;
    }

    boolean isLarge() {
      return in.capacity() > KEPT_BYTES_MAX;
    }

    @Override
    public void close() {
      context.close();
    }
  }
}
