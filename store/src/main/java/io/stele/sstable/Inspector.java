package io.stele.sstable;

import io.stele.format.CellBlockCursor;
import io.stele.format.CellCursor;
import io.stele.format.ColumnKey;
import io.stele.format.MalformedException;
import io.stele.model.Bloom;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Reads a file block by block from its start, checks each, and compares what it finds with footer,
 * index and properties. Continues after damage if the index or the damaged block's own header tells
 * where the next block is. Not safe for use by several threads.
 */
final class Inspector {
  /** Receives the findings; may throw to end the inspection. */
  interface Report {
    /** Something is wrong at {@code offset}. */
    void problem(long offset, String detail) throws IOException;

    /** The footer and what it leads to are whole. */
    default void opened(SSTable table) throws IOException {}

    /** A block that is whole. */
    default void block(BlockKind kind, Handle handle, BlockHeader header) throws IOException {}

    /** A cell of the block before. */
    default void cell(CellCursor cell) throws IOException {}
  }

  /** An index's entry for a block. */
  private record Entry(int length, Bytes key, boolean continues, boolean isData) {}

  private final StoredFile file;
  private final Report report;
  private final TreeMap<Long, Entry> named = new TreeMap<>();
  private final PropertiesCounter counter = new PropertiesCounter();
  private final CellBlockCursor cells = CellBlockCursor.empty();
  private Optional<SSTable> table = Optional.empty();
  private Optional<BloomCheck> bloom = Optional.empty();
  private byte[] lastKey = new byte[0];
  private long lastTimestamp;
  private long lastSequence;
  private int lastOrdinal;
  private boolean damaged;

  Inspector(StoredFile file, Report report) {
    this.file = file;
    this.report = report;
  }

  /** Reads the whole file. */
  void run() throws IOException {
    Optional<Long> idInHeader = header();
    try {
      SSTable opened = SSTable.open(file, NoBlockCache.INSTANCE, FileCaching.NORMAL);
      table = Optional.of(opened);
      report.opened(opened);
      nameBlocks(opened);
      bloom = opened.bloom().map(filter -> new BloomCheck(opened.blocks(), filter));
    } catch (CorruptionException e) {
      problem(e);
    }
    Optional<Long> fileId = table.map(opened -> opened.footer().fileId()).or(() -> idInHeader);
    if (fileId.isPresent()) {
      walk(
          new Blocks(
              file,
              fileId.get(),
              NoBlockCache.INSTANCE.open(fileId.get(), file.length(), FileCaching.NORMAL)));
      compareProperties();
    }
  }

  private Optional<Long> header() throws IOException {
    if (file.length() < SSTableFormat.HEADER_BYTES) {
      problem(0, "the file ends within its header");
      return Optional.empty();
    }
    byte[] bytes = new byte[SSTableFormat.HEADER_BYTES];
    try {
      file.readFully(0, bytes, 0, bytes.length);
      return Optional.of(Footer.fileIdInHeader(bytes));
    } catch (MalformedException e) {
      problem(0, e.getMessage());
    } catch (CorruptionException e) {
      problem(e);
    }
    return Optional.empty();
  }

  /** Collects what the two indexes and the footer name. */
  private void nameBlocks(SSTable opened) throws IOException {
    Footer footer = opened.footer();
    name(footer.index());
    name(footer.properties());
    opened.propertiesBlock().metaBlocks().values().forEach(this::name);
    if (opened.bloom().isPresent()) {
      name(footer.bloom());
      nameBlocks(opened.bloom().get().index(ReadOptions.POINT), false);
    }
    nameBlocks(opened.index(ReadOptions.POINT), true);
  }

  private void nameBlocks(IndexCursor index, boolean data) throws IOException {
    try {
      for (boolean more = index.first(); more; more = index.next()) {
        for (int depth = 0; depth < index.depth(); depth++) {
          name(index.parent(depth));
        }
        named.put(
            index.offset(),
            new Entry(index.length(), Bytes.wrap(index.key()), index.continues(), data));
      }
    } catch (CorruptionException e) {
      problem(e);
    }
  }

  private void name(Handle handle) {
    named.put(handle.offset(), new Entry(handle.length(), Bytes.EMPTY, false, false));
  }

  private void walk(Blocks blocks) throws IOException {
    long end = file.length() - (table.isPresent() ? SSTableFormat.FOOTER_BYTES : 0);
    long offset = SSTableFormat.HEADER_BYTES;
    while (offset < end) {
      offset = visit(blocks, offset, end);
    }
  }

  /** Reads the block at {@code offset} and returns where the next one, or the end, is. */
  private long visit(Blocks blocks, long offset, long end) throws IOException {
    Optional<Entry> entry = Optional.ofNullable(named.remove(offset));
    Long next = named.ceilingKey(offset);
    BlockHeader header = blockHeader(offset, end);
    long length = entry.isPresent() ? entry.get().length() : blockLength(header);
    if (length < SSTableFormat.BLOCK_OVERHEAD_BYTES || length > end - offset) {
      problem(
          offset,
          "no block begins here"
              + (next == null
                  ? "; the rest cannot be read"
                  : "; the next known one is at " + next));
      return next == null ? end : next;
    }
    Handle handle = new Handle(offset, (int) length);
    try {
      BlockKind kind =
          BlockKind.ofCode(header.kind())
              .orElseThrow(() -> file.corrupt(offset, "no block is " + header));
      Contents contents = blocks.read(kind, handle);
      report.block(kind, handle, header);
      if (table.isPresent() && entry.isEmpty()) {
        problem(offset, "nothing names this " + kind + " block");
      }
      check(blocks, kind, handle, contents, entry);
    } catch (CorruptionException e) {
      problem(e);
      if (entry.isEmpty() && next != null && offset + length > next) {
        return next; // The length is what is damaged.
      }
    }
    return offset + length;
  }

  private BlockHeader blockHeader(long offset, long end) throws IOException {
    byte[] bytes = new byte[SSTableFormat.BLOCK_HEADER_BYTES];
    int count = (int) Math.min(bytes.length, end - offset);
    file.readFully(offset, bytes, 0, count);
    return BlockHeader.decode(bytes, 0);
  }

  private static long blockLength(BlockHeader header) {
    return header.isPlausible() ? header.length() + SSTableFormat.BLOCK_OVERHEAD_BYTES : 0;
  }

  private void check(
      Blocks blocks, BlockKind kind, Handle handle, Contents contents, Optional<Entry> entry)
      throws IOException {
    switch (kind) {
      case DATA -> checkData(blocks, handle, contents, entry);
      case INDEX, BLOOM_INDEX -> blocks.decodeIndex(contents, handle.offset());
      case BLOOM -> blocks.decodeBloom(contents, handle.offset());
      case PROPERTIES, META -> {} // Read when the file was opened; opaque.
    }
  }

  private void checkData(Blocks blocks, Handle handle, Contents contents, Optional<Entry> entry)
      throws IOException {
    long offset = handle.offset();
    try {
      cells.resetSearchable(contents.array(), contents.offset(), contents.length());
      boolean first = true;
      while (cells.next()) {
        if (first && entry.isPresent()) {
          checkEntry(offset, entry.get());
        }
        first = false;
        checkCell(offset);
        report.cell(cells);
      }
    } catch (MalformedException e) {
      throw blocks.corrupt(offset, BlockKind.DATA, e);
    }
    counter.addBlock(handle.length());
  }

  /** Compares the first cell of a block, and the last of the block before, with the index. */
  private void checkEntry(long offset, Entry entry) throws IOException {
    byte[] key = entry.key().toByteArray();
    boolean continues =
        counter.cells() > 0
            && Arrays.equals(lastKey, 0, lastKey.length, cells.key(), 0, cells.keyLength());
    boolean aboveLast =
        counter.cells() == 0 || Arrays.compareUnsigned(key, lastKey) > 0 || entry.continues();
    boolean notAboveFirst =
        Arrays.compareUnsigned(key, 0, key.length, cells.key(), 0, cells.keyLength()) <= 0;
    // Where the block before is damaged its last key is not known.
    boolean continuesRight = damaged || continues == entry.continues();
    if (!entry.isData() || !aboveLast || !notAboveFirst || !continuesRight) {
      problem(
          offset,
          "the index's key for this block, \"" + entry.key() + "\", does not fit its cells");
    }
  }

  private void checkCell(long offset) throws IOException {
    int rowPart = ColumnKey.rowPartLength(cells.key(), cells.keyLength());
    boolean sameRow =
        counter.cells() > 0 && ColumnKey.sameRow(lastKey, lastKey.length, cells.key(), rowPart);
    if (counter.cells() > 0 && !isAboveLast()) {
      problem(offset, "the cell " + cell() + " is not above the one before it");
    }
    if (!sameRow) {
      counter.addRow();
    }
    if (bloom.isPresent() && !bloom.get().knows(cells, rowPart, !sameRow)) {
      problem(offset, "the Bloom filter does not know the row or the column of " + cell());
    }
    counter.addCell(
        cells.key(),
        cells.keyLength(),
        cells.timestamp(),
        cells.sequence(),
        cells.type(),
        cells.valueLength());
    lastKey = Arrays.copyOf(cells.key(), cells.keyLength());
    lastTimestamp = cells.timestamp();
    lastSequence = cells.sequence();
    lastOrdinal = cells.ordinal();
  }

  private boolean isAboveLast() {
    int byKey =
        Arrays.compareUnsigned(cells.key(), 0, cells.keyLength(), lastKey, 0, lastKey.length);
    if (byKey != 0) {
      return byKey > 0;
    }
    if (cells.timestamp() != lastTimestamp) {
      return cells.timestamp() < lastTimestamp;
    }
    return cells.sequence() != lastSequence
        ? cells.sequence() < lastSequence
        : cells.ordinal() < lastOrdinal;
  }

  /** If all blocks are whole, the properties must match them. */
  private void compareProperties() throws IOException {
    if (damaged || table.isEmpty()) {
      return;
    }
    for (long missing : named.keySet()) {
      problem(missing, "the block that is named here is not one");
    }
    SSTableProperties told = table.get().properties();
    counter.highestServerTimestamp(told.highestServerTimestamp());
    SSTableProperties found =
        counter.properties(Bytes.wrap(lastKey), told.codec(), told.bloom(), told.createdBy());
    if (!found.equals(told)) {
      problem(
          table.get().footer().properties().offset(),
          "the properties are " + told + ", but the cells give " + found);
    }
  }

  private String cell() {
    return "\""
        + Bytes.of(cells.key(), 0, cells.keyLength())
        + "\" @"
        + cells.timestamp()
        + " #"
        + cells.sequence()
        + "."
        + cells.ordinal();
  }

  private void problem(CorruptionException e) throws IOException {
    problem(e.offset(), e.detail());
  }

  private void problem(long offset, String detail) throws IOException {
    damaged = true;
    report.problem(offset, detail);
  }

  /** Looks keys up in the Bloom filter, in ascending order, holding one of its blocks. */
  private static final class BloomCheck {
    private final Blocks blocks;
    private final boolean columns;
    private final IndexCursor index;
    private long held = -1;
    private Optional<BloomBlock> block = Optional.empty();

    BloomCheck(Blocks blocks, BloomFilter filter) {
      this.blocks = blocks;
      this.columns = filter.kind() == Bloom.ROW_COLUMN;
      this.index = filter.index(ReadOptions.POINT);
    }

    /** Whether the filter has the cell's key. */
    boolean knows(CellCursor cell, int rowPart, boolean newRow) throws IOException {
      byte[] key = cell.key();
      int length = cell.keyLength();
      if (newRow && !mayContain(key, rowPart, KeyHash.of(key, rowPart))) {
        return false;
      }
      long hash =
          length == rowPart
              ? KeyHash.ofRowTombstone(Arrays.copyOf(key, length))
              : KeyHash.of(key, length);
      return !columns || mayContain(key, length, hash);
    }

    private boolean mayContain(byte[] key, int length, long hash) throws IOException {
      if (!index.seek(key, length)) {
        return false;
      }
      if (index.offset() != held) {
        held = index.offset();
        block = Optional.empty();
        try {
          block = Optional.of(blocks.bloom(index.handle(), ReadOptions.POINT));
        } catch (CorruptionException e) {
          return true; // The walk comes to that block and tells; of keys it can say nothing.
        }
      }
      return block.isEmpty() || block.get().mayContain(hash);
    }
  }
}
