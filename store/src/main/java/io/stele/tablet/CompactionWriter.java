package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.format.CellType;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.RowRange;
import io.stele.model.TabletId;
import io.stele.sstable.SSTableOptions;
import io.stele.sstable.SSTableSummary;
import io.stele.sstable.SSTableWriter;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes new SSTables of one tablet, {@code tables/<table>/<tablet>/<epoch>-<n>.sst}: of a name
 * that no other server and no earlier run can have used. Safe for use by any number of threads.
 */
final class CompactionWriter {
  private static final Logger LOG = LoggerFactory.getLogger(CompactionWriter.class);
  private static final int NAMES_TRIED = 1000;

  private final String directory;
  private final long epoch;
  private final RowRange extent;
  private final TabletEnvironment environment;
  private final TabletClock clock;
  private final AtomicLong nextFile = new AtomicLong(1);

  CompactionWriter(
      TabletId id, long epoch, RowRange extent, TabletEnvironment environment, TabletClock clock) {
    this.directory = "tables/" + id.table() + "/" + id.name();
    this.epoch = epoch;
    this.extent = extent;
    this.environment = environment;
    this.clock = clock;
  }

  /**
   * What goes into a compaction.
   *
   * @param cursors over the cells; closed by the writer
   * @param past whether there are older cells elsewhere
   * @param tombstonesPossible whether there may be tombstones among the cells
   * @param operations the block of operations; may be empty
   * @param minSequence the new file stands for the operations from here ...
   * @param maxSequence ... to here
   */
  record Inputs(
      List<CellCursor> cursors,
      CellSieve.Past past,
      boolean tombstonesPossible,
      Bytes operations,
      long minSequence,
      long maxSequence) {}

  /**
   * What came of it.
   *
   * @param file the new file, held once; none where nothing was left
   * @param readableFrom the lowest read point that still sees what it saw before; 0: every one
   */
  record Output(Optional<TabletFile> file, long readableFrom) {
    List<TabletFile> files() {
      return file.stream().toList();
    }

    List<FileRef> refs() {
      return file.stream().map(TabletFile::ref).toList();
    }
  }

  /** Writes what the sieve keeps of {@code inputs}; leaves no file behind where it fails. */
  Output write(Inputs inputs, SchemaRules rules) throws IOException {
    CellSieve sieve = new CellSieve(rules, clock.now(), inputs.past(), inputs.tombstonesPossible());
    long kept = 0;
    boolean dropped = false;
    SSTableSummary summary;
    try (MergedCursor cells = new MergedCursor(inputs.cursors(), Long.MAX_VALUE);
        SSTableWriter writer = create(SSTableOptions.of(rules.schema()))) {
      while (cells.next()) {
        switch (sieve.judge(cells)) {
          case KEEP -> {
            writer.add(cells);
            kept++;
          }
          case KEEP_AS_SURPLUS -> {
            addSurplus(cells, writer);
            kept++;
          }
          case DROP, DROP_COLUMN -> dropped = true;
        }
      }
      long readableFrom = dropped ? inputs.maxSequence() : 0;
      if (kept == 0 && inputs.operations().isEmpty()) {
        return new Output(Optional.empty(), readableFrom);
      }
      if (!inputs.operations().isEmpty()) {
        writer.metaBlock(OperationWindow.META_BLOCK, inputs.operations());
      }
      writer.highestServerTimestamp(clock.highest());
      summary = writer.finish();
      return new Output(Optional.of(open(summary, kept, inputs)), readableFrom);
    }
  }

  /** Takes back a file that was not committed. */
  void discard(Output output) {
    for (TabletFile file : output.files()) {
      file.release();
      delete(new Path(environment.root(), file.ref().path()));
    }
  }

  private TabletFile open(SSTableSummary summary, long kept, Inputs inputs) throws IOException {
    FileRef ref =
        new FileRef(
            directory + "/" + summary.path().getName(),
            summary.length(),
            extent,
            inputs.minSequence(),
            inputs.maxSequence());
    try {
      TabletFile file =
          TabletFile.open(environment.fs(), environment.root(), ref, environment.cache());
      long found = file.table().properties().cells();
      if (found != kept) {
        file.release();
        throw new CorruptionException(
            summary.path().toString(), 0, found + " cells in it and " + kept + " were written");
      }
      return file;
    } catch (IOException | RuntimeException e) {
      delete(summary.path());
      throw e;
    }
  }

  private SSTableWriter create(SSTableOptions options) throws IOException {
    for (int tried = 1; ; tried++) {
      String name = epoch + "-" + nextFile.getAndIncrement() + ".sst";
      try {
        return SSTableWriter.create(
            environment.fs(), new Path(environment.root(), directory + "/" + name), options);
      } catch (FileAlreadyExistsException e) {
        // The tablet was open under this epoch before: it goes on behind what it wrote then.
        if (tried == NAMES_TRIED) {
          throw e;
        }
      }
    }
  }

  private static void addSurplus(CellCursor cell, SSTableWriter writer) throws IOException {
    writer.add(
        cell.key(),
        cell.keyLength(),
        cell.timestamp(),
        cell.sequence(),
        cell.ordinal(),
        CellType.SURPLUS,
        cell.valueArray(),
        cell.valueOffset(),
        cell.valueLength());
  }

  private void delete(Path path) {
    try {
      environment.fs().delete(path, false);
    } catch (IOException e) {
      LOG.warn("Deleting {}, which nobody uses, failed; the sweep will find it", path, e);
    }
  }
}
