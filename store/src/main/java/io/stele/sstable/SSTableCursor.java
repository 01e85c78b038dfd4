package io.stele.sstable;

import io.stele.format.CellBlockCursor;
import io.stele.format.CellCursor;
import io.stele.format.CellType;
import io.stele.format.MalformedException;
import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;

/**
 * A cursor over the cells of an SSTable between two keys, one block at a time. Reads nothing until
 * its first move. Not safe for use by several threads.
 */
final class SSTableCursor implements CellCursor {
  private enum State {
    /** Before the first cell. */
    BEGIN,
    /** In {@link #block}. */
    INSIDE,
    /** After the last cell. */
    END,
    /** A move threw: only a seek may follow. */
    FAILED,
    /** Nothing may follow. */
    CLOSED
  }

  private static final long NO_BLOCK = -1;

  private final Blocks blocks;
  private final Source source = new Source();
  private final IndexBlock root;
  private final ReadOptions options;
  private final byte[] lower;

  /** The first key that is out of bounds; empty: none is. */
  private final byte[] upper;

  private final IndexCursor index;
  private Readahead readahead;
  private boolean begun; // A block was wanted.
  private final CellBlockCursor block = CellBlockCursor.empty();
  private State state = State.BEGIN;
  private long blockOffset = NO_BLOCK;
  private byte[] scratch = new byte[0];

  /**
   * Whether the block may hold keys at or above {@link #upper}. Then it is the last to read: the
   * key of the next block, if there is one, is not below {@code upper}.
   */
  private boolean checkUpper;

  /** What the largest block so far was said to take. */
  private long claimed;

  /** Where the last block in bounds ends; 0: not looked for yet. */
  private long limit;

  SSTableCursor(Blocks blocks, IndexBlock root, byte[] lower, byte[] upper, ReadOptions options) {
    this.blocks = blocks;
    this.root = root;
    this.lower = lower;
    this.upper = upper;
    this.options = options;
    this.index = new IndexCursor(blocks, BlockKind.INDEX, root, options);
    this.readahead =
        new Readahead(blocks.file(), options.firstBytes(), options.readaheadBytes(), way(options));
  }

  private static Readahead.Way way(ReadOptions options) {
    return switch (options.cache()) {
      case KEEP -> Readahead.Way.SHORT;
      case LOOK -> Readahead.Way.PAGES;
      case NONE -> Readahead.Way.LONG;
    };
  }

  @Override
  public boolean next() throws IOException {
    if (state == State.INSIDE) {
      try {
        if (block.next()) {
          if (!checkUpper || isBelowUpper()) {
            return true;
          }
          state = State.END;
          return false;
        }
      } catch (MalformedException e) {
        throw failed(e);
      }
      return nextBlock();
    }
    return switch (state) {
      case BEGIN -> seek(lower, lower.length);
      case FAILED -> throw new IOException("a cursor that failed was moved again");
      case CLOSED -> throw closed();
      default -> false;
    };
  }

  @Override
  public boolean seek(byte[] key, int length) throws IOException {
    if (state == State.CLOSED) {
      throw closed();
    }
    if (Arrays.compareUnsigned(key, 0, length, lower, 0, lower.length) < 0) {
      return seek(lower, lower.length);
    }
    state = State.FAILED;
    if (upper.length > 0 && Arrays.compareUnsigned(key, 0, length, upper, 0, upper.length) >= 0) {
      state = State.END;
      return false;
    }
    if (!index.seek(key, length)) {
      state = State.END;
      return false;
    }
    if (index.offset() != blockOffset) {
      load();
    }
    try {
      if (block.seek(key, length)) {
        state = !checkUpper || isBelowUpper() ? State.INSIDE : State.END;
        return state == State.INSIDE;
      }
    } catch (MalformedException e) {
      throw failed(e);
    }
    return nextBlock();
  }

  /** Moves to the first cell of the next block. */
  private boolean nextBlock() throws IOException {
    state = State.FAILED;
    do {
      if (checkUpper || !index.next()) { // Looked at before: to go on may mean to read.
        state = State.END;
        return false;
      }
      load();
      try {
        if (block.next()) {
          state = !checkUpper || isBelowUpper() ? State.INSIDE : State.END;
          return state == State.INSIDE;
        }
      } catch (MalformedException e) {
        throw failed(e);
      }
    } while (true);
  }

  private void load() throws IOException {
    blockOffset = NO_BLOCK;
    Handle handle = index.handle();
    source.claim(handle.length());
    if (!begun) {
      begun = true;
      goOn();
    }
    Contents contents =
        switch (options.cache()) {
          case KEEP -> blocks.data(handle, options, source).cells();
          case LOOK -> readahead.has(index) ? readUncached(handle) : lookedFor(handle);
          case NONE -> readUncached(handle);
        };
    source.claim(contents.length()); // What the cache had may leave it while it is read here.
    try {
      block.resetSearchable(contents.array(), contents.offset(), contents.length());
    } catch (MalformedException e) {
      throw blocks.corrupt(handle.offset(), BlockKind.DATA, e);
    }
    blockOffset = handle.offset();
    checkUpper = upper.length > 0 && !index.isNextKeyBelow(upper, upper.length);
  }

  /** Goes on with what the page before has read, if this reads a page that may take as much. */
  private void goOn() {
    if (options.cache() == ReadOptions.Cache.LOOK && options.firstBytes() > 0) {
      readahead = blocks.file().takeLeft(index.offset()).orElse(readahead);
    }
  }

  /** Reads with the read-ahead, and asks for memory before a large block takes it. */
  private final class Source implements Blocks.Source {
    @Override
    public StoredBlock read(Handle handle) throws IOException {
      return options.readaheadBytes() == 0 ? blocks.readStored(handle) : readAhead();
    }

    @Override
    public void claim(int blockBytes) throws NotInMemoryException {
      if (blockBytes <= SSTable.UNCLAIMED_BLOCK_BYTES || blockBytes <= claimed) {
        return;
      }
      if (options.memoryOnly()) {
        throw new NotInMemoryException(); // Reads that never wait take nothing large.
      }
      options.memory().take(blockBytes - claimed);
      claimed = blockBytes;
    }
  }

  private StoredBlock readAhead() throws IOException {
    int at = readahead.fetch(index, limit());
    return new StoredBlock(readahead.buffer(), at, true);
  }

  private Contents lookedFor(Handle handle) throws IOException {
    Optional<Contents> cached = blocks.cachedData(handle);
    return cached.isPresent() ? cached.get() : readUncached(handle);
  }

  /** Contents that are gone with the next block. */
  private Contents readUncached(Handle handle) throws IOException {
    if (options.memoryOnly()) {
      throw new NotInMemoryException();
    }
    StoredBlock stored = readAhead();
    Contents contents = blocks.check(BlockKind.DATA, handle, stored, scratch, source::claim);
    // Of a large block only one form is kept: a compaction has a block of each of its files.
    if (contents.array() != stored.bytes()) {
      scratch = contents.array();
      readahead.letGoIfLarge();
    } else if (scratch.length > Readahead.LARGE_BYTES) {
      scratch = new byte[0];
    }
    return contents;
  }

  private long limit() throws IOException {
    if (limit == 0) {
      limit = blocks.file().length();
      IndexCursor end = new IndexCursor(blocks, BlockKind.INDEX, root, options);
      if (upper.length > 0 && end.seek(upper, upper.length)) {
        limit = end.offset() + end.length();
      }
    }
    return limit;
  }

  private boolean isBelowUpper() {
    return Arrays.compareUnsigned(block.key(), 0, block.keyLength(), upper, 0, upper.length) < 0;
  }

  private IOException failed(MalformedException cause) {
    state = State.FAILED;
    long damaged = blockOffset;
    blockOffset = NO_BLOCK;
    return blocks.corrupt(damaged, BlockKind.DATA, cause);
  }

  private static IOException closed() {
    return new IOException("a cursor that is closed was moved");
  }

  @Override
  public void close() {
    if (state == State.CLOSED) {
      return; // Its read-ahead may be another's.
    }
    if (options.cache() == ReadOptions.Cache.LOOK && state == State.INSIDE) {
      blocks.file().leave(readahead); // The next page begins here.
    } else {
      readahead.close();
    }
    state = State.CLOSED;
  }

  @Override
  public byte[] key() {
    return block.key();
  }

  @Override
  public int keyLength() {
    return block.keyLength();
  }

  @Override
  public long timestamp() {
    return block.timestamp();
  }

  @Override
  public long sequence() {
    return block.sequence();
  }

  @Override
  public int ordinal() {
    return block.ordinal();
  }

  @Override
  public CellType type() {
    return block.type();
  }

  @Override
  public byte[] valueArray() {
    return block.valueArray();
  }

  @Override
  public int valueOffset() {
    return block.valueOffset();
  }

  @Override
  public int valueLength() {
    return block.valueLength();
  }
}
