package io.stele.sstable;

import io.stele.format.ByteWriter;
import io.stele.format.Compression;
import io.stele.model.Codec;
import java.io.IOException;
import java.io.OutputStream;
import java.util.zip.CRC32C;

/**
 * Frames, compresses and appends blocks to a file. Knows the file's length. Not safe for use by
 * several threads.
 */
final class BlockWriter {
  /** A larger buffer is not kept for the next block: a block so large is rare. */
  private static final int KEPT_BYTES_MAX = 4 << 20;

  private final OutputStream out;
  private final long fileId;
  private final Codec codec;
  private final ByteWriter frame = new ByteWriter(64);
  private byte[] compressed = new byte[0];
  private long position;
  private boolean broken;

  BlockWriter(OutputStream out, long fileId, Codec codec) {
    this.out = out;
    this.fileId = fileId;
    this.codec = codec;
  }

  /** The file's length so far. */
  long position() {
    return position;
  }

  /** Whether a write failed: the file's last bytes are then unknown. */
  boolean isBroken() {
    return broken;
  }

  /** Appends bytes outside of any block. */
  void raw(byte[] bytes) throws IOException {
    broken = true;
    append(bytes, bytes.length);
    position += bytes.length;
    broken = false;
  }

  /** Appends a block. */
  Handle write(BlockKind kind, byte[] contents, int length) throws IOException {
    broken = true;
    byte[] stored = contents;
    int storedLength = length;
    Codec storedCodec = Codec.NONE;
    if (codec != Codec.NONE) {
      int room = Compression.roomFor(codec, length);
      if (compressed.length < room) {
        compressed = new byte[room];
      }
      int size = Compression.compress(codec, contents, 0, length, compressed);
      if (size >= 0 && size <= length - length / 8 - 1) {
        stored = compressed;
        storedLength = size;
        storedCodec = codec;
      }
    }
    frame.clear();
    frame.writeInt(storedLength).writeInt(length).writeByte(kind.code());
    frame.writeByte(Compression.code(storedCodec));
    CRC32C crc = new CRC32C();
    crc.update(frame.array(), 0, frame.size());
    crc.update(stored, 0, storedLength);
    append(frame.array(), frame.size());
    append(stored, storedLength);
    if (compressed.length > KEPT_BYTES_MAX) {
      compressed = new byte[0];
    }
    frame.clear();
    frame.writeLong(fileId).writeLong(position);
    crc.update(frame.array(), 0, frame.size());
    frame.clear();
    frame.writeInt((int) crc.getValue());
    append(frame.array(), frame.size());
    Handle handle = new Handle(position, storedLength + SSTableFormat.BLOCK_OVERHEAD_BYTES);
    position += handle.length();
    broken = false;
    return handle;
  }

  private void append(byte[] bytes, int length) throws IOException {
    out.write(bytes, 0, length);
  }
}
