package io.stele.sstable;

import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads a file's blocks into memory, in one pass from its start to its end. Not safe for use by
 * several threads.
 */
final class WholeFile {
  private static final Logger LOG = LoggerFactory.getLogger(WholeFile.class);
  private static final int CHUNK_BYTES = 1 << 20;
  private static final int ENTRY_BYTES = 72;

  private final Blocks blocks;
  private final StoredFile file;
  private final CachedFile cache;
  private final Map<Long, CachedBlock> loaded = new HashMap<>();
  private final long end;
  private byte[] buffer;
  private long start = SSTableFormat.HEADER_BYTES;
  private int size;

  WholeFile(Blocks blocks, CachedFile cache) {
    this.blocks = blocks;
    this.file = blocks.file();
    this.cache = cache;
    this.end = file.length() - SSTableFormat.FOOTER_BYTES;
    this.buffer = new byte[(int) Math.min(CHUNK_BYTES, end - start)];
  }

  /**
   * Loads the file if the cache has room for it and it is undamaged. Otherwise its blocks are read
   * like those of other files.
   */
  void load() throws IOException {
    boolean done = false;
    boolean again = true;
    try {
      done = readAll();
      again = false;
      if (!done) {
        LOG.warn(
            "{} ({} bytes) should be in memory, but the cache has no room for it: reading it"
                + " block by block. Raise stele.tabletserver.cache.bytes, or make fewer locality groups in-memory",
            file.path(),
            file.length());
      }
    } catch (CorruptionException | NewerFormatException e) {
      again = false;
      LOG.warn("Cannot read the whole file into memory; reading it block by block", e);
    } finally {
      if (done) {
        cache.keepWhole(loaded);
      } else {
        cache.giveUpWhole(again);
      }
    }
  }

  private boolean readAll() throws IOException {
    long offset = start;
    while (offset < end) {
      fetch(offset, (int) Math.min(SSTableFormat.BLOCK_HEADER_BYTES, end - offset));
      BlockHeader header = BlockHeader.decode(buffer, (int) (offset - start));
      long length = (long) header.length() + SSTableFormat.BLOCK_OVERHEAD_BYTES;
      if (!header.isPlausible() || length > end - offset) {
        throw file.corrupt(offset, "there cannot be a block like " + header);
      }
      if (!take(new Handle(offset, (int) length), header)) {
        return false;
      }
      offset += length;
    }
    return true;
  }

  /** Reads and decodes a block; false: there is no room for it. */
  private boolean take(Handle handle, BlockHeader header) throws IOException {
    BlockKind kind =
        BlockKind.ofCode(header.kind())
            .orElseThrow(() -> file.corrupt(handle.offset(), "no block is " + header));
    if (kind == BlockKind.PROPERTIES || kind == BlockKind.META) {
      return true;
    }
    // Both its forms, before there are any: one value may be larger than all the cache.
    long reserved = (long) header.length() + Math.max(0, header.rawLength()) + ENTRY_BYTES;
    if (!cache.reserve(reserved)) {
      return false;
    }
    fetch(handle.offset(), handle.length());
    StoredBlock stored = new StoredBlock(buffer, (int) (handle.offset() - start), true);
    CachedBlock block = blocks.decode(kind, handle, stored, Blocks.UNLIMITED);
    loaded.put(handle.offset(), block);
    return cache.reserve(block.weight() + ENTRY_BYTES - reserved);
  }

  /**
   * Ensures that {@code count} bytes from {@code offset} on, not before {@link #start}, are in the
   * buffer.
   */
  private void fetch(long offset, int count) throws IOException {
    if (offset + count <= start + size) {
      return;
    }
    int kept = (int) Math.max(0, start + size - offset); // A block that is not held is skipped.
    byte[] larger = buffer.length < count ? new byte[count] : buffer;
    System.arraycopy(buffer, size - kept, larger, 0, kept);
    int more = (int) Math.min(larger.length - kept, end - offset - kept);
    buffer = larger;
    start = offset;
    size = kept; // Right also if the read fails.
    file.readFully(offset + kept, buffer, kept, more);
    size += more;
  }
}
