package io.stele.sstable;

import io.stele.format.ByteReader;
import io.stele.format.Compression;
import io.stele.format.MalformedException;
import io.stele.model.Codec;
import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The blocks of one file: read, checked, uncompressed, and kept in the cache. Safe for use by any
 * number of threads.
 */
final class Blocks {
  private static final Logger LOG = LoggerFactory.getLogger(Blocks.class);
  private static final byte[] NOTHING = new byte[0];

  /** A reader that may take the memory of any block. */
  static final MemoryClaim<RuntimeException> UNLIMITED = contentsBytes -> {};

  private final StoredFile file;
  private final long fileId;
  private final CachedFile cache;
  private final AtomicBoolean loading = new AtomicBoolean();

  /** The blocks of a file and its part of the cache, both closed by the caller. */
  Blocks(StoredFile file, long fileId, CachedFile cache) {
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

  CachedFile cache() {
    return cache;
  }

  /** The index block at {@code handle}, which is of {@code level} and has entries. */
  IndexBlock index(BlockKind kind, Handle handle, int level, ReadOptions options)
      throws IOException {
    CachedBlock block = cached(kind, handle, options, this::readStored);
    if (block instanceof IndexBlock index && index.level() == level && index.count() > 0) {
      return index;
    }
    throw file.corrupt(handle.offset(), "here should be an index block of level " + level);
  }

  /** The Bloom filter block at {@code handle}. */
  BloomBlock bloom(Handle handle, ReadOptions options) throws IOException {
    CachedBlock block = cached(BlockKind.BLOOM, handle, options, this::readStored);
    if (block instanceof BloomBlock bloom) {
      return bloom;
    }
    throw file.corrupt(handle.offset(), "here should be a Bloom filter block");
  }

  /** The data block at {@code handle}, from the cache or else from {@code source}. */
  DataBlock data(Handle handle, ReadOptions options, Source source) throws IOException {
    if (cached(BlockKind.DATA, handle, options, source) instanceof DataBlock data) {
      return data;
    }
    throw file.corrupt(handle.offset(), "here should be a data block");
  }

  /**
   * The data block at {@code handle}, if the cache has it. Puts nothing into the cache, except that
   * a file to be held whole is loaded first.
   */
  Optional<Contents> cachedData(Handle handle) throws IOException {
    if (cache.wantsWhole()) {
      loadWhole();
    }
    Optional<CachedBlock> here = cache.block(BlockKind.DATA, handle.offset());
    return here.isPresent() && here.get() instanceof DataBlock data
        ? Optional.of(data.cells())
        : Optional.empty();
  }

  /**
   * Answers for the memory of a block's contents.
   *
   * @param <E> what it throws if no such memory may be taken
   */
  @FunctionalInterface
  interface MemoryClaim<E extends Exception> {
    /** Called before a block is uncompressed, when its checksum is known to be right. */
    void claim(int contentsBytes) throws E;
  }

  /** Reads the blocks that are not in memory, and answers for the memory of their contents. */
  @FunctionalInterface
  interface Source {
    /** Reads a block. */
    StoredBlock read(Handle handle) throws IOException;

    /**
     * See {@link MemoryClaim#claim}.
     *
     * @throws NotInMemoryException if this reader must not take so much
     */
    default void claim(int contentsBytes) throws NotInMemoryException {}
  }

  /** Reads only this block from the file. */
  StoredBlock readStored(Handle handle) throws IOException {
    byte[] bytes = new byte[handle.length()];
    file.readFully(handle.offset(), bytes, 0, bytes.length);
    return new StoredBlock(bytes, 0, false);
  }

  /**
   * Caches a block that was read with others, unless it cannot be read or the file is to be whole.
   */
  void take(BlockKind kind, Handle handle, StoredBlock stored) {
    if (cache.wantsWhole()) {
      return;
    }
    try {
      cache.read(kind, handle, decode(kind, handle, stored, UNLIMITED), stored);
    } catch (CorruptionException | NewerFormatException e) {
      LOG.debug("A block that nobody has asked for yet was not cached", e);
    }
  }

  /** Reads and checks a block, bypassing the cache. */
  Contents read(BlockKind kind, Handle handle) throws IOException {
    checkLength(kind, handle);
    return check(kind, handle, readStored(handle), NOTHING, UNLIMITED);
  }

  /**
   * Reads and checks a meta block, bypassing the cache.
   *
   * @param stored the block, if it has been read already
   * @param contentsBytesMax it is damaged if its contents have more bytes
   */
  Contents meta(Handle handle, Optional<StoredBlock> stored, int contentsBytesMax)
      throws IOException {
    checkContents(handle, handle.length() - SSTableFormat.BLOCK_OVERHEAD_BYTES, contentsBytesMax);
    return check(
        BlockKind.META,
        handle,
        stored.isPresent() ? stored.get() : readStored(handle),
        NOTHING,
        (MemoryClaim<CorruptionException>)
            contentsBytes -> checkContents(handle, contentsBytes, contentsBytesMax));
  }

  /** Refuses a block whose stored form alone has more bytes than the contents of any such block. */
  private void checkLength(BlockKind kind, Handle handle) throws CorruptionException {
    checkContents(
        handle, handle.length() - SSTableFormat.BLOCK_OVERHEAD_BYTES, kind.contentsBytesMax());
  }

  private void checkContents(Handle handle, int bytes, int bytesMax) throws CorruptionException {
    if (bytes > bytesMax) {
      throw file.corrupt(
          handle.offset(), "no such block has " + bytes + " bytes: at most " + bytesMax);
    }
  }

  /**
   * Checks and uncompresses a block.
   *
   * @param scratch used for the uncompressed bytes if it is large enough
   * @param memory is asked before memory is taken for them
   * @return the contents: in the array of {@code stored}, in {@code scratch}, or in a new array
   */
  <E extends Exception> Contents check(
      BlockKind kind, Handle handle, StoredBlock stored, byte[] scratch, MemoryClaim<E> memory)
      throws CorruptionException, E {
    byte[] bytes = stored.bytes();
    int at = stored.at();
    BlockHeader header = BlockHeader.decode(bytes, at);
    int length = handle.length() - SSTableFormat.BLOCK_OVERHEAD_BYTES;
    int contentsAt = at + SSTableFormat.BLOCK_HEADER_BYTES;
    if (ByteReader.intAt(bytes, contentsAt + length) != checksum(handle, bytes, at)) {
      throw file.corrupt(handle.offset(), "the " + kind + " block does not match its checksum");
    }
    if (header.length() != length || header.kind() != kind.code()) {
      throw file.corrupt(
          handle.offset(),
          "here should be a " + kind + " block of " + length + " bytes, but there is " + header);
    }
    Codec codec =
        Optional.of(
                Compression.ofCode(header.codec())
                    .orElseThrow(() -> newer(handle.offset(), kind, "the codec " + header.codec())))
            .filter(known -> Compression.isPlausible(known, length, header.rawLength()))
            .filter(known -> header.rawLength() <= kind.contentsBytesMax())
            .orElseThrow(
                () -> file.corrupt(handle.offset(), "there cannot be a block like " + header));
    if (codec == Codec.NONE) {
      return new Contents(bytes, contentsAt, length);
    }
    int rawLength = header.rawLength();
    memory.claim(rawLength);
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

  /**
   * The error for a decoder failure in a block whose checksum is right.
   *
   * @throws NewerFormatException if a newer version wrote it
   */
  CorruptionException corrupt(long offset, BlockKind kind, MalformedException cause) {
    if (cause.isNewer()) {
      throw newer(offset, kind, cause.getMessage());
    }
    CorruptionException corruption =
        file.corrupt(offset, "in the " + kind + " block, " + cause.getMessage());
    corruption.initCause(cause);
    return corruption;
  }

  private NewerFormatException newer(long offset, BlockKind kind, String what) {
    return new NewerFormatException(
        file.path() + " in the " + kind + " block at offset " + offset, what);
  }

  private CachedBlock cached(BlockKind kind, Handle handle, ReadOptions options, Source source)
      throws IOException {
    Optional<CachedBlock> here = cache.block(kind, handle.offset());
    return here.isPresent() ? here.get() : load(kind, handle, options, source);
  }

  private CachedBlock load(BlockKind kind, Handle handle, ReadOptions options, Source source)
      throws IOException {
    if (cache.wantsWhole()) {
      if (options.memoryOnly()) {
        throw new NotInMemoryException();
      }
      loadWhole();
      Optional<CachedBlock> here = cache.block(kind, handle.offset());
      if (here.isPresent()) {
        return here.get();
      }
    }
    Optional<CachedBlock> decoded = decodeStored(kind, handle, source);
    if (decoded.isPresent()) {
      return decoded.get();
    }
    if (options.memoryOnly()) {
      throw new NotInMemoryException();
    }
    checkLength(kind, handle);
    StoredBlock stored = source.read(handle);
    CachedBlock block = decode(kind, handle, stored, source::claim);
    cache.read(kind, handle, block, stored);
    return block;
  }

  /** Loads the whole file, unless another reader is loading it: then it does not wait. */
  private void loadWhole() throws IOException {
    if (loading.compareAndSet(false, true)) {
      try {
        if (cache.wantsWhole()) {
          new WholeFile(this, cache).load();
        }
      } finally {
        loading.set(false);
      }
    }
  }

  /** The stored form of the block, from the cache. */
  private Optional<CachedBlock> decodeStored(BlockKind kind, Handle handle, Source source)
      throws NotInMemoryException {
    Optional<byte[]> stored = cache.storedBlock(handle.offset());
    if (stored.isEmpty()) {
      return Optional.empty();
    }
    try {
      if (stored.get().length != handle.length()) {
        throw file.corrupt(handle.offset(), "the block has another length in memory");
      }
      StoredBlock whole = new StoredBlock(stored.get(), 0, false);
      CachedBlock block = decode(kind, handle, whole, source::claim);
      cache.decoded(kind, handle.offset(), block);
      return Optional.of(block);
    } catch (CorruptionException e) {
      LOG.warn(
          "A cached block was damaged in memory; reading it again from its file: {}",
          e.getMessage());
      cache.storedBlockDamaged(handle.offset());
      return Optional.empty();
    }
  }

  /** Checks and decodes a block to be kept. */
  <E extends Exception> CachedBlock decode(
      BlockKind kind, Handle handle, StoredBlock stored, MemoryClaim<E> memory)
      throws CorruptionException, E {
    Contents contents = check(kind, handle, stored, NOTHING, memory);
    return switch (kind) {
      case INDEX, BLOOM_INDEX -> decodeIndex(contents, handle.offset());
      case BLOOM -> decodeBloom(kept(contents, stored), handle.offset());
      case DATA -> new DataBlock(kept(contents, stored));
      case PROPERTIES, META -> throw new IllegalArgumentException(kind + " blocks are not cached");
    };
  }

  /** Contents that nothing else changes and that keep no larger array in memory. */
  private static Contents kept(Contents contents, StoredBlock stored) {
    if (!stored.isShared() || contents.array() != stored.bytes()) {
      return contents;
    }
    byte[] copy = contents.toByteArray();
    return new Contents(copy, 0, copy.length);
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
}
