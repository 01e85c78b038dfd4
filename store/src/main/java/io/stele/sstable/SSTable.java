package io.stele.sstable;

import io.stele.format.CellCursor;
import io.stele.format.ColumnKey;
import io.stele.format.MalformedException;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * An open SSTable. Safe for use by any number of threads, all on one stream.
 *
 * <p>Every method that reads throws {@link io.stele.model.CorruptionException} if the file is
 * damaged, and never returns a wrong cell. After {@link #close()}, reads fail with an IOException.
 */
public final class SSTable implements Closeable {
  /**
   * A cursor asks for the memory of blocks above this size, in bytes. Whoever opens cursors knows
   * how many they are, and asks for that of smaller ones: one block each, as stored and decoded.
   */
  public static final int UNCLAIMED_BLOCK_BYTES = 512 << 10;

  private static final byte[] NOTHING = new byte[0];

  /** The memory of the properties beside their keys, in bytes. */
  private static final int PROPERTIES_BYTES = 1024;

  /** Meta blocks up to this size are kept when the file is opened, in bytes. */
  private static final int META_BYTES = 512;

  private final Blocks blocks;
  private final Footer footer;
  private final IndexBlock indexRoot;
  private final Optional<BloomFilter> bloom;
  private final PropertiesBlock properties;
  private final Map<String, byte[]> metaBlocks; // Small ones that came with the tail, as stored.

  private SSTable(
      Blocks blocks,
      Footer footer,
      IndexBlock indexRoot,
      Optional<BloomFilter> bloom,
      PropertiesBlock properties,
      Map<String, byte[]> metaBlocks) {
    this.blocks = blocks;
    this.footer = footer;
    this.indexRoot = indexRoot;
    this.bloom = bloom;
    this.properties = properties;
    this.metaBlocks = metaBlocks;
  }

  /** Opens a file whose blocks are cached when they are read. */
  public static SSTable open(FileSystem fs, Path path, long length, BlockCache cache)
      throws IOException {
    return open(fs, path, length, cache, FileCaching.NORMAL);
  }

  /**
   * Opens a file and reads its tail, in one read unless the tail is unusually large.
   *
   * @param length the file's length in bytes, as {@link SSTableSummary#length()} gave it
   * @throws io.stele.model.SteleException REFUSED if a newer version of Stele wrote the file
   */
  public static SSTable open(
      FileSystem fs, Path path, long length, BlockCache cache, FileCaching caching)
      throws IOException {
    return open(fs, path, length, cache, caching, IdleReadaheads.NONE);
  }

  /** The same of a file whose scans leave their read-aheads in {@code idle}. */
  static SSTable open(
      FileSystem fs,
      Path path,
      long length,
      BlockCache cache,
      FileCaching caching,
      IdleReadaheads idle)
      throws IOException {
    StoredFile file = StoredFile.open(fs, path, length, idle);
    try {
      return open(file, cache, caching);
    } catch (IOException | RuntimeException e) {
      try {
        file.close();
      } catch (IOException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
  }

  /** Opens a file; the result closes it. */
  static SSTable open(StoredFile file, BlockCache cache, FileCaching caching) throws IOException {
    FileTail tail = FileTail.read(file);
    long fileId = tail.footer().fileId();
    CachedFile cached = cache.open(fileId, file.length(), caching);
    try {
      return open(tail, new Blocks(file, fileId, cached));
    } catch (IOException | RuntimeException e) {
      cached.close();
      throw e;
    }
  }

  private static SSTable open(FileTail tail, Blocks blocks) throws IOException {
    Footer footer = tail.footer();
    Contents properties = tail.block(blocks, BlockKind.PROPERTIES, footer.properties());
    PropertiesBlock decoded;
    try {
      decoded = PropertiesBlock.decode(properties);
    } catch (MalformedException e) {
      throw blocks.corrupt(footer.properties().offset(), BlockKind.PROPERTIES, e);
    }
    IndexBlock indexRoot =
        blocks.decodeIndex(
            tail.block(blocks, BlockKind.INDEX, footer.index()), footer.index().offset());
    Optional<BloomFilter> bloom = Optional.empty();
    if (!footer.bloom().isNone()) {
      IndexBlock bloomRoot =
          blocks.decodeIndex(
              tail.block(blocks, BlockKind.BLOOM_INDEX, footer.bloom()), footer.bloom().offset());
      bloom = Optional.of(new BloomFilter(blocks, bloomRoot, decoded.properties()));
      bloom.get().takeFrom(tail);
    }
    return new SSTable(blocks, footer, indexRoot, bloom, decoded, small(tail, decoded));
  }

  /** The small meta blocks that the tail has: a tablet that opens the file needs them at once. */
  private static Map<String, byte[]> small(FileTail tail, PropertiesBlock properties)
      throws IOException {
    Map<String, byte[]> small = new HashMap<>();
    for (Map.Entry<String, Handle> meta : properties.metaBlocks().entrySet()) {
      Handle handle = meta.getValue();
      tail.checkInside(handle);
      Optional<StoredBlock> stored = tail.stored(handle);
      if (stored.isPresent() && handle.length() <= META_BYTES) {
        int at = stored.get().at();
        small.put(
            meta.getKey(), Arrays.copyOfRange(stored.get().bytes(), at, at + handle.length()));
      }
    }
    return small;
  }

  /** The file's path. */
  public Path path() {
    return blocks.file().path();
  }

  /** The file's length in bytes. */
  public long length() {
    return blocks.file().length();
  }

  /**
   * About how many bytes of memory the open file holds, the cache not included: its properties and
   * the roots of its index and Bloom filter, which are as large as one index block whatever the
   * file's size.
   */
  public long heldBytes() {
    return (long) indexRoot.weight()
        + bloom.map(BloomFilter::weight).orElse(0)
        + properties.properties().firstKey().length()
        + properties.properties().lastKey().length()
        + metaBlocks.values().stream().mapToInt(block -> block.length).sum()
        + PROPERTIES_BYTES;
  }

  /**
   * The most blocks that are read to find a row: one per index level below the root, and one of
   * data.
   */
  public int levels() {
    return indexRoot.level() + 1;
  }

  /** The file's properties. */
  public SSTableProperties properties() {
    return properties.properties();
  }

  /**
   * A cursor over the cells of the rows in {@code bounds}. A seek to a key outside of them moves to
   * the first cell in them, or to the end.
   */
  public CellCursor cursor(RowRange bounds, ReadOptions options) {
    byte[] lower = key(bounds.start());
    if (options.cache() != ReadOptions.Cache.KEEP
        || options.readaheadBytes() > 0
        || !bounds.isSingle()) {
      return new SSTableCursor(blocks, indexRoot, lower, key(bounds.end()), options);
    }
    byte[] upper = ColumnKey.afterRow(bounds.start());
    CachedFile cache = blocks.cache();
    if (!cache.keepsRows()) {
      return new SSTableCursor(blocks, indexRoot, lower, upper, options);
    }
    CacheKey.Row row = new CacheKey.Row(blocks.fileId(), lower);
    Optional<CachedRow> cached = cache.row(row);
    if (cached.isPresent() && cached.get() != CachedRow.TOO_LARGE) {
      return cached.get().cursor();
    }
    SSTableCursor cells = new SSTableCursor(blocks, indexRoot, lower, upper, options);
    return cached.isEmpty() && cache.wantsRow(row, options.memoryOnly())
        ? new RowKeepingCursor(cells, cache, row)
        : cells;
  }

  /** Whether {@code row} may be in the file; false means it is not. */
  public boolean mayContainRow(Bytes row, ReadOptions options) throws IOException {
    return mayContainRow(ColumnKey.ofRow(row), options);
  }

  /**
   * Whether the row whose {@link io.stele.format.ColumnKey#ofRow row part} is {@code rowPart} may
   * be in the file; false means it is not.
   */
  public boolean mayContainRow(byte[] rowPart, ReadOptions options) throws IOException {
    return bloom.isEmpty() || bloom.get().mayContainRow(rowPart, options);
  }

  /**
   * Whether the file may be relevant to a read of only these columns of a row, because of cells or
   * tombstones of one of the columns, of its family in the row, or of the row. False means it is
   * not.
   *
   * @param rowPart the row's {@link io.stele.format.ColumnKey#ofRow row part}
   * @param columns what follows the row part in the {@link io.stele.format.ColumnKey#of keys} of
   *     the columns, those of a family one after the other
   */
  public boolean mayContainColumns(byte[] rowPart, List<byte[]> columns, ReadOptions options)
      throws IOException {
    return bloom.isEmpty() || bloom.get().mayContainColumns(rowPart, columns, options);
  }

  /**
   * A row that splits the file's cells in {@code bounds} in half, to the nearest block: there are
   * cells below it, and at or above it. Empty if there is no such row.
   */
  public Optional<Bytes> middleRow(RowRange bounds) throws IOException {
    return new MiddleRow(this, bounds).find();
  }

  /**
   * How many bytes of the file are in {@code bounds}, to the nearest block. If ranges tile another
   * range, their results add up to its result.
   */
  public long bytesIn(RowRange bounds) throws IOException {
    return offsetOf(bounds.end(), dataEnd()) - offsetOf(bounds.start(), 0);
  }

  /**
   * Rows at which the file falls into up to {@code count} pieces of similar size, ascending, found
   * in its block index: each is at or below the first row of a block and above the blocks before.
   */
  public List<Bytes> rowsOfPieces(int count) throws IOException {
    List<Bytes> rows = new ArrayList<>();
    long end = dataEnd();
    IndexCursor index = index(ReadOptions.POINT);
    Bytes last = Bytes.EMPTY;
    for (int i = 1; i < count && index.seekOffset((long) ((double) end * i / count)); i++) {
      Bytes row = MiddleRow.rowAt(index.key());
      if (row.compareTo(last) > 0) {
        rows.add(row);
        last = row;
      }
    }
    return rows;
  }

  /**
   * Of each of {@code count} parts of the same size that the file has in {@code bounds}, a row as
   * in {@link #rowsOfPieces}: of the block at {@code where} in the part. It may be the same for
   * several parts, and that of the first may be below {@code bounds}.
   *
   * @param where 0, the part's beginning, to below 1, its end
   */
  public List<Bytes> rowsOfParts(RowRange bounds, int count, double where) throws IOException {
    long start = offsetOf(bounds.start(), 0);
    double part = (double) (offsetOf(bounds.end(), dataEnd()) - start) / count;
    IndexCursor index = index(ReadOptions.POINT);
    List<Bytes> rows = new ArrayList<>();
    for (int i = 0; i < count && index.seekOffset(start + (long) (part * (i + where))); i++) {
      rows.add(MiddleRow.rowAt(index.key()));
    }
    return rows;
  }

  /** The meta block of that name, which may be as large as a block can be. */
  public Optional<Bytes> metaBlock(String name) throws IOException {
    return metaBlock(name, BlockKind.META.contentsBytesMax());
  }

  /**
   * The meta block of that name.
   *
   * @param bytesMax no such block that was ever written has more bytes: one that says so is damaged
   */
  public Optional<Bytes> metaBlock(String name, int bytesMax) throws IOException {
    Handle handle = properties.metaBlocks().get(name);
    if (handle == null) {
      return Optional.empty();
    }
    Optional<StoredBlock> stored =
        Optional.ofNullable(metaBlocks.get(name)).map(block -> new StoredBlock(block, 0, false));
    return Optional.of(Bytes.wrap(blocks.meta(handle, stored, bytesMax).toByteArray()));
  }

  /** The names of the meta blocks. */
  public List<String> metaBlocks() {
    return List.copyOf(properties.metaBlocks().keySet());
  }

  /**
   * Reads the whole file and checks everything that can be checked.
   *
   * @throws io.stele.model.CorruptionException the first damage found
   */
  public void verify() throws IOException {
    new Inspector(
            blocks.file(),
            (offset, detail) -> {
              throw blocks.file().corrupt(offset, detail);
            })
        .run();
  }

  @Override
  public void close() throws IOException {
    blocks.cache().close();
    blocks.file().close();
  }

  Blocks blocks() {
    return blocks;
  }

  Footer footer() {
    return footer;
  }

  PropertiesBlock propertiesBlock() {
    return properties;
  }

  Optional<BloomFilter> bloom() {
    return bloom;
  }

  IndexCursor index(ReadOptions options) {
    return new IndexCursor(blocks, BlockKind.INDEX, indexRoot, options);
  }

  /**
   * The start of the block that contains or would contain {@code row}; {@code ofEmpty} for an empty
   * row.
   */
  long offsetOf(Bytes row, long ofEmpty) throws IOException {
    byte[] key = key(row);
    IndexCursor index = index(ReadOptions.POINT);
    return row.isEmpty() || !index.seek(key, key.length) ? ofEmpty : index.offset();
  }

  /** Where the last data block ends. */
  long dataEnd() throws IOException {
    IndexCursor index = index(ReadOptions.POINT);
    return index.seekOffset(Long.MAX_VALUE) ? index.offset() + index.length() : 0;
  }

  private static byte[] key(Bytes row) {
    return row.isEmpty() ? NOTHING : ColumnKey.ofRow(row);
  }
}
