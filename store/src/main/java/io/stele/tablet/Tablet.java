package io.stele.tablet;

import io.stele.log.LogRecord;
import io.stele.log.RecordSource;
import io.stele.memtable.Memtable;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.RowRange;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.record.ClearedRows;
import io.stele.record.FileRef;
import io.stele.record.LoweredCounts;
import io.stele.record.Pending;
import io.stele.record.Pin;
import io.stele.runtime.MemoryClaim;
import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * An open tablet.
 *
 * <p>Its invariants: everything that a fresh read sees is durable. Everything up to the redo point
 * is in the files that the manifest names, and everything above it is in the log. No answer depends
 * on when compactions ran. If the tablet cannot keep them, it stops ({@link #failure}) and must be
 * opened again from its record.
 *
 * <p>The paths through it are {@link WritePath}, {@link ReadPath}, {@link MinorCompactor}, {@link
 * Rewriter} and {@link FileChanges}; they share the {@link TabletCore}.
 *
 * <p>Safe for use by any number of threads; it has none of its own. {@link #apply} queues the
 * operation and returns. A read may wait for files; a compaction may wait for files, the manifest
 * and the log.
 */
public final class Tablet implements Closeable {
  private final TabletCore core;
  private final Sequencer sequencer;
  private final WritePath writes;
  private final ReadPath reads;
  private final CompactionCommit compactionCommit;
  private final MinorCompactor minorCompactor;
  private final Rewriter rewriter;
  private final FileChanges fileChanges;
  private final long replayedRecords;
  private final boolean hasReplayed;

  private Tablet(TabletCore core, Replay replay) {
    this.core = core;
    this.replayedRecords = replay.records();
    this.hasReplayed = replay.lastSequence() > replay.above();
    this.sequencer = new Sequencer(core, replay.lastSequence());
    this.reads = new ReadPath(core);
    this.writes =
        new WritePath(
            core, sequencer, new Evaluation(reads, core.clock(), core.options().valueBytesMax()));
    CompactionWriter writer = new CompactionWriter(core);
    ManifestEdits edits = new ManifestEdits(core, writer, replay.lastSequence());
    this.compactionCommit = new CompactionCommit(core, writer, edits);
    this.minorCompactor = new MinorCompactor(core, sequencer, writer, compactionCommit);
    this.rewriter = new Rewriter(core, writer, edits, compactionCommit);
    this.fileChanges = new FileChanges(core, sequencer, writer, minorCompactor, edits);
  }

  /** Opens a tablet for a test; see the other {@code open}. */
  static Tablet open(TabletSpec spec, TabletEnvironment environment, Iterable<LogRecord> replay)
      throws IOException {
    return open(spec, environment, RecordSource.of(replay));
  }

  /**
   * Opens a tablet.
   *
   * @param replay the tablet's records in the logs that its durable record names, in any order and
   *     with repetitions. Records that the files already hold are skipped. No record is kept; the
   *     caller closes the source
   * @throws CorruptionException if a file is damaged
   * @throws io.stele.model.SteleException CORRUPTION if a record is missing from the logs
   */
  public static Tablet open(TabletSpec spec, TabletEnvironment environment, RecordSource replay)
      throws IOException {
    List<TabletFile> files = new ArrayList<>();
    Memtable memtable = new Memtable(environment.memtables());
    OperationWindow window =
        new OperationWindow(
            environment.runtime(),
            environment.options().operationsWindow(),
            environment.operations());
    boolean opened = false;
    try {
      TabletClock clock = new TabletClock(environment.clock(), spec.highestTimestamp());
      SchemaRules rules = new SchemaRules(spec.schema());
      for (FileRef ref : newestFirst(spec)) {
        TabletFile file = TabletFile.open(environment, ref, rules);
        files.add(file);
        file.restoreOperations(window);
        clock.pass(file.highestTimestamp(clock.now()));
      }
      Replay replayed = new Replay(spec.id(), covered(spec), memtable);
      replayed.take(replay, window);
      window.restored();
      clock.pass(replayed.highestTimestamp());
      Tablet tablet =
          new Tablet(new TabletCore(spec, environment, files, replayed, window, clock), replayed);
      opened = true;
      return tablet;
    } finally {
      if (!opened) {
        window.close();
      }
      // If the tablet was opened, it holds the files.
      files.forEach(TabletFile::release);
      memtable.release();
    }
  }

  private static List<FileRef> newestFirst(TabletSpec spec) {
    List<FileRef> files = new ArrayList<>(spec.files());
    files.sort(Comparator.comparingLong(FileRef::maxSequence).reversed());
    for (int i = 0; i < files.size(); i++) {
      for (int j = i + 1; j < files.size(); j++) {
        if (files.get(i).overlaps(files.get(j))) {
          throw new IllegalArgumentException(
              "tablet "
                  + spec.id()
                  + " has files with the same families and sequence numbers: "
                  + files.get(i)
                  + " and "
                  + files.get(j));
        }
      }
    }
    return files;
  }

  /** Everything up to this sequence number is in the files. */
  private static long covered(TabletSpec spec) {
    return Math.max(
        spec.redoPoint(), spec.files().stream().mapToLong(FileRef::maxSequence).max().orElse(0));
  }

  /** The tablet's id. */
  public TabletId id() {
    return core.spec().id();
  }

  /** The epoch under which it was opened. */
  public long epoch() {
    return core.spec().epoch();
  }

  /** What the tablet remembers about jobs. */
  public TabletJobs jobs() {
    return new TabletJobs(core.window());
  }

  /**
   * Whether a minor compaction should reduce the memory of the remembered operations: by more than
   * {@code much} bytes, or because new operations are refused until then.
   */
  public boolean needsCompactionOfOperations(long much) {
    return core.window().needsCompaction(much);
  }

  /** The tablet's row range. */
  public RowRange extent() {
    return core.spec().extent();
  }

  /** The current schema. */
  public TableSchema schema() {
    return core.rules().schema();
  }

  /** Replaces the schema for a test, by one whose families count no fewer versions than before. */
  void alter(TableSchema schema) {
    alter(schema, lowered());
  }

  /**
   * Replaces the schema for everything that begins from now on. Cells that an earlier policy has
   * collected do not come back.
   *
   * @param lowered how many versions families counted before, where they now count fewer
   */
  public void alter(TableSchema schema, LoweredCounts lowered) {
    sequencer.alter(schema, lowered);
  }

  /**
   * Whether a compaction is being committed that left out cells under policies which were altered
   * since: cells that can be read now may be gone when it ends. When this is false after an
   * alteration, no compaction removes what can be read under it.
   */
  public boolean mayCommitLoss() {
    return compactionCommit.mayCommitLoss();
  }

  /** How many versions families counted before, according to the table's current node. */
  public LoweredCounts lowered() {
    return core.rules().counts().lowered();
  }

  /** The number of records replayed on opening. */
  public long replayedRecords() {
    return replayedRecords;
  }

  /**
   * Whether opening took sequence numbers from logs: those of the records replayed, and of records
   * whose loss was accepted. If so, make a minor compaction soon: no log but those replayed can
   * account for them.
   */
  public boolean hasReplayed() {
    return hasReplayed;
  }

  /**
   * Applies an operation. The future completes when the operation is durable and visible. It fails
   * with a {@link io.stele.model.SteleException}: OUTCOME_UNKNOWN if the log failed while it had
   * the operation; every other code (REFUSED, NOT_FOUND, RETRY_LATER, {@link
   * RowOutOfRangeException}) says that nothing was changed. It completes on the log's thread:
   * callbacks must not block.
   *
   * <p>May read files if the operation depends on the present contents of the row.
   */
  public CompletableFuture<OperationResult> apply(OperationRequest request) {
    return writes.apply(request);
  }

  /**
   * Reads a page.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if the query names a family that the table does
   *     not have, REFUSED if its filter is invalid or its read point is not readable
   * @throws CorruptionException if a file is damaged
   * @throws io.stele.sstable.NotInMemoryException if the request forbids reading files and the page
   *     needs one
   */
  public ReadResult read(ReadRequest request) throws IOException {
    return reads.read(request);
  }

  /** A fresh read sees everything up to this sequence number; all of it is durable. */
  public long readPoint() {
    return core.commits().readPoint();
  }

  /** The lowest read point that can still be read; for tests. */
  long oldestReadablePoint() {
    return core.current().peek().oldestReadable();
  }

  /**
   * Writes the memtables to SSTables and releases their records in the log. First waits until the
   * log has every record that the memtables have.
   *
   * @return whether there was anything to write
   * @throws IOException if it failed and the tablet continues as before
   */
  public boolean minorCompact() throws IOException {
    return minorCompactor.compact();
  }

  /**
   * Merges some SSTables of a locality group that has many of similar size, or rewrites SSTables
   * whose families have moved to other groups.
   *
   * @return whether there were such SSTables
   * @throws CorruptionException if a file is damaged: nothing was dropped or changed
   * @throws IOException if it failed and the tablet continues as before
   */
  public boolean mergingCompact() throws IOException {
    return rewriter.mergingCompact();
  }

  /**
   * Rewrites the SSTables of one locality group without deleted and expired cells, if they hold
   * many such cells, or have held some for {@code interval}.
   *
   * @return whether there was such a group
   * @throws CorruptionException if a file is damaged: nothing was dropped or changed
   * @throws IOException if it failed and the tablet continues as before
   */
  public boolean collectGarbage(Duration interval) throws IOException {
    return rewriter.collectGarbage(interval);
  }

  /**
   * Rewrites all SSTables without deleted and expired cells: those of each locality group as one
   * file. Files that pins need as they are stay.
   *
   * @return whether any was rewritten
   * @throws CorruptionException if a file is damaged: nothing was dropped or changed
   * @throws IOException if it failed and the tablet continues as before
   */
  public boolean majorCompact() throws IOException {
    return rewriter.majorCompact();
  }

  /**
   * Has merging and major compactions end within the next 256 KiB that they read, those in progress
   * and all later ones, until {@link #allowRewrites}. They fail with RETRY_LATER and change
   * nothing.
   */
  public void abortRewrites() {
    rewriter.abort();
  }

  /** Whether merging and major compactions are to end, after {@link #abortRewrites}. */
  public boolean areRewritesAborted() {
    return rewriter.isAborted();
  }

  /** Lets merging and major compactions begin again after {@link #abortRewrites}. */
  public void allowRewrites() {
    rewriter.allow();
  }

  /**
   * Whether some locality group has so many SSTables that merging compactions do not keep up. Minor
   * compactions should then be as late and as large as memory allows.
   */
  public boolean isCrowded() {
    return rewriter.isCrowded();
  }

  /** Whether failed compactions left files behind. */
  public boolean hasAbandonedFiles() {
    return !core.abandoned().isEmpty();
  }

  /** Deletes the files that failed compactions left behind, as far as possible now. */
  public void deleteAbandonedFiles() {
    core.abandoned().delete();
  }

  /** Whether {@link #mergingCompact} would find work. */
  public boolean wantsMergingCompaction() {
    return rewriter.wantsMerging();
  }

  /** Whether {@link #collectGarbage} would find work. */
  public boolean wantsToCollectGarbage(Duration interval) {
    return rewriter.wantsToCollect(interval);
  }

  /**
   * Pins what a read sees now: {@link ReadRequest#atPin} sees the same until {@link #unpin}, also
   * after the tablet, or its children, were opened elsewhere from its record. Until then, cells
   * that were deleted or overwritten since the pin keep their disk space. Writes all memtables to
   * SSTables first.
   *
   * @param name identifies the pin's owner; if a pin of this name exists, that pin is returned
   */
  public Pin pin(String name) throws IOException {
    return fileChanges.pin(name);
  }

  /**
   * Removes a pin, and what was kept for it alone; false if there is none of that name.
   *
   * @throws IOException if it failed and the tablet continues; the pin may be gone, and {@link
   *     #keepsUnseen} be true
   */
  public boolean unpin(String name) throws IOException {
    return fileChanges.unpin(name);
  }

  /** Whether something is left that was kept for pins and that none sees any more. */
  public boolean keepsUnseen() {
    return fileChanges.keepsUnseen();
  }

  /** Removes what is left that was kept for pins and that none sees any more. */
  public void removeUnseen() throws IOException {
    fileChanges.removeUnseen();
  }

  /** The pinned read points, the lowest first. */
  public List<Pin> pins() {
    return core.pins().all();
  }

  /** The changes that wait for the end of their jobs: no reader sees them yet. */
  public List<Pending> pending() {
    return core.pending();
  }

  /**
   * Writes a job's changes into the manifest, where they wait until it is known whether the job has
   * committed. Whoever opens the tablet, or its children, from its record finds them there. Changes
   * that already wait are skipped.
   *
   * @param changes to rows of this tablet
   */
  public void register(List<Pending> changes) throws IOException {
    fileChanges.register(changes);
  }

  /** Discards the changes that wait for a job, which did not commit. False if there are none. */
  public boolean discard(String job) throws IOException {
    return fileChanges.discard(job);
  }

  /**
   * Adds the files that wait for a committed job to the tablet: above everything written before,
   * and below everything written later. Earlier cells of rows that the job replaces disappear at
   * the same moment. All of this is visible when the call returns. The caller has waited for {@link
   * #pauseWrites} to complete, and resumes writes afterwards.
   *
   * @return false if nothing waits for the job
   * @throws CorruptionException if a file is damaged: nothing was changed
   * @throws IOException if it failed and the tablet continues as before
   */
  public boolean take(String job) throws IOException {
    return fileChanges.take(job);
  }

  /**
   * Clears rows: cells written to them until now are no longer visible, except at pins; cells
   * written later are. The caller has waited for {@link #pauseWrites} to complete, and resumes
   * writes afterwards.
   *
   * @param now what this clearing covers in the tablet, for the manifest
   * @throws CorruptionException if a file is damaged: nothing was changed
   * @throws IOException if it failed and the tablet continues as before
   */
  public void clear(RowRange rows, ClearedRows now) throws IOException {
    fileChanges.clear(rows, now);
  }

  /**
   * Erases dropped families: cells written to them are no longer visible, except at pins, even if
   * other families get their names. The caller has waited for {@link #pauseWrites} to complete, and
   * resumes writes afterwards.
   *
   * @param now what was done in the tablet for the requesting change, for the manifest
   * @throws io.stele.model.SteleException RETRY_LATER if the tablet's schema has one of the
   *     families: nothing was changed
   * @throws CorruptionException if a file is damaged: nothing was changed
   * @throws IOException if it failed and the tablet continues as before
   */
  public void erase(Set<String> families, ClearedRows now) throws IOException {
    fileChanges.erase(families, now);
  }

  /** A row that splits the contents of the SSTables in half; empty if no row does. */
  public Optional<Bytes> splitRow() throws IOException {
    TabletState state = core.current().acquire();
    try {
      return new SplitPoints(state.files(), MemoryClaim.NONE).middle(core.spec().extent());
    } finally {
      state.release();
    }
  }

  /**
   * Rows that cut the tablet's SSTables into up to {@code count} pieces of similar size, in order,
   * followed by the tablet's end.
   *
   * @param memory asked for the memory of the work, and now and then whether to go on
   */
  public List<RowSample> sampleRows(int count, MemoryClaim memory) throws IOException {
    TabletState state = core.current().acquire();
    try {
      return new SplitPoints(state.files(), memory).samples(core.spec().extent(), count);
    } finally {
      state.release();
    }
  }

  /**
   * Rows that cut the tablet's SSTables into pieces of about {@code pieceBytes}, in order, followed
   * by the tablet's end.
   *
   * @param most the maximum number of pieces; if more would be needed, the pieces are larger
   * @param memory asked for the memory of the work, and now and then whether to go on
   */
  public List<RowSample> sampleRows(long pieceBytes, int most, MemoryClaim memory)
      throws IOException {
    TabletState state = core.current().acquire();
    try {
      SplitPoints points = new SplitPoints(state.files(), memory);
      RowRange extent = core.spec().extent();
      long pieces = points.bytesIn(extent) / pieceBytes + 1;
      return points.samples(extent, (int) Math.min(pieces, most));
    } finally {
      state.release();
    }
  }

  /**
   * Refuses operations from now on with 'retry later'. The future completes when all accepted
   * operations are durable, though some may not be answered yet; it fails when the log fails. Wait
   * for it through the runtime. Reads continue.
   */
  public CompletableFuture<Void> pauseWrites() {
    return sequencer.pause();
  }

  /** Accepts operations again. */
  public void resumeWrites() {
    sequencer.resume();
  }

  /**
   * The tablet as its manifest describes it now. After {@link #pauseWrites} has completed and
   * {@link #minorCompact} has returned, this describes everything in the tablet: it can be opened
   * from it elsewhere, and so can its {@link TabletSpec#child children}.
   */
  public TabletSpec describe() {
    TabletState state = core.current().peek();
    TabletSpec opened = core.spec();
    return new TabletSpec(
        opened.id(),
        opened.epoch(),
        opened.extent(),
        core.rules().schema(),
        state.files().stream().map(TabletFile::ref).toList(),
        state.redoPoint(),
        core.clock().highest(),
        core.pins().all(),
        core.pending(),
        lowered());
  }

  /** Why the tablet has stopped for good; empty while it serves. */
  public Optional<Throwable> failure() {
    return core.health().failure();
  }

  /** The bytes of the SSTables, as in {@link #statistics}, for those who look often. */
  public long fileBytes() {
    return core.current().peek().fileBytes();
  }

  /** The bytes of the memtables, likewise. */
  public long memtableBytes() {
    return core.current().peek().memtableBytes();
  }

  /** The tablet's size. */
  public TabletStatistics statistics() {
    TabletState state = core.current().peek();
    return new TabletStatistics(state.files().size(), state.fileBytes(), state.memtableBytes());
  }

  /**
   * Stops serving. Closes the files and releases the memtables once the reads that use them have
   * ended. Writes nothing: everything that is only in memtables is also in the log.
   */
  @Override
  public void close() {
    sequencer.close();
    fileChanges.close();
    core.current().close();
    core.window().close();
  }
}
