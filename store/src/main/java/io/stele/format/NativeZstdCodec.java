package io.stele.format;

import com.github.luben.zstd.ZstdCompressCtx;
import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;
import com.github.luben.zstd.util.Native;
import java.nio.ByteBuffer;

/**
 * Zstandard frames written by the native library at a given level. The window spans the block, so
 * that every repetition within it is found; of a block of more than 1 MiB, which mostly is one
 * large value, each MiB is a frame of its own, and a decoder reads them as one.
 *
 * <p>Compression goes through buffers outside the heap: the library stops garbage collection while
 * it holds arrays of the heap, and a large block takes milliseconds. Each compression under way has
 * {@link #DIRECT_BYTES} of them, whatever it compresses. Decompression is about ten times as fast
 * and uses the arrays directly.
 */
final class NativeZstdCodec implements BlockCodec {
  private static final int FRAME_BYTES_MAX = 1 << 20;
  private static final int WINDOW_LOG = 20;

  /** What one compression takes outside the heap at most, in bytes. */
  static final int DIRECT_BYTES =
      FRAME_BYTES_MAX + Math.toIntExact(ZstdFrame.roomFor(FRAME_BYTES_MAX));

  private final Pool<Compressor> compressors;
  private final Pool<ZstdDecompressCtx> decompressors =
      new Pool<>(ZstdDecompressCtx::new, ZstdDecompressCtx::close);

  /**
   * A codec that compresses at {@code level}.
   *
   * @throws LinkageError if the library is not on the class path, or not for this machine
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
      compressors.giveBack(compressor);
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
      context.setWindowLog(WINDOW_LOG);
    }

    int compress(byte[] source, int offset, int length, byte[] target) {
      int size = 0;
      int done = 0;
      do { // An empty block is a frame, too.
        int part = Math.min(length - done, FRAME_BYTES_MAX);
        int room = Math.toIntExact(ZstdFrame.roomFor(part));
        reserve(part, room);
        in.put(0, source, offset + done, part);
        int compressed = context.compressDirectByteBuffer(out, 0, room, in, 0, part);
        out.get(0, target, size, compressed);
        size += compressed;
        done += part;
      } while (done < length);
      return size;
    }

    private void reserve(int bytes, int room) {
      if (in.capacity() < bytes) {
        in = ByteBuffer.allocateDirect(bytes);
      }
      if (out.capacity() < room) {
        out = ByteBuffer.allocateDirect(room);
      }
    }

    @Override
    public void close() {
      context.close();
    }
  }
}
