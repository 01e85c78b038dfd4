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
import io.stele.record.Pending;
import io.stele.record.Pin;
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
 * One tablet, open.
 *
 * <p>The invariants: everything that a fresh read sees is durable; everything up to the redo point
 * is in the files that the manifest names, and everything above it is in the log; no answer depends
 * on when compactions ran. If they cannot be kept, the tablet stops ({@link #failure}) and must be
 * opened again from its record.
 *
 * <p>The paths through it are {@link WritePath}, {@link ReadPath} and {@link Compactor}; they share
 * the {@link TabletCore}.
 *
 * <p>Safe for use by any number of threads; it has none of its own. {@link #apply} queues and
 * returns, a read may wait for files, a compaction for files, the manifest and the log.
 */
public final class Tablet implements Closeable {
  private final TabletCore core;
  private final Sequencer sequencer;
  private final WritePath writes;
  private final ReadPath reads;
  private final Compactor compactor;
  private final long replayedRecords;

  private Tablet(TabletCore core, Replay replay) {
    this.core = core;
    this.replayedRecords = replay.records();
    this.sequencer = new Sequencer(core, replay.lastSequence());
    this.reads = new ReadPath(core);
    this.writes =
        new WritePath(
            core, sequencer, new Evaluation(reads, core.clock(), core.options().valueBytesMax()));
    this.compactor = new Compactor(core, sequencer, replay.lastSequence());
  }

  /** As below. */
  public static Tablet open(
      TabletSpec spec, TabletEnvironment environment, Iterable<LogRecord> replay)
      throws IOException {
    return open(spec, environment, RecordSource.of(replay));
  }

  /**
   * Opens a tablet.
   *
   * @param replay the tablet's records in the logs that its durable record names, in any order and
   *     with repetitions; records that the files already hold are skipped. None is kept; the caller
   *     closes it
   * @throws CorruptionException if a file is damaged
   * @throws io.stele.model.SteleException CORRUPTION if the logs lack a record
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
      long highestTimestamp = spec.highestTimestamp();
      SchemaRules rules = new SchemaRules(spec.schema());
      for (FileRef ref : newestFirst(spec)) {
        TabletFile file = TabletFile.open(environment, ref, rules);
        files.add(file);
        file.restoreOperations(window);
        highestTimestamp =
            Math.max(highestTimestamp, file.table().properties().highestServerTimestamp());
      }
      Replay replayed = new Replay(spec.id(), covered(spec), memtable);
      replayed.take(replay, window);
      window.restored();
      TabletClock clock =
          new TabletClock(
              environment.clock(), Math.max(highestTimestamp, replayed.highestTimestamp()));
      Tablet tablet =
          new Tablet(new TabletCore(spec, environment, files, replayed, window, clock), replayed);
      opened = true;
      return tablet;
    } finally {
      if (!opened) {
        window.close();
      }
      // The tablet holds them, if it was opened.
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

  /** Its name. */
  public TabletId id() {
    return core.spec().id();
  }

  /** The epoch it was opened under. */
  public long epoch() {
    return core.spec().epoch();
  }

  /** What it remembers for jobs. */
  public TabletJobs jobs() {
    return new TabletJobs(core.window());
  }

  /** How much less memory its operations will take after a minor compaction. */
  public long unwrittenOperationBytes() {
    return core.window().unwrittenBytes();
  }

  /** Its rows. */
  public RowRange extent() {
    return core.spec().extent();
  }

  /** The current schema. */
  public TableSchema schema() {
    return core.rules().schema();
  }

  /**
   * Replaces the schema for everything that begins from now on. What an earlier policy has
   * collected does not come back.
   */
  public void alter(TableSchema schema) {
    core.alter(schema);
  }

  /** How many records were replayed on opening; above 0: make a minor compaction soon. */
  public long replayedRecords() {
    return replayedRecords;
  }

  /**
   * Applies an operation. The future completes when it is durable and visible; it fails with a
   * {@link io.stele.model.SteleException}: OUTCOME_UNKNOWN if the log failed with it; every other
   * code (REFUSED, NOT_FOUND, RETRY_LATER, {@link RowOutOfRangeException}) says that nothing was
   * changed. It completes on the log's thread: callbacks must not block.
   *
   * <p>May read files where the operation depends on what the row holds.
   */
  public CompletableFuture<OperationResult> apply(OperationRequest request) {
    return writes.apply(request);
  }

  /**
   * Reads a page.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if the query names a family that the table has
   *     not, REFUSED if its filter is wrong or its read point cannot be read
   * @throws CorruptionException if a file is damaged
   * @throws io.stele.sstable.NotInMemoryException if asked not to read files
   */
  public ReadResult read(ReadRequest request) throws IOException {
    return reads.read(request);
  }

  /** A fresh read sees everything up to this sequence number; all of it is durable. */
  public long readPoint() {
    return core.commits().readPoint();
  }

  /** The lowest read point that can still be read. */
  public long oldestReadablePoint() {
    return core.current().peek().oldestReadable();
  }

  /**
   * Writes the memtable to an SSTable and releases its records in the log. Waits until the log has
   * all that the memtable has.
   *
   * @return whether there was anything to write
   * @throws IOException if it failed and the tablet goes on as before
   */
  public boolean minorCompact() throws IOException {
    return compactor.minorCompact();
  }

  /**
   * Merges some SSTables of a locality group where there are many of similar size; or writes again
   * those whose families have been put into other groups.
   *
   * @return whether there were
   * @throws CorruptionException if a file is damaged: nothing was dropped or changed
   * @throws IOException if it failed and the tablet goes on as before
   */
  public boolean mergingCompact() throws IOException {
    return compactor.mergingCompact();
  }

  /**
   * Writes the SSTables of one locality group again, without anything deleted or expired, where
   * they hold much of that, or have held some for {@code interval}.
   *
   * @return whether there was such a group
   * @throws CorruptionException if a file is damaged: nothing was dropped or changed
   * @throws IOException if it failed and the tablet goes on as before
   */
  public boolean collectGarbage(Duration interval) throws IOException {
    return compactor.collectGarbage(interval);
  }

  /**
   * Writes all SSTables again, those of a locality group as one, without anything deleted or
   * expired.
   *
   * @return whether there were any
   * @throws CorruptionException if a file is damaged: nothing was dropped or changed
   * @throws IOException if it failed and the tablet goes on as before
   */
  public boolean majorCompact() throws IOException {
    return compactor.majorCompact();
  }

  /**
   * Whether some locality group has so many SSTables that merging compactions do not keep up: minor
   * compactions should then be as late, and as large, as memory allows.
   */
  public boolean isCrowded() {
    return compactor.isCrowded();
  }

  /** Whether compactions that failed left files behind. */
  public boolean hasAbandonedFiles() {
    return !core.abandoned().isEmpty();
  }

  /** Deletes what compactions that failed left behind, as far as that is possible now. */
  public void deleteAbandonedFiles() {
    core.abandoned().delete();
  }

  /** Whether {@link #mergingCompact} would find something to do. */
  public boolean wantsMergingCompaction() {
    return compactor.wantsMerging();
  }

  /** Whether {@link #collectGarbage} would find something to do. */
  public boolean wantsToCollectGarbage(Duration interval) {
    return compactor.wantsToCollect(interval);
  }

  /**
   * Pins what a read sees now: {@link ReadRequest#atPin} sees the same until {@link #unpin}, also
   * in whoever opens the tablet, or its children, from its record. Meanwhile what was deleted or
   * overwritten since keeps its place on disk. Writes all memtables to SSTables first.
   *
   * @param name whose the pin is; with a name that is taken this returns the pin that there is
   */
  public Pin pin(String name) throws IOException {
    return compactor.pin(name);
  }

  /** Ends a pin; false if there is none of that name. */
  public boolean unpin(String name) throws IOException {
    return compactor.unpin(name);
  }

  /** The points that stay readable, the lowest first. */
  public List<Pin> pins() {
    return core.pins().all();
  }

  /** What waits for the end of jobs: nobody sees it yet. */
  public List<Pending> pending() {
    return core.pending();
  }

  /**
   * Writes into the manifest what a job does, to wait until it is known whether the job has
   * committed. Whoever opens the tablet, or its children, from its record finds it there. Does
   * nothing about what waits already.
   *
   * @param changes of rows that the tablet has
   */
  public void register(List<Pending> changes) throws IOException {
    compactor.register(changes);
  }

  /** Forgets what waits for a job, which did not commit. False if nothing does. */
  public boolean strike(String job) throws IOException {
    return compactor.strike(job);
  }

  /**
   * Makes the files that wait for a job, which has committed, the tablet's: above all that was
   * written before, and below all that is written later. In the same moment goes what was written
   * before to rows that the job replaces. All that is visible when this returns. The caller has had
   * {@link #pauseWrites} complete, and resumes them.
   *
   * @return false if nothing waits for the job
   * @throws CorruptionException if a file is damaged: nothing was changed
   * @throws IOException if it failed and the tablet goes on as before
   */
  public boolean take(String job) throws IOException {
    return compactor.take(job);
  }

  /**
   * Clears rows: what was written to them by now is seen no more, but at pins; what is written
   * later is. The caller has had {@link #pauseWrites} complete, and resumes them.
   *
   * @param now what of the tablet was cleared then, for the manifest
   * @throws CorruptionException if a file is damaged: nothing was changed
   * @throws IOException if it failed and the tablet goes on as before
   */
  public void clear(RowRange rows, ClearedRows now) throws IOException {
    compactor.clear(rows, now);
  }

  /**
   * Erases families that were dropped: what was written to them is seen no more, but at pins, also
   * when other families have their names. The caller has had {@link #pauseWrites} complete, and
   * resumes them.
   *
   * @param now what of the tablet was done for the change that asked for it, for the manifest
   * @throws io.stele.model.SteleException RETRY_LATER if the tablet's schema has one of them:
   *     nothing was changed
   * @throws CorruptionException if a file is damaged: nothing was changed
   * @throws IOException if it failed and the tablet goes on as before
   */
  public void erase(Set<String> families, ClearedRows now) throws IOException {
    compactor.erase(families, now);
  }

  /** A row that halves what is in the SSTables; empty if no row does. */
  public Optional<Bytes> splitRow() throws IOException {
    TabletState state = core.current().acquire();
    try {
      return new SplitPoints(state.files()).middle(core.spec().extent());
    } finally {
      state.release();
    }
  }

  /**
   * About {@code count} rows that cut the tablet's SSTables into pieces of like size, in order, and
   * then the tablet's end.
   */
  public List<RowSample> sampleRows(int count) throws IOException {
    TabletState state = core.current().acquire();
    try {
      return new SplitPoints(state.files()).samples(core.spec().extent(), count);
    } finally {
      state.release();
    }
  }

  /**
   * Rows that cut the tablet's SSTables into pieces of about {@code pieceBytes}, in order, and then
   * the tablet's end.
   *
   * @param most so many pieces at most: they are larger then
   */
  public List<RowSample> sampleRows(long pieceBytes, int most) throws IOException {
    TabletState state = core.current().acquire();
    try {
      SplitPoints points = new SplitPoints(state.files());
      RowRange extent = core.spec().extent();
      long pieces = points.bytesIn(extent) / pieceBytes + 1;
      return points.samples(extent, (int) Math.min(pieces, most));
    } finally {
      state.release();
    }
  }

  /**
   * Refuses operations from now on with 'retry later'. The future completes when all operations
   * that were accepted are durable and answered; it fails when the log fails. Wait for it through
   * the runtime. Reads go on.
   */
  public CompletableFuture<Void> pauseWrites() {
    return sequencer.pause();
  }

  /** Accepts operations again. */
  public void resumeWrites() {
    sequencer.resume();
  }

  /**
   * The tablet as the manifest has it now. After {@link #pauseWrites} has completed and {@link
   * #minorCompact} has returned, that is all there is: what to open it from elsewhere, or its
   * {@link TabletSpec#child children}.
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
        core.pending());
  }

  /** Why the tablet has stopped serving for good; empty while it serves. */
  public Optional<Throwable> failure() {
    return core.health().failure();
  }

  /** Its size and its counters. */
  public TabletStatistics statistics() {
    TabletState state = core.current().peek();
    Counters counters = core.counters();
    return new TabletStatistics(
        state.files().size(),
        state.files().stream().mapToLong(TabletFile::bytes).sum(),
        state.active().bytes()
            + state.frozen().stream().mapToLong(one -> one.memtable().bytes()).sum(),
        state.active().cellCount()
            + state.frozen().stream().mapToLong(one -> one.memtable().cellCount()).sum(),
        counters.reads.sum(),
        counters.rowsRead.sum(),
        counters.operations.sum(),
        counters.refused.sum(),
        counters.minorCompactions.sum(),
        counters.mergingAndMajorCompactions.sum());
  }

  /**
   * Stops serving. Closes the files and releases the memtables once the reads that use them have
   * ended. Writes nothing: the log has everything that is only in memtables.
   */
  @Override
  public void close() {
    sequencer.close();
    core.current().close();
    core.window().close();
  }
}
