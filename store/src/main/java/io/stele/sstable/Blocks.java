package io.stele.sstable;

import io.stele.format.Compression;
import io.stele.format.MalformedException;
import io.stele.model.Codec;
import io.stele.model.CorruptionException;
import java.io.IOException;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * The blocks of one file: read, checked, uncompressed, and kept in the cache. Safe for use by any
 * number of threads.
 */
final class Blocks {
  private final StoredFile file;
  private final long fileId;
  private final BlockCache cache;

  Blocks(StoredFile file, long fileId, BlockCache cache) {
    this.file = file;
    this.fileId = fileId;
    this.cache = cache;
  }

  StoredFile file() {
    return file;
  }

  long fileId() {
    return fileId;
  }

  /** The index block at {@code handle}, which is of {@code level} and has entries. */
  IndexBlock index(BlockKind kind, Handle handle, int level, ReadOptions options)
      throws IOException {
    CachedBlock block =
        cached(handle, options, () -> decodeIndex(read(kind, handle), handle.offset()));
    if (block instanceof IndexBlock index && index.level() == level && index.count() > 0) {
      return index;
    }
    throw file.corrupt(handle.offset(), "here should be an index block of level " + level);
  }

  /** The Bloom filter block at {@code handle}. */
  BloomBlock bloom(Handle handle, ReadOptions options) throws IOException {
    CachedBlock block =
        cached(handle, options, () -> decodeBloom(read(BlockKind.BLOOM, handle), handle.offset()));
    if (block instanceof BloomBlock bloom) {
      return bloom;
    }
    throw file.corrupt(handle.offset(), "here should be a Bloom filter block");
  }

  /** The data block at {@code handle}, from the cache or from {@code loader}. */
  DataBlock data(Handle handle, ReadOptions options, BlockCache.Loader loader) throws IOException {
    if (cached(handle, options, loader) instanceof DataBlock data) {
      return data;
    }
    throw file.corrupt(handle.offset(), "here should be a data block");
  }

  /** Reads and checks a block, by no cache. */
  Contents read(BlockKind kind, Handle handle) throws IOException {
    byte[] bytes = new byte[handle.length()];
    file.readFully(handle.offset(), bytes, 0, bytes.length);
    return check(kind, handle, bytes, 0, new byte[0]);
  }

  /**
   * Checks and uncompresses a block.
   *
   * @param bytes has the block as it is in the file, from {@code at} on
   * @param scratch may be used for what is uncompressed, if it is large enough
   * @return the contents: in {@code bytes}, in {@code scratch}, or in an array of their own
   */
  Contents check(BlockKind kind, Handle handle, byte[] bytes, int at, byte[] scratch)
      throws CorruptionException {
    BlockHeader header = BlockHeader.decode(bytes, at);
    int length = handle.length() - SSTableFormat.BLOCK_OVERHEAD_BYTES;
    int contentsAt = at + SSTableFormat.BLOCK_HEADER_BYTES;
    if (BlockHeader.intAt(bytes, contentsAt + length) != checksum(handle, bytes, at)) {
      throw file.corrupt(handle.offset(), "the " + kind + " block does not match its checksum");
    }
    if (header.length() != length || header.kind() != kind.code()) {
      throw file.corrupt(
          handle.offset(),
          "here should be a " + kind + " block of " + length + " bytes, but there is " + header);
    }
    Codec codec =
        Compression.ofCode(header.codec())
            .filter(known -> Compression.isPlausible(known, length, header.rawLength()))
            .orElseThrow(
                () -> file.corrupt(handle.offset(), "there cannot be a block like " + header));
    if (codec == Codec.NONE) {
      return new Contents(bytes, contentsAt, length);
    }
    int rawLength = header.rawLength();
    byte[] raw = scratch.length >= rawLength ? scratch : new byte[rawLength];
    try {
      Compression.uncompress(codec, bytes, contentsAt, length, raw, rawLength);
    } catch (MalformedException e) {
      throw corrupt(handle.offset(), kind, e);
    }
    return new Contents(raw, 0, rawLength);
  }

  /** Decodes an index block. */
  IndexBlock decodeIndex(Contents contents, long offset) throws CorruptionException {
    try {
      return IndexBlock.decode(contents, file.length());
    } catch (MalformedException e) {
      throw corrupt(offset, BlockKind.INDEX, e);
    }
  }

  /** Decodes a Bloom filter block. */
  BloomBlock decodeBloom(Contents contents, long offset) throws CorruptionException {
    try {
      return new BloomBlock(contents);
    } catch (MalformedException e) {
      throw corrupt(offset, BlockKind.BLOOM, e);
    }
  }

  /** What a decoder found wrong in a block whose checksum is right. */
  CorruptionException corrupt(long offset, BlockKind kind, MalformedException cause) {
    CorruptionException corruption =
        file.corrupt(offset, "in the " + kind + " block, " + cause.getMessage());
    corruption.initCause(cause);
    return corruption;
  }

  private CachedBlock cached(Handle handle, ReadOptions options, BlockCache.Loader loader)
      throws IOException {
    return options.memoryOnly()
        ? cache.getIfPresent(fileId, handle.offset()).orElseThrow(NotInMemoryException::new)
        : cache.get(fileId, handle.offset(), loader);
  }

  private int checksum(Handle handle, byte[] bytes, int at) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, at, handle.length() - SSTableFormat.CRC_BYTES);
    byte[] place = new byte[2 * Long.BYTES];
    putLong(place, 0, fileId);
    putLong(place, Long.BYTES, handle.offset());
    crc.update(place, 0, place.length);
    return (int) crc.getValue();
  }

  private static void putLong(byte[] bytes, int at, long value) {
    for (int i = 0; i < Long.BYTES; i++) {
      bytes[at + i] = (byte) (value >>> (8 * i));
    }
  }

  /** A part of {@code contents} that keeps no larger array alive. */
  static Contents compact(Contents contents) {
    byte[] copy =
        Arrays.copyOfRange(
            contents.array(), contents.offset(), contents.offset() + contents.length());
    return new Contents(copy, 0, copy.length);
  }
}
