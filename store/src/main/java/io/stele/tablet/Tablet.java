package io.stele.tablet;

import io.stele.log.LogRecord;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * One tablet, open.
 *
 * <p>Safe for use by any number of threads; it has none of its own. {@link #apply} queues and
 * returns, a read may wait for files, a compaction for files, the manifest and the log.
 */
public final class Tablet implements Closeable {
  private Tablet() {}

  /**
   * Opens a tablet.
   *
   * @param replay the tablet's records in the logs that its durable record names, in any order and
   *     with repetitions; what is in the files already is passed over
   */
  public static Tablet open(
      TabletSpec spec, TabletEnvironment environment, Iterable<LogRecord> replay)
      throws IOException {
    throw new UnsupportedOperationException("being built");
  }

  /** Its name. */
  public TabletId id() {
    throw new UnsupportedOperationException("being built");
  }

  /** The epoch it was opened under. */
  public long epoch() {
    throw new UnsupportedOperationException("being built");
  }

  /** Its rows. */
  public RowRange extent() {
    throw new UnsupportedOperationException("being built");
  }

  /** The schema in force. */
  public TableSchema schema() {
    throw new UnsupportedOperationException("being built");
  }

  /** Puts another schema in force, for what comes from now on. */
  public void alter(TableSchema schema) {
    throw new UnsupportedOperationException("being built");
  }

  /** How many records were replayed on opening; above 0: make a minor compaction soon. */
  public long replayedRecords() {
    throw new UnsupportedOperationException("being built");
  }

  /**
   * Applies an operation. The future completes when it is durable and visible; it fails with a
   * {@link io.stele.model.SteleException}: OUTCOME_UNKNOWN where the log failed with it; every
   * other code (REFUSED, NOT_FOUND, RETRY_LATER, {@link RowOutOfRangeException}) says that nothing
   * was changed. It completes on the log's thread: what hangs on it must be short.
   *
   * <p>May read files where the operation depends on what the row holds.
   */
  public CompletableFuture<OperationResult> apply(OperationRequest request) {
    throw new UnsupportedOperationException("being built");
  }

  /**
   * Reads a page.
   *
   * @throws io.stele.model.SteleException NOT_FOUND where the query names a family that the table
   *     has not, REFUSED where its filter is wrong or its read point cannot be read
   * @throws io.stele.model.CorruptionException where a file is damaged
   * @throws io.stele.sstable.NotInMemoryException where asked not to read files
   */
  public ReadResult read(ReadRequest request) throws IOException {
    throw new UnsupportedOperationException("being built");
  }

  /** Everything up to this sequence number is durable and is what a fresh read sees. */
  public long readPoint() {
    throw new UnsupportedOperationException("being built");
  }

  /** Reads as of a point below this one are not possible any more. */
  public long oldestReadablePoint() {
    throw new UnsupportedOperationException("being built");
  }

  /**
   * Writes the memtable to an SSTable and lets the log go. Waits for the log to complete what is in
   * the memtable.
   *
   * @return whether there was anything to write
   */
  public boolean minorCompact() throws IOException {
    throw new UnsupportedOperationException("being built");
  }

  /**
   * Merges some SSTables where there are many of similar size.
   *
   * @return whether there were
   */
  public boolean mergingCompact() throws IOException {
    throw new UnsupportedOperationException("being built");
  }

  /**
   * Writes all SSTables again as one without anything deleted.
   *
   * @return whether there was anything to write again
   */
  public boolean majorCompact() throws IOException {
    throw new UnsupportedOperationException("being built");
  }

  /** Whether {@link #mergingCompact} would find something to do. */
  public boolean wantsMergingCompaction() {
    throw new UnsupportedOperationException("being built");
  }

  /** A row that halves what is in the SSTables; empty where no row does. */
  public Optional<Bytes> splitRow() throws IOException {
    throw new UnsupportedOperationException("being built");
  }

  /** About {@code count} rows that cut the tablet's SSTables into pieces of like size, in order. */
  public List<RowSample> sampleRows(int count) throws IOException {
    throw new UnsupportedOperationException("being built");
  }

  /**
   * Refuses operations from now on with 'retry later'; the future completes when all that were
   * accepted are durable and answered. Reads go on.
   */
  public CompletableFuture<Void> pauseWrites() {
    throw new UnsupportedOperationException("being built");
  }

  /** Accepts operations again. */
  public void resumeWrites() {
    throw new UnsupportedOperationException("being built");
  }

  /**
   * The tablet as the manifest has it now. After {@link #pauseWrites} has completed and {@link
   * #minorCompact} has returned, that is all there is: what to open it from elsewhere, or its
   * {@link TabletSpec#child children}.
   */
  public TabletSpec describe() {
    throw new UnsupportedOperationException("being built");
  }

  /** Why the tablet has stopped serving for good; empty while it serves. */
  public Optional<Throwable> failure() {
    throw new UnsupportedOperationException("being built");
  }

  /** How large it is and what it has done. */
  public TabletStatistics statistics() {
    throw new UnsupportedOperationException("being built");
  }

  /**
   * Stops serving and closes the files once the reads that use them have ended. Writes nothing:
   * what is only in memtables is in the log.
   */
  @Override
  public void close() {
    throw new UnsupportedOperationException("being built");
  }
}
