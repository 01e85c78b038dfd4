package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.format.ColumnKey;
import io.stele.format.MalformedException;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import io.stele.model.RowRange;
import io.stele.record.FileRef;
import io.stele.record.PendingFile;
import io.stele.runtime.SharedResources;
import io.stele.sstable.FileCaching;
import io.stele.sstable.OpenSSTables;
import io.stele.sstable.ReadOptions;
import io.stele.sstable.SSTable;
import io.stele.sstable.SSTableProperties;
import java.io.IOException;
import java.util.Comparator;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.Path;

/**
 * An open SSTable and the part of it that belongs to the tablet. The tablet's share of it is closed
 * when the last state with it is released. Safe for use by any number of threads.
 */
final class TabletFile {
  /** Ordered by sequence numbers, and by path if these are equal. */
  static final Comparator<TabletFile> NEWEST_FIRST =
      Comparator.comparingLong((TabletFile file) -> file.ref.maxSequence())
          .reversed()
          .thenComparing(file -> file.ref.path());

  /**
   * In place of a pin's read point for reads that are not at a pin: such reads do not see erased
   * cells.
   */
  static final long UNPINNED = Long.MAX_VALUE;

  /** A job is refused whose submitter's clock is half a minute from the master's. */
  private static final long AHEAD_MICROS_MAX = 5 * 60 * 1_000_000L;

  private final FileRef ref;
  private final SharedResources.Share<SSTable> share;
  private final SSTable table;
  private final long bytes;
  private final Versions versions;
  private final AtomicInteger holders = new AtomicInteger(1);

  /** What the file says of its versions. */
  private record Versions(
      SurplusCounts surplus, Optional<OldestVersions> oldest, FormerCounts.Marks marks) {
    /** Above what any of these blocks has: some bytes for each family and alteration of a table. */
    static final int BLOCK_BYTES_MAX = 8 << 20;

    static final Versions UNKNOWN =
        new Versions(SurplusCounts.NONE, Optional.empty(), FormerCounts.Marks.NONE);

    /** A job's file has no such blocks; if it has, nobody vouches for them. */
    static Versions of(SSTable table, String file) throws IOException {
      return PendingFile.isOfJob(file)
          ? UNKNOWN
          : new Versions(
              SurplusCounts.of(table.metaBlock(SurplusCounts.NAME, BLOCK_BYTES_MAX), file),
              OldestVersions.of(table.metaBlock(OldestVersions.NAME, BLOCK_BYTES_MAX), file),
              FormerCounts.Marks.of(table.metaBlock(FormerCounts.NAME, BLOCK_BYTES_MAX), file));
    }
  }

  private TabletFile(
      FileRef ref, SharedResources.Share<SSTable> share, long bytes, Versions versions) {
    this.ref = ref;
    this.share = share;
    this.table = share.resource();
    this.bytes = bytes;
    this.versions = versions;
  }

  /** Opens a file with the caching that {@code rules} require; the caller is its first holder. */
  static TabletFile open(TabletEnvironment environment, FileRef ref, SchemaRules rules)
      throws IOException {
    FileCaching caching =
        ref.families().stream()
            .flatMap(family -> rules.group(family).stream())
            .findFirst()
            .map(group -> new FileCaching(group.inMemory(), group.cachePriority()))
            .orElse(FileCaching.NORMAL);
    return open(environment.sstables(), environment.root(), ref, caching);
  }

  /** Opens a file below {@code root}; the caller is its first holder. */
  static TabletFile open(OpenSSTables sstables, Path root, FileRef ref, FileCaching caching)
      throws IOException {
    SharedResources.Share<SSTable> share =
        sstables.open(new Path(root, ref.path()), ref.length(), caching);
    try {
      SSTable table = share.resource();
      SSTableProperties told = table.properties();
      ref.checkSequences(told.cells(), told.minSequence(), told.maxSequence());
      Versions versions = Versions.of(table, ref.path());
      return new TabletFile(ref, share, table.bytesIn(ref.bounds()), versions);
    } catch (IOException | RuntimeException e) {
      share.close();
      throw e;
    }
  }

  /**
   * The same open file under another reference. The caller is the only holder of this one, which
   * must not be used any more, and is the first holder of the other.
   *
   * @throws IOException if it failed: the file is closed
   */
  TabletFile under(FileRef now) throws IOException {
    try {
      return new TabletFile(
          now,
          share,
          now.bounds().equals(ref.bounds()) ? bytes : table.bytesIn(now.bounds()),
          versions);
    } catch (IOException | RuntimeException e) {
      release();
      throw e;
    }
  }

  FileRef ref() {
    return ref;
  }

  SSTable table() {
    return table;
  }

  /**
   * A timestamp that is not below those in the file that were assigned by a tablet, or by a job;
   * microseconds. A job's is not believed if it is far above {@code nowMicros}.
   */
  long highestTimestamp(long nowMicros) {
    long highest = table.properties().highestServerTimestamp();
    return PendingFile.isOfJob(ref) ? Math.min(highest, nowMicros + AHEAD_MICROS_MAX) : highest;
  }

  /** Until which operations families counted more versions, as far as the file knows. */
  FormerCounts.Marks marks() {
    return versions.marks();
  }

  /** The length of the tablet's part of the file, to the nearest block. */
  long bytes() {
    return bytes;
  }

  /** About how many bytes the cells of the tablet's part have when they are not compressed. */
  long cellBytes() {
    SSTableProperties properties = table.properties();
    return (long) (bytes * (double) properties.rawBytes() / Math.max(1, properties.dataBytes()));
  }

  /**
   * With the file's share of what is read at first, and the blocks that it begins and ends inside
   * of.
   *
   * @param options say how many bytes of cells are wanted of all files at first
   * @param allBytes of the cells of all files
   */
  ReadOptions shareOf(ReadOptions options, long allBytes) {
    if (options.firstBytes() == 0) {
      return options;
    }
    SSTableProperties properties = table.properties();
    long blockBytes = properties.dataBytes() / Math.max(1, properties.dataBlocks());
    double share = bytes / (double) Math.max(1, allBytes);
    return options.first((long) (options.firstBytes() * share) + 2 * blockBytes);
  }

  /** About how many bytes a cursor over the file holds: a block as it is stored, and decoded. */
  long cursorBytes() {
    SSTableProperties properties = table.properties();
    long blocks = Math.max(1, properties.dataBlocks());
    return Math.min(SSTable.UNCLAIMED_BLOCK_BYTES, properties.dataBytes() / blocks)
        + Math.min(SSTable.UNCLAIMED_BLOCK_BYTES, properties.rawBytes() / blocks);
  }

  boolean hasTombstones() {
    return table.properties().tombstones() > 0;
  }

  /**
   * Adds the file's remembered operations to {@code window}. A job's file has none: what its writer
   * says of other clients' operations nobody vouches for.
   *
   * @throws CorruptionException if they cannot be decoded
   * @throws NewerFormatException if a newer version wrote them
   */
  void restoreOperations(OperationWindow window) throws IOException {
    if (PendingFile.isOfJob(ref)) {
      return;
    }
    Optional<Bytes> block = table.metaBlock(OperationsBlock.NAME);
    if (block.isPresent()) {
      try {
        window.restore(block.get(), ref.operationsMicros(), ref.merged());
      } catch (MalformedException e) {
        if (e.isNewer()) {
          throw new NewerFormatException(ref.path(), e.getMessage());
        }
        throw new CorruptionException(ref.path(), 0, "its operations block: " + e.getMessage(), e);
      }
    }
  }

  /** Whether the file may hold versions that are too old at {@code now}, in microseconds. */
  boolean hasExpired(SchemaRules rules, long now) {
    if (versions.oldest().isPresent()) {
      return versions.oldest().get().hasGarbage(rules, now);
    }
    SSTableProperties properties = table.properties();
    return properties.maxTimestamp() >= 0
        && ref.families().stream()
            .anyMatch(family -> rules.gc(family).isExpired(properties.minTimestamp(), now));
  }

  /**
   * The tablet's cells in the file for a read, of rows in {@code range}, which overlaps the file's
   * bounds.
   *
   * @param rules those of the read
   * @param pinned the pin's read point, for a read at a pin; otherwise {@link #UNPINNED}
   */
  CellCursor cursor(RowRange range, ReadOptions options, SchemaRules rules, long pinned) {
    CellCursor cells = cells(range, options, rules);
    Set<String> hidden = ref.erasedAt(pinned);
    return hidden.isEmpty() ? cells : RetypedCursor.erasedAsDeleted(cells, hidden);
  }

  /** The tablet's cells in the file for a compaction, of rows in {@code range}. */
  CellCursor cursorToCompact(RowRange range, ReadOptions options, SchemaRules rules) {
    CellCursor cells = cells(range, options, rules);
    Set<String> erased = ref.erasedAt(UNPINNED);
    return erased.isEmpty() ? cells : new WithoutErasedCursor(cells, erased);
  }

  private CellCursor cells(RowRange range, ReadOptions options, SchemaRules rules) {
    CellCursor cells = table.cursor(ref.bounds().intersection(range).orElseThrow(), options);
    if (PendingFile.isOfJob(ref)) {
      cells = new NumberedCursor(cells, ref.maxSequence());
    }
    Set<String> recounted = versions.surplus().fewerThan(rules, ref.maxSequence());
    return recounted.isEmpty() ? cells : RetypedCursor.recounted(cells, recounted);
  }

  /** Whether the file may have cells of these columns of {@code row}; false means it has none. */
  boolean mayContain(Bytes row, ColumnSelection selection, ReadOptions options) throws IOException {
    byte[] rowPart = ColumnKey.ofRow(row);
    return selection.isColumns()
        ? table.mayContainColumns(rowPart, selection.prefixes(), options)
        : table.mayContainRow(rowPart, options);
  }

  /**
   * Whether the file may have cells of these columns, of rows in {@code range}. A file from which
   * all families were erased has none: its tombstones of rows are for them alone.
   *
   * @param pinned as for {@link #cursor}
   */
  boolean meets(RowRange range, ColumnSelection selection, long pinned) {
    Set<String> families = ref.familiesAt(pinned);
    return ref.bounds().intersection(range).isPresent()
        && !families.isEmpty()
        && selection.wantsAnyOf(families);
  }

  void retain() {
    holders.incrementAndGet();
  }

  void release() {
    if (holders.decrementAndGet() == 0) {
      share.close();
    }
  }
}
