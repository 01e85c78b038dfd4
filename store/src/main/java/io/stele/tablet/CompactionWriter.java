package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.format.CellType;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.record.FileRef;
import io.stele.runtime.IoCallable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.fs.Path;

/**
 * Writes the cells that a {@link VersionFilter} keeps to new SSTables, one for each locality group
 * that has any. Safe for use by any number of threads.
 */
final class CompactionWriter {

  /** A compaction reports to its pace each time it has read this many bytes. */
  private static final long PACE_BYTES = 256 << 10;

  private final TabletCore core;
  private final TabletEnvironment environment;
  private final TabletClock clock;
  private final AtomicLong nextFile = new AtomicLong(1);

  CompactionWriter(TabletCore core) {
    this.core = core;
    this.environment = core.environment();
    this.clock = core.clock();
  }

  /**
   * The input of a compaction.
   *
   * @param cursors opens cursors over the cells, each time over the same; closed by the writer
   * @param past whether there are older cells elsewhere
   * @param tombstonesPossible whether the cells may include tombstones
   * @param operations the block of operations; may be empty
   * @param pace limits the speed
   * @param timeMicros the time from which the ages of dropped cells are computed
   */
  record Inputs(
      IoCallable<List<CellCursor>> cursors,
      VersionFilter.Past past,
      boolean tombstonesPossible,
      Bytes operations,
      CompactionPace pace,
      long timeMicros) {}

  /**
   * The coverage of the new files.
   *
   * @param minSequence the lowest covered sequence number, inclusive
   * @param maxSequence the highest covered sequence number, inclusive
   * @param known no operation up to this one, and above the highest covered, is of these families
   * @param families the covered families
   * @param collectedMicros since when the inputs may have held garbage
   */
  record Coverage(
      long minSequence,
      long maxSequence,
      long known,
      SortedSet<String> families,
      long collectedMicros) {}

  /**
   * The result of a compaction.
   *
   * @param files the new files, each held once; none if no cell was left
   * @param readableFrom the lowest read point that still sees what it saw before, but for what is
   *     too old; 0: all of them
   * @param expiredMicros the time from which the ages of dropped cells were computed; {@link
   *     TabletClock#NEVER}: none was dropped for its age
   */
  record Output(List<TabletFile> files, long readableFrom, long expiredMicros) {
    List<FileRef> refs() {
      return files.stream().map(TabletFile::ref).toList();
    }
  }

  /**
   * Writes the cells of {@code inputs} that the filter keeps, and what files have beside cells. It
   * leaves no file behind if it fails.
   *
   * @param groupsAtOnce of how many locality groups files are written at the same time: the cells
   *     are read once for every so many that have any
   */
  Output write(Inputs inputs, Coverage coverage, SchemaRules now, int groupsAtOnce)
      throws IOException {
    SchemaRules rules = now.at(coverage.known());
    // Not a pin's time: the file would seem due again at once, and be compacted again and again.
    long collected =
        inputs.past() == VersionFilter.Past.WHOLE
            ? clock.whenDropping()
            : coverage.collectedMicros();
    Times times = new Times(collected, OperationsBlock.timeOf(inputs.operations()));
    List<TabletFile> files = new ArrayList<>();
    try (GroupWriters writers =
        new GroupWriters(core, nextFile, rules, coverage.families(), groupsAtOnce)) {
      boolean dropped = false;
      for (int round = 0; writers.nextRound(); round++) {
        dropped |= filter(inputs, rules, writers);
        if (round == 0) { // If any round writes a file, the first one does.
          addRest(inputs, rules, writers);
        }
        for (GroupWriters.Written written : writers.finishRound(clock.highest())) {
          files.add(open(written, coverage, times, rules));
        }
      }
      writers.keep();
      boolean expired =
          dropped
              && inputs.past() == VersionFilter.Past.WHOLE
              && coverage.families().stream().anyMatch(family -> rules.gc(family).isAged());
      return new Output(
          files,
          dropped ? coverage.maxSequence() : 0,
          expired ? inputs.timeMicros() : TabletClock.NEVER);
    } catch (IOException | RuntimeException e) {
      files.forEach(TabletFile::release);
      throw e;
    }
  }

  /** Deletes files that were not committed. */
  void discard(Output output) {
    for (TabletFile file : output.files()) {
      file.release();
      core.abandoned().add(new Path(environment.root(), file.ref().path()));
    }
    core.abandoned().delete();
  }

  /** Adds what one file of the compaction holds besides cells. */
  private static void addRest(Inputs inputs, SchemaRules rules, GroupWriters writers)
      throws IOException {
    if (!inputs.operations().isEmpty()) {
      writers.metaBlock(OperationsBlock.NAME, inputs.operations());
    }
    if (rules.counts().latest() > 0) {
      writers.begin(); // Some file must say how many versions counted before, if without cells.
    }
  }

  /**
   * Passes the cells to keep to the writers; returns whether any was dropped. A filter of the same
   * time judges the cells of each round alike: also those that the round leaves out.
   */
  private static boolean filter(Inputs inputs, SchemaRules rules, GroupWriters writers)
      throws IOException {
    VersionFilter filter =
        new VersionFilter(rules, inputs.timeMicros(), inputs.past(), inputs.tombstonesPossible());
    try (MergedCursor cells = new MergedCursor(inputs.cursors().call(), Long.MAX_VALUE)) {
      return filter(cells, filter, writers, inputs.pace());
    }
  }

  private static boolean filter(
      MergedCursor cells, VersionFilter filter, GroupWriters writers, CompactionPace pace)
      throws IOException {
    boolean dropped = false;
    long passed = 0;
    while (cells.next()) {
      passed += cells.keyLength() + cells.valueLength();
      if (passed >= PACE_BYTES) {
        pace.passed(passed);
        passed = 0;
      }
      switch (filter.judge(cells)) {
        case KEEP -> writers.add(cells, cells.type(), filter);
        case KEEP_AS_SURPLUS -> {
          // A reader at an earlier point would no longer count it.
          dropped |= cells.type() != CellType.SURPLUS;
          writers.add(cells, CellType.SURPLUS, filter);
        }
        case DROP, DROP_COLUMN -> dropped = true;
      }
    }
    return dropped;
  }

  /** The times of a new file, by the tablet's own clock: see {@link FileRef}. */
  private record Times(long collectedMicros, long operationsMicros) {}

  private TabletFile open(
      GroupWriters.Written written, Coverage coverage, Times times, SchemaRules rules)
      throws IOException {
    FileRef ref =
        FileRef.builder(written.path(), written.summary().length(), core.spec().extent())
            .sequences(coverage.minSequence(), coverage.maxSequence())
            .families(written.families())
            .collectedMicros(times.collectedMicros())
            .operationsMicros(times.operationsMicros())
            .build();
    TabletFile file = TabletFile.open(environment, ref, rules);
    long found = file.table().properties().cells();
    if (found != written.cells()) {
      file.release();
      throw new CorruptionException(
          ref.path(),
          0,
          "the file has " + found + " cells, but " + written.cells() + " were written");
    }
    return file;
  }
}
