package io.stele.tablet;

import io.stele.config.MemoryPlan;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.record.ClearedFiles;
import io.stele.record.ClearedRows;
import io.stele.record.ErasedFiles;
import io.stele.record.FileRef;
import io.stele.record.FileReplacement;
import io.stele.record.ManifestEdit;
import io.stele.record.Pending;
import io.stele.record.PendingFile;
import io.stele.record.Pin;
import io.stele.record.RecordChangeSize;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Changes of a tablet's files other than compactions: pins, files of jobs, cleared rows and erased
 * families.
 *
 * <p>Each is one edit of the manifest, after which the state says the same; one that fails before
 * its commit changes nothing. If the outcome of the commit is unknown, the tablet stops. A change
 * that divides older from newer operations first has all memtables written to files. Safe for use
 * by any number of threads.
 */
final class FileChanges {
  private final TabletCore core;
  private final Sequencer sequencer;
  private final CompactionWriter writer;
  private final MinorCompactor minor;
  private final ManifestEdits edits;
  private final PendingFiles pendingFiles;

  /** The changes of a tablet's files. */
  FileChanges(
      TabletCore core,
      Sequencer sequencer,
      CompactionWriter writer,
      MinorCompactor minor,
      ManifestEdits edits) {
    this.core = core;
    this.sequencer = sequencer;
    this.writer = writer;
    this.minor = minor;
    this.edits = edits;
    this.pendingFiles = new PendingFiles(core);
  }

  /** Closes the files that wait for jobs. */
  void close() {
    pendingFiles.close();
  }

  /**
   * Keeps what a read sees now readable until {@link #unpin}. Writes all memtables to SSTables, so
   * that no file has operations from both sides of the pin, and then writes the pin to the
   * manifest.
   *
   * @return the new pin, or the existing one of the same name
   */
  Pin pin(String name) throws IOException {
    return minor.between( // Until the pin exists, no file gets operations above it.
        () -> {
          Optional<Pins.Held> known = core.pins().find(name);
          return known.isPresent() ? known.get().pin() : newPin(name);
        });
  }

  private Pin newPin(String name) throws IOException {
    long timestamp = minor.writeMemtablesForPin();
    return edits.alone(
        () -> {
          SchemaRules rules = core.rules(); // Once: both parts are of the same alteration.
          Pin pin =
              new Pin(
                  name,
                  core.current().peek().redoPoint(),
                  core.clock().now(),
                  timestamp,
                  rules.schema(),
                  rules.counts().byFamily());
          edits.commit(edits.edit("pinned by " + name, 0).pin(pin).build());
          core.pins().add(pin);
          return pin;
        });
  }

  /**
   * Removes a pin, and then what was kept for it alone: compactions may then drop what only it
   * needed. False if there is none of that name. If this fails, the pin may be gone, and {@link
   * #keepsUnseen} be true.
   */
  boolean unpin(String name) throws IOException {
    return edits.alone(
        () -> {
          if (core.pins().find(name).isEmpty()) {
            return false;
          }
          edits.commit(edits.edit("unpinned by " + name, 0).unpin(name).build());
          core.pins().remove(name);
          removeUnseenParts();
          return true;
        });
  }

  /** Whether cleared parts of files are left that no pin sees any more. */
  boolean keepsUnseen() {
    return !unseen().isEmpty();
  }

  /** Removes the cleared parts of files that no pin sees any more. */
  void removeUnseen() throws IOException {
    edits.alone(this::removeUnseenParts);
  }

  /** In as many edits as METADATA wants: no read sees these parts, so none sees only some gone. */
  private void removeUnseenParts() throws IOException {
    for (List<FileRef> left = unseen(); !left.isEmpty(); left = unseen()) {
      RecordChangeSize size = new RecordChangeSize(core.spec().extent());
      List<FileRef> some = new ArrayList<>();
      for (FileRef part : left) {
        size.remove(part);
        size.putDropped(part.path());
        if (!size.fits() && !some.isEmpty()) {
          break;
        }
        some.add(part);
      }
      edits.commit(edits.edit("removed what only pins saw", 0).remove(some).build());
      core.current().swap(state -> state.without(filesOf(state, some)));
    }
  }

  private List<FileRef> unseen() {
    return ClearedFiles.unseen(refs(), core.pins().all());
  }

  /**
   * Writes the changes that wait for the end of a job, in rows of this tablet, into the manifest.
   * {@link #take} or {@link #discard} follows.
   *
   * @throws io.stele.model.CorruptionException if a file is damaged
   */
  void register(List<Pending> changes) throws IOException {
    edits.alone(
        () -> {
          List<Pending> waiting = new ArrayList<>(core.pending());
          List<Pending> more = new ArrayList<>(changes);
          more.removeAll(waiting);
          if (!more.isEmpty()) {
            recordPending(more);
            waiting.addAll(more);
            core.setPending(waiting);
          }
        });
  }

  private void recordPending(List<Pending> changes) throws IOException {
    boolean done = false;
    try {
      for (Pending one : changes) {
        if (one instanceof PendingFile file) {
          pendingFiles.check(file);
        }
      }
      edits.commit(
          edits.edit("files wait for job " + changes.get(0).job(), 0).pending(changes).build());
      done = true;
    } finally {
      if (!done) {
        pendingFiles.forget(changes);
      }
    }
  }

  /** Discards the changes that wait for a job, which did not commit. False if there are none. */
  boolean discard(String job) throws IOException {
    return edits.alone(
        () -> {
          if (waitingFor(job).isEmpty()) {
            return false;
          }
          edits.commit(edits.edit("job " + job + " did not commit", 0).resolve(job).build());
          forget(job);
          return true;
        });
  }

  /**
   * Adds the files that wait for a committed job to the tablet, above everything written before. If
   * the job replaces rows, their earlier cells disappear. The caller has paused writes, and has
   * waited for the accepted ones.
   *
   * <p>The sequence numbers of the files need no log records: the manifest edit that assigns them
   * says that everything up to them is in files. Before the edit no reader has seen the files;
   * after it no reader reads without them, because the read point moves over them last.
   *
   * @return false if nothing waits for the job
   * @throws RecordFullException if the tablet has too many files for that: nothing was changed
   */
  boolean take(String job) throws IOException {
    return minor.between(
        () -> {
          List<Pending> waiting = waitingFor(job);
          if (waiting.isEmpty()) {
            return false;
          }
          Set<String> deleting = pendingFiles.withRowTombstones(waiting);
          return divide(
              before -> {
                SchemaRules rules = core.rules();
                List<Pending> whole =
                    PendingFile.withFamilies(
                        waiting, rules.families(), file -> deleting.contains(file.file().path()));
                FileReplacement files =
                    FileReplacement.of(
                        whole, refs(), before, core.pins().all(), core.clock().now());
                if (rules.counts().latest() > 0) {
                  files = files.withCounts(); // The log has no record of these numbers.
                }
                requireFits(files, waiting);
                take(edits.edit("files of job " + job, files.upTo()).resolve(job), files, rules);
                forget(job); // Last: readers that find nothing waiting read the files.
              });
        });
  }

  /** A change that takes sequence numbers. */
  private interface Division {
    /** Makes it; everything up to {@code before} is in files, and nothing was accepted since. */
    void make(long before) throws IOException;
  }

  /**
   * Makes a change between what was accepted until now and what is accepted later.
   *
   * @return true
   */
  private boolean divide(Division division) throws IOException {
    minor.writeMemtables();
    return edits.alone(
        () -> {
          long before = core.current().peek().redoPoint();
          sequencer.requireRest(before);
          division.make(before);
          return true;
        });
  }

  /**
   * Clears rows: cells written to them are no longer visible, except at pins. The clearing takes a
   * sequence number, which, like the numbers of a job's files, needs no log record. The caller has
   * paused writes, and has waited for the accepted ones.
   *
   * @param now what was cleared, for the manifest
   * @throws RecordFullException if the tablet has too many files for that: nothing was changed
   * @throws SteleException RETRY_LATER if pins would keep too many cleared parts of files: nothing
   *     was changed
   */
  void clear(RowRange rows, ClearedRows now) throws IOException {
    minor.between(
        () ->
            divide(
                before -> {
                  FileReplacement files =
                      FileReplacement.cleared(List.of(rows), refs(), before, core.pins().all());
                  requireFits(files, List.of());
                  requireFewKept(files);
                  take(edits.edit("cleared " + rows, files.upTo()).clear(now), files, core.rules());
                }));
  }

  /**
   * Erases dropped families: cells written to them are no longer visible, except at pins, even if
   * another family gets such a name later. The caller has paused writes, and has waited for the
   * accepted ones.
   *
   * @param now what was done for the change, for the manifest
   * @throws SteleException RETRY_LATER if the tablet's schema has one of the families
   */
  void erase(Set<String> families, ClearedRows now) throws IOException {
    minor.between(
        () -> {
          requireDropped(families); // No write that is accepted from now on is of them.
          return divide(
              before -> {
                FileReplacement files = ErasedFiles.of(refs(), families, before);
                requireFits(files, List.of());
                take(
                    edits.edit("erased families " + families, files.upTo()).clear(now),
                    files,
                    core.rules());
              });
        });
  }

  private void requireDropped(Set<String> families) {
    Set<String> had = core.rules().families();
    had.retainAll(families);
    if (!had.isEmpty()) {
      throw SteleException.retryLater(
          "tablet " + core.spec().id() + " has families " + had + ", which are to be erased");
    }
  }

  private List<FileRef> refs() {
    return core.current().peek().files().stream().map(TabletFile::ref).toList();
  }

  /**
   * Makes the decision durable, then visible; the read point moves last.
   *
   * @param rules under which it was made; the schema may be altered meanwhile
   */
  private void take(ManifestEdit.Builder edit, FileReplacement files, SchemaRules rules)
      throws IOException {
    List<TabletFile> made = new ArrayList<>();
    try {
      for (FileRef file : files.added()) {
        made.add(pendingFiles.take(file));
      }
      // What is written after a job's commit is newer than what the job wrote, by whatever clock.
      made.forEach(file -> core.clock().pass(file.highestTimestamp(core.clock().now())));
      Optional<CompactionWriter.Output> own = writeOwn(files, rules);
      List<FileRef> added = new ArrayList<>(files.added());
      own.ifPresent(one -> added.addAll(one.refs()));
      ManifestEdit whole = edit.add(added).remove(files.removed()).build();
      core.current().beginChange(); // Others may act on the edit before this tablet knows of it.
      try {
        if (own.isPresent()) {
          edits.commit(whole, own.get());
          made.addAll(own.get().files());
        } else {
          edits.commit(whole);
        }
        show(files, made, rules.counts().latest());
      } finally {
        core.current().endChange();
      }
    } finally {
      made.forEach(TabletFile::release); // Now the state holds them.
    }
  }

  /** Before anything is written: METADATA would refuse the change. */
  private void requireFits(FileReplacement files, List<Pending> resolved) {
    RecordChangeSize size = new RecordChangeSize(core.spec().extent());
    files.removed().forEach(size::remove);
    files.added().forEach(size::put);
    resolved.forEach(size::remove);
    if (!size.fits()) {
      throw new RecordFullException(
          core.spec().id(), files.added().size() + files.removed().size(), size.toString());
    }
  }

  /**
   * What pins keep must not make the record ever larger: there is no more of it than one edit could
   * remove. What jobs replace has a bound of its own, which holds before they commit.
   */
  private void requireFewKept(FileReplacement files) {
    List<FileRef> cleared =
        Stream.concat(refs().stream(), files.added().stream()).filter(FileRef::isCleared).toList();
    RecordChangeSize size = new RecordChangeSize(core.spec().extent());
    cleared.forEach(size::remove);
    if (!size.fits()) {
      throw SteleException.retryLater(
          "rows of tablet "
              + core.spec().id()
              + " cannot be cleared: "
              + cleared.size()
              + " cleared parts of its files would be kept for jobs that read the table; it goes on"
              + " when one of them has ended");
    }
  }

  private void show(FileReplacement files, List<TabletFile> made, int alteration) {
    long upTo = files.upTo();
    try {
      sequencer.passTo(upTo, alteration);
      core.current()
          .swap(
              state ->
                  files.clears()
                      ? state.cleared(filesOf(state, files.removed()), made, upTo)
                      : state.taken(filesOf(state, files.removed()), made, upTo),
              () -> core.commits().pass(upTo));
    } catch (RuntimeException | Error e) {
      core.health().stop(e); // Nobody may read what the manifest no longer says.
      throw e;
    }
  }

  /**
   * Writes what the tablet needs a file of its own for, without cells: all remembered operations,
   * of all rows, if files that held some of them are removed; and how many versions counted before.
   */
  private Optional<CompactionWriter.Output> writeOwn(FileReplacement files, SchemaRules rules)
      throws IOException {
    if (files.clears()) {
      long sequence = Math.max(files.clearedAt(), files.countsAt());
      return Optional.of(writeOwn(sequence, core.window().encodeWritten(), rules));
    }
    return files.countsAt() > 0
        ? Optional.of(writeOwn(files.countsAt(), Bytes.EMPTY, rules))
        : Optional.empty();
  }

  private CompactionWriter.Output writeOwn(long sequence, Bytes operations, SchemaRules rules)
      throws IOException {
    return writer.write(
        new CompactionWriter.Inputs(
            List::of,
            VersionFilter.Past.UNSEEN,
            false,
            operations,
            CompactionPace.UNLIMITED,
            core.clock().whenDropping()),
        new CompactionWriter.Coverage(
            sequence, sequence, sequence, rules.families(), core.clock().now()),
        rules,
        MemoryPlan.MINOR_GROUPS);
  }

  private static List<TabletFile> filesOf(TabletState state, List<FileRef> refs) {
    Set<FileRef> wanted = new HashSet<>(refs);
    return state.files().stream().filter(file -> wanted.contains(file.ref())).toList();
  }

  private List<Pending> waitingFor(String job) {
    return core.pending().stream().filter(one -> one.job().equals(job)).toList();
  }

  private void forget(String job) {
    pendingFiles.forget(waitingFor(job));
    core.setPending(core.pending().stream().filter(one -> !one.job().equals(job)).toList());
  }
}
