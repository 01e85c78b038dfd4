package io.stele.sstable;

import io.stele.files.DurableFile;
import io.stele.files.DurableFiles;
import io.stele.format.ByteWriter;
import io.stele.format.CellBlockWriter;
import io.stele.format.CellCursor;
import io.stele.format.CellType;
import io.stele.format.ColumnKey;
import io.stele.format.MalformedException;
import io.stele.model.Bloom;
import io.stele.model.Bytes;
import java.io.Closeable;
import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Writes one SSTable: cells in order, then index, Bloom filter and properties.
 *
 * <p>The file is complete once {@link #finish()} has returned; {@link #close()} before that deletes
 * it. After a failed write, nothing more can be added. Memory is bounded: a block, its compressed
 * form, one index block per level and a Bloom filter block; a block that is large because of one
 * cell takes memory only while that cell is added. Not safe for use by several threads.
 */
public final class SSTableWriter implements Closeable {
  /**
   * At most this many versions of a column stay in one block, even if the block then exceeds its
   * size.
   */
  private static final int VERSIONS_TOGETHER_MAX = 16;

  /** Such a block exceeds its size by at most this factor. */
  private static final long VERSIONS_BLOCKS_MAX = 4;

  private final FileSystem fs;
  private final Path path;
  private final SSTableOptions options;
  private final long fileId;
  private final DurableFile out;
  private final BlockWriter blocks;
  private final IndexWriter index;
  private final Optional<BloomWriter> bloom;
  private final CellBlockWriter block;
  private final Map<String, Handle> metaBlocks = new LinkedHashMap<>();
  private final Map<String, Bytes> lastMetaBlocks = new LinkedHashMap<>(); // Not written yet.
  private final PropertiesCounter counter = new PropertiesCounter();
  private byte[] blockKey = new byte[0];
  private boolean blockContinues;
  private byte[] lastKey = new byte[64];
  private int lastKeyLength;
  private int lastRowPart;
  private long lastTimestamp;
  private long lastSequence;
  private int lastOrdinal;

  /** How many versions of the last cell's column are in the current block. */
  private int versions;

  private boolean finished;
  private int replicasMin = 1;
  private boolean closed;

  private SSTableWriter(
      FileSystem fs, Path path, SSTableOptions options, long fileId, DurableFile out) {
    this.fs = fs;
    this.path = path;
    this.options = options;
    this.fileId = fileId;
    this.out = out;
    this.blocks = new BlockWriter(out, fileId, options.codec());
    this.index = new IndexWriter(blocks, BlockKind.INDEX, options.indexBlockBytes());
    this.bloom =
        options.bloom() == Bloom.NONE
            ? Optional.empty()
            : Optional.of(new BloomWriter(blocks, options));
    this.block = CellBlockWriter.searchable(options.restartInterval(), options.blockBytes());
  }

  /**
   * Begins a file.
   *
   * @param fileId a random number that no other file may have, because caches identify files by it
   * @throws org.apache.hadoop.fs.FileAlreadyExistsException if a file of that name exists; it is
   *     left unchanged
   * @throws io.stele.files.NotDurableException if the file system cannot sync
   */
  public static SSTableWriter create(FileSystem fs, Path path, SSTableOptions options, long fileId)
      throws IOException {
    return create(fs, path, options, fileId, 1);
  }

  /**
   * Begins a file that fails if it has too few replicas.
   *
   * @param replicasMin how many replicas it must have; or as many as files here have, if that is
   *     less
   */
  public static SSTableWriter create(
      FileSystem fs, Path path, SSTableOptions options, long fileId, int replicasMin)
      throws IOException {
    DurableFile out = new DurableFiles(fs).createBelow(path);
    SSTableWriter writer = new SSTableWriter(fs, path, options, fileId, out);
    writer.replicasMin = replicasMin;
    try {
      writer.blocks.raw(Footer.header(fileId));
    } catch (IOException e) {
      try {
        writer.close();
      } catch (IOException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
    return writer;
  }

  /**
   * Adds the current cell of {@code cell}.
   *
   * @throws IllegalArgumentException if it does not come after the previous one in the order of
   *     cells, or cannot be in an SSTable
   */
  public void add(CellCursor cell) throws IOException {
    add(cell, cell.type());
  }

  /** Adds the current cell of {@code cell} as one of {@code type}. */
  public void add(CellCursor cell, CellType type) throws IOException {
    byte[] key = cell.key();
    int keyLength = cell.keyLength();
    long timestamp = cell.timestamp();
    long sequence = cell.sequence();
    int ordinal = cell.ordinal();
    int valueLength = cell.valueLength();
    checkOpen();
    if (type == CellType.LABEL) {
      throw new IllegalArgumentException("a label cannot be written to " + path);
    }
    int mismatch = Arrays.mismatch(key, 0, keyLength, lastKey, 0, lastKeyLength);
    boolean first = counter.cells() == 0;
    if (!first) {
      checkOrder(key, keyLength, mismatch, timestamp, sequence, ordinal);
    }
    boolean newRow = first || (mismatch >= 0 && mismatch < lastRowPart);
    int rowPart = newRow ? rowPartLength(key, keyLength) : lastRowPart;
    versions = first || mismatch >= 0 ? 0 : versions;
    if (block.cellCount() > 0
        && (long) block.size() + keyLength + valueLength > blockBytesMax(versions)) {
      flushBlock();
      versions = 0;
    }
    versions++;
    if (block.cellCount() == 0 && !first) {
      blockKey = Separator.of(lastKey, lastKeyLength, key, keyLength);
      blockContinues = mismatch < 0;
    }
    if (bloom.isPresent() && (first || mismatch >= 0)) {
      bloom.get().add(key, keyLength, rowPart, newRow, lastKey, lastKeyLength);
    }
    if (newRow) {
      counter.addRow();
    }
    block.add(cell, type);
    counter.addCell(key, keyLength, timestamp, sequence, type, valueLength);
    if (mismatch >= 0) {
      if (lastKey.length < keyLength) {
        lastKey = new byte[Math.max(keyLength, lastKey.length * 2)];
      }
      System.arraycopy(key, 0, lastKey, 0, keyLength);
      lastKeyLength = keyLength;
      lastRowPart = rowPart;
    }
    lastTimestamp = timestamp;
    lastSequence = sequence;
    lastOrdinal = ordinal;
    if (block.size() > VERSIONS_BLOCKS_MAX * options.blockBytes()) {
      flushBlock(); // Now, so that of many files being written only one has a large block.
      versions = 0;
    }
  }

  /**
   * Adds a block of bytes under its own name; call it before {@link #finish()}.
   *
   * @throws IllegalArgumentException if there is already one of that name
   */
  public void metaBlock(String name, Bytes contents) throws IOException {
    checkNew(name);
    metaBlocks.put(name, blocks.write(BlockKind.META, contents.toByteArray(), contents.length()));
  }

  /**
   * Adds a small block likewise, at the end of the file: who opens the file reads it with the
   * properties.
   *
   * @throws IllegalArgumentException if there is already one of that name
   */
  public void lastMetaBlock(String name, Bytes contents) {
    checkNew(name);
    lastMetaBlocks.put(name, contents);
  }

  private void checkNew(String name) {
    checkOpen();
    if (metaBlocks.containsKey(name) || lastMetaBlocks.containsKey(name)) {
      throw new IllegalArgumentException(path + " has a meta block \"" + name + "\" already");
    }
  }

  /** Records the highest timestamp that the server assigned; call it before {@link #finish()}. */
  public void highestServerTimestamp(long micros) {
    checkOpen();
    counter.highestServerTimestamp(micros);
  }

  /**
   * The file's length so far, in bytes, without the current block; used to decide where a file
   * ends.
   */
  public long length() {
    return blocks.position();
  }

  /** Writes the rest, syncs every block of the file to disk, and closes it. */
  public SSTableSummary finish() throws IOException {
    checkOpen();
    if (block.cellCount() > 0) {
      flushBlock();
    }
    if (bloom.isPresent()) {
      bloom.get().finishBelowRoot();
    }
    index.finishBelowRoot();
    Handle bloomRoot = bloom.isPresent() ? bloom.get().finish() : Handle.NONE;
    Handle indexRoot = index.finish();
    for (Map.Entry<String, Bytes> last : lastMetaBlocks.entrySet()) {
      byte[] bytes = last.getValue().toByteArray();
      metaBlocks.put(last.getKey(), blocks.write(BlockKind.META, bytes, bytes.length));
    }
    SSTableProperties properties =
        counter.properties(
            Bytes.of(lastKey, 0, lastKeyLength),
            options.codec(),
            options.bloom(),
            SSTableFormat.CREATED_BY);
    byte[] contents = new PropertiesBlock(properties, metaBlocks).encode();
    Handle propertiesBlock = blocks.write(BlockKind.PROPERTIES, contents, contents.length);
    blocks.raw(new Footer(propertiesBlock, indexRoot, bloomRoot, fileId).encode());
    closed = true;
    out.hsync();
    out.checkReplicas(replicasMin);
    out.close();
    finished = true;
    return new SSTableSummary(path, blocks.position(), properties);
  }

  /** Deletes the file unless it was finished. */
  @Override
  public void close() throws IOException {
    if (finished) {
      return;
    }
    closed = true;
    finished = true; // A second close has nothing to do.
    IOException failure = null;
    try {
      out.close();
    } catch (IOException e) {
      failure = e; // What could not be written is deleted anyway: told only if that fails.
    }
    try {
      fs.delete(path, false);
    } catch (IOException e) {
      if (failure != null) {
        e.addSuppressed(failure);
      }
      throw e;
    }
  }

  /**
   * How large the block may become with one more cell. Versions of a column mostly differ little:
   * in one block they take hardly more room than one of them, and are compressed and read faster.
   * If there are many, or large ones, blocks must still end somewhere.
   *
   * @param together versions of the cell's column that the block has already
   */
  private long blockBytesMax(int together) {
    return together == 0 || together >= VERSIONS_TOGETHER_MAX
        ? options.blockBytes()
        : VERSIONS_BLOCKS_MAX * options.blockBytes();
  }

  private void flushBlock() throws IOException {
    ByteWriter contents = block.finish();
    Handle handle = blocks.write(BlockKind.DATA, contents.array(), contents.size());
    block.clear();
    index.add(blockKey, blockContinues, handle);
    counter.addBlock(handle.length());
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException(path + " is closed");
    }
    if (blocks.isBroken()) {
      throw new IllegalStateException("an earlier write to " + path + " failed");
    }
  }

  private void checkOrder(
      byte[] key, int keyLength, int mismatch, long timestamp, long sequence, int ordinal) {
    boolean ascending;
    if (mismatch >= 0) {
      ascending =
          mismatch == lastKeyLength
              || (mismatch < keyLength && (key[mismatch] & 0xff) > (lastKey[mismatch] & 0xff));
    } else if (timestamp != lastTimestamp) {
      ascending = timestamp < lastTimestamp;
    } else {
      ascending = sequence != lastSequence ? sequence < lastSequence : ordinal < lastOrdinal;
    }
    if (!ascending) {
      throw new IllegalArgumentException(
          "cells of "
              + path
              + " must be added in order: "
              + cell(Bytes.of(key, 0, keyLength), timestamp, sequence, ordinal)
              + " came after "
              + cell(
                  Bytes.of(lastKey, 0, lastKeyLength), lastTimestamp, lastSequence, lastOrdinal));
    }
  }

  private static String cell(Bytes key, long timestamp, long sequence, int ordinal) {
    return "\"" + key + "\" @" + timestamp + " #" + sequence + "." + ordinal;
  }

  private static int rowPartLength(byte[] key, int keyLength) {
    try {
      return ColumnKey.rowPartLength(key, keyLength);
    } catch (MalformedException e) {
      throw new IllegalArgumentException(
          "\"" + Bytes.of(key, 0, keyLength) + "\" is not a column key", e);
    }
  }
}
