package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.record.ClearedFiles;
import io.stele.record.ClearedRows;
import io.stele.record.ErasedFiles;
import io.stele.record.FileRef;
import io.stele.record.ManifestEdit;
import io.stele.record.Pending;
import io.stele.record.PendingFile;
import io.stele.record.Pin;
import io.stele.record.TakenFiles;
import io.stele.runtime.Futures;
import io.stele.runtime.MemoryClaim;
import io.stele.runtime.MemoryRoom;
import io.stele.sstable.ReadOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.Lock;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Minor, merging and major compactions of one tablet. Each is a call that <em>picks</em> its
 * inputs, <em>writes</em> new files, <em>commits</em> them to the manifest, and <em>swaps</em> the
 * state.
 *
 * <p>A compaction that fails before its commit changes nothing, and deletes the files it began.
 * (After a crash the sweep finds such files: their names contain the tablet's epoch, and no record
 * names them.) After the commit only the swap remains, which fails only if the tablet was closed in
 * between. If the outcome of the commit is unknown, the tablet stops.
 *
 * <p>One minor compaction runs at a time, and at the same time at most one merging or major
 * compaction for each {@link FileStack}. Commits run one at a time. Safe for use by any number of
 * threads.
 */
final class Compactor {
  private static final Logger LOG = LoggerFactory.getLogger(Compactor.class);

  private static final int CROWDED = 2;

  private final TabletCore core;
  private final TabletEnvironment environment;
  private final Sequencer sequencer;
  private final CompactionWriter writer;
  private final CompactionPicker picker;
  private final CompactionClaims claims;
  private final WaitingFiles waitingFiles;
  private final long replayedTo;
  private final Lock minor; // Held over I/O, as is committing.
  private final Lock committing;

  /**
   * The compactions of a tablet.
   *
   * @param replayedTo the highest sequence number that was replayed when the tablet was opened
   */
  Compactor(TabletCore core, Sequencer sequencer, long replayedTo) {
    this.core = core;
    this.environment = core.environment();
    this.sequencer = sequencer;
    this.writer = new CompactionWriter(core);
    this.picker = new CompactionPicker(core.options());
    this.claims = new CompactionClaims(core);
    this.waitingFiles = new WaitingFiles(core);
    this.replayedTo = replayedTo;
    this.minor = environment.runtime().newLock();
    this.committing = environment.runtime().newLock();
  }

  /** Closes the files that wait for jobs. */
  void close() {
    waitingFiles.close();
  }

  /** Writes all memtables to SSTables; false if they are empty. */
  boolean minorCompact() throws IOException {
    minor.lock();
    try {
      return writeMemtables();
    } finally {
      minor.unlock();
    }
  }

  /** Makes a minor compaction; the caller holds {@link #minor}. */
  private boolean writeMemtables() throws IOException {
    core.health().check();
    sequencer.freeze();
    TabletState state = core.current().acquire();
    try {
      List<TabletState.Frozen> frozen = state.frozen();
      if (frozen.isEmpty()) {
        return false;
      }
      await(frozen.get(0).durable());
      minorCompact(state, frozen);
      return true;
    } finally {
      state.release();
    }
  }

  /**
   * Keeps what a read sees now readable until {@link #unpin}. Writes all memtables to SSTables, so
   * that no file has operations from both sides of the pin, and then writes the pin to the
   * manifest.
   *
   * @return the new pin, or the existing one of the same name
   */
  Pin pin(String name) throws IOException {
    minor.lock(); // Until the pin exists, no file gets operations above it.
    try {
      Optional<Pins.Held> known = core.pins().find(name);
      if (known.isPresent()) {
        return known.get().pin();
      }
      writeMemtables();
      committing.lock();
      try {
        Pin pin =
            new Pin(
                name, core.current().peek().redoPoint(), core.clock().now(), core.rules().schema());
        commit(edit("pinned by " + name, 0).pin(pin).build());
        core.pins().add(pin);
        return pin;
      } finally {
        committing.unlock();
      }
    } finally {
      minor.unlock();
    }
  }

  /**
   * Removes a pin: compactions may then drop what only it needed. False if there is none of that
   * name.
   */
  boolean unpin(String name) throws IOException {
    committing.lock();
    try {
      if (core.pins().find(name).isEmpty()) {
        return false;
      }
      List<Pin> left = core.pins().all().stream().filter(pin -> !pin.name().equals(name)).toList();
      List<TabletFile> files = core.current().peek().files();
      List<FileRef> unseen =
          ClearedFiles.unseen(files.stream().map(TabletFile::ref).toList(), left);
      commit(edit("unpinned by " + name, 0).remove(unseen).unpin(name).build());
      core.pins().remove(name);
      if (!unseen.isEmpty()) {
        core.current().swap(state -> state.without(filesOf(state, unseen)));
      }
      return true;
    } finally {
      committing.unlock();
    }
  }

  /**
   * Writes the changes that wait for the end of a job, in rows of this tablet, into the manifest.
   * {@link #take} or {@link #strike} follows.
   *
   * @throws io.stele.model.CorruptionException if a file is damaged
   */
  void register(List<Pending> changes) throws IOException {
    committing.lock();
    try {
      List<Pending> waiting = new ArrayList<>(core.pending());
      List<Pending> more = new ArrayList<>(changes);
      more.removeAll(waiting);
      if (!more.isEmpty()) {
        awaitEnd(more);
        waiting.addAll(more);
        core.setPending(waiting);
      }
    } finally {
      committing.unlock();
    }
  }

  private void awaitEnd(List<Pending> changes) throws IOException {
    boolean done = false;
    try {
      for (Pending one : changes) {
        if (one instanceof PendingFile file) {
          waitingFiles.check(file);
        }
      }
      commit(edit("files wait for job " + changes.get(0).job(), 0).await(changes).build());
      done = true;
    } finally {
      if (!done) {
        waitingFiles.forget(changes);
      }
    }
  }

  /** Discards the changes that wait for a job, which did not commit. False if there are none. */
  boolean strike(String job) throws IOException {
    committing.lock();
    try {
      if (waitingFor(job).isEmpty()) {
        return false;
      }
      commit(edit("job " + job + " did not commit", 0).resolve(job).build());
      forget(job);
      return true;
    } finally {
      committing.unlock();
    }
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
   */
  boolean take(String job) throws IOException {
    minor.lock();
    try {
      List<Pending> waiting = waitingFor(job);
      if (waiting.isEmpty()) {
        return false;
      }
      writeMemtables();
      committing.lock();
      try {
        long before = core.current().peek().redoPoint();
        sequencer.requireRest(before);
        TakenFiles files =
            TakenFiles.of(waiting, refs(), before, core.pins().all(), core.clock().now());
        take(edit("files of job " + job, files.upTo()).resolve(job), files);
        forget(job); // Last: readers that find nothing waiting read the files.
        return true;
      } finally {
        committing.unlock();
      }
    } finally {
      minor.unlock();
    }
  }

  /**
   * Clears rows: cells written to them are no longer visible, except at pins. The clearing takes a
   * sequence number, which, like the numbers of a job's files, needs no log record. The caller has
   * paused writes, and has waited for the accepted ones.
   *
   * @param now what was cleared, for the manifest
   */
  void clear(RowRange rows, ClearedRows now) throws IOException {
    minor.lock();
    try {
      writeMemtables();
      committing.lock();
      try {
        long before = core.current().peek().redoPoint();
        sequencer.requireRest(before);
        TakenFiles files = TakenFiles.cleared(List.of(rows), refs(), before, core.pins().all());
        take(edit("cleared " + rows, files.upTo()).clear(now), files);
      } finally {
        committing.unlock();
      }
    } finally {
      minor.unlock();
    }
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
    minor.lock();
    try {
      requireDropped(families); // No write that is accepted from now on is of them.
      writeMemtables();
      committing.lock();
      try {
        long before = core.current().peek().redoPoint();
        sequencer.requireRest(before);
        TakenFiles files = ErasedFiles.of(refs(), families, before);
        take(edit("erased families " + families, files.upTo()).clear(now), files);
      } finally {
        committing.unlock();
      }
    } finally {
      minor.unlock();
    }
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

  /** Makes the decision durable, then visible; the read point moves last. */
  private void take(ManifestEdit.Builder edit, TakenFiles files) throws IOException {
    List<TabletFile> made = new ArrayList<>();
    try {
      for (FileRef file : files.added()) {
        made.add(waitingFiles.take(file));
      }
      long upTo = files.upTo();
      if (files.clears()) {
        CompactionWriter.Output operations = writeOperations(files.clearedAt());
        List<FileRef> added = new ArrayList<>(files.added());
        added.addAll(operations.refs());
        commit(edit.add(added).remove(files.removed()).build(), operations);
        made.addAll(operations.files());
      } else {
        commit(edit.add(files.added()).remove(files.removed()).build());
      }
      sequencer.passTo(upTo);
      core.current()
          .swap(
              state ->
                  files.clears()
                      ? state.cleared(filesOf(state, files.removed()), made, upTo)
                      : state.taken(filesOf(state, files.removed()), made, upTo),
              () -> core.commits().pass(upTo));
    } finally {
      made.forEach(TabletFile::release); // Now the state holds them.
    }
  }

  /**
   * Writes all remembered operations, of all rows, because files that held some of them are
   * removed.
   */
  private CompactionWriter.Output writeOperations(long sequence) throws IOException {
    SchemaRules rules = core.rules();
    return writer.write(
        new CompactionWriter.Inputs(
            List.of(),
            CellSieve.Past.UNSEEN,
            false,
            core.window().encodeWritten(),
            CompactionPace.UNLIMITED,
            core.clock().whenDropping()),
        new CompactionWriter.Coverage(sequence, sequence, rules.families(), core.clock().now()),
        rules);
  }

  private static List<TabletFile> filesOf(TabletState state, List<FileRef> refs) {
    return state.files().stream().filter(file -> refs.contains(file.ref())).toList();
  }

  private List<Pending> waitingFor(String job) {
    return core.pending().stream().filter(one -> one.job().equals(job)).toList();
  }

  private void forget(String job) {
    waitingFiles.forget(waitingFor(job));
    core.setPending(core.pending().stream().filter(one -> !one.job().equals(job)).toList());
  }

  /** Merges files of similar size, or of changed locality groups; false if there are none. */
  boolean mergingCompact() throws IOException {
    return compactOne("merging compaction", this::toMerge);
  }

  /**
   * Removes the garbage of one locality group; false if no group has garbage that is {@link
   * CompactionPicker#isDue due}.
   */
  boolean collectGarbage(Duration interval) throws IOException {
    return compactOne("major compaction", toCollect(interval));
  }

  /**
   * Rewrites all files that pins allow to rewrite, those of each locality group as one; false if
   * there are none.
   */
  boolean majorCompact() throws IOException {
    boolean rewrote = false;
    while (true) {
      core.health().check();
      List<CompactionClaims.Claim> all = claims.takeAll();
      Set<CompactionClaims.Claim> done = new HashSet<>();
      boolean isWhole = true;
      try {
        for (CompactionClaims.Claim claim : all) {
          for (FileStack part : core.pins().parts(claim.stack())) {
            CompactionClaims.Claim ofPart = claim.of(part.layers());
            if (isAllowed(ofPart)) {
              isWhole &= compact("major compaction", ofPart);
              rewrote = true;
            }
          }
          done.add(claim);
        }
      } finally {
        all.forEach(claim -> claims.release(claim, done.contains(claim)));
      }
      if (isWhole) {
        return rewrote;
      }
    }
  }

  /** Whether {@link #mergingCompact} would find work. */
  boolean wantsMerging() {
    return claims.any(this::toMerge);
  }

  /** Whether {@link #collectGarbage} would find work. */
  boolean wantsToCollect(Duration interval) {
    return claims.any(toCollect(interval));
  }

  /** Whether some stack has so many layers that merging does not keep up. */
  boolean isCrowded() {
    return hasLayers(CROWDED * core.options().merging().stackMax());
  }

  private boolean hasLayers(int more) {
    return core.current().peek().stacks(core.rules()).stream()
        .flatMap(stack -> core.pins().parts(stack).stream())
        .anyMatch(part -> part.layers().size() > more);
  }

  private Optional<List<FileStack.Layer>> toMerge(FileStack stack, SchemaRules under) {
    return core.pins().parts(stack).stream()
        .flatMap(part -> picker.toMerge(part, under).stream())
        .filter(layers -> isAllowed(new CompactionClaims.Claim(stack, layers, under)))
        .findFirst();
  }

  /** Garbage can be removed only from files below all pins: above a pin, tombstones must stay. */
  private CompactionClaims.Choice toCollect(Duration interval) {
    return (stack, under) -> {
      List<FileStack> parts = core.pins().parts(stack);
      FileStack oldest = parts.get(parts.size() - 1);
      return core.clock().isTrusted()
              && picker.isDue(oldest, under, core.clock().now(), interval)
              && isAllowed(new CompactionClaims.Claim(stack, oldest.layers(), under))
          ? Optional.of(oldest.layers())
          : Optional.empty();
    };
  }

  private boolean isAllowed(CompactionClaims.Claim claim) {
    CompactionWriter.Coverage inputs = claim.coverage();
    return core.pins().allow(inputs, claim.rules(), dropTime(inputs.maxSequence()))
        && claim.files().stream().noneMatch(file -> core.pins().seeErased(file.ref()));
  }

  /** The time from which ages are computed when operations up to {@code sequence} are dropped. */
  private long dropTime(long sequence) {
    return core.pins().clock(sequence, core.clock().whenDropping());
  }

  private boolean compactOne(String reason, CompactionClaims.Choice choice) throws IOException {
    core.health().check();
    Optional<CompactionClaims.Claim> claim = claims.take(choice);
    if (claim.isEmpty()) {
      return false;
    }
    boolean done = false;
    try {
      compact(reason, claim.get());
      done = true;
    } finally {
      claims.release(claim.get(), done);
    }
    return true;
  }

  private void minorCompact(TabletState state, List<TabletState.Frozen> frozen) throws IOException {
    long boundary = frozen.get(0).boundary();
    SchemaRules rules = core.rules();
    CompactionWriter.Output output =
        writer.write(
            new CompactionWriter.Inputs(
                frozen.stream().map(one -> one.memtable().cursor(Long.MAX_VALUE)).toList(),
                state.files().isEmpty() ? CellSieve.Past.WHOLE : CellSieve.Past.UNSEEN,
                frozen.stream().anyMatch(one -> one.memtable().hasTombstones()),
                core.window().encodeRecent(state.redoPoint(), boundary),
                CompactionPace.UNLIMITED,
                core.clock().whenDropping()),
            new CompactionWriter.Coverage(
                state.redoPoint() + 1, boundary, rules.families(), core.clock().now()),
            rules);
    commit(
        "minor compaction",
        output,
        List.of(),
        boundary,
        before -> before.minorCompacted(frozen, output.files(), output.readableFrom()));
    core.window().moveToWritten(boundary);
    core.counters().minorCompactions.increment();
    environment.log().release(boundary);
  }

  /**
   * Rewrites the claimed files as one file; or as several, if one block of each of them together is
   * too large for the available memory. There are then fewer files than before, so that another
   * compaction may make them one.
   *
   * @return whether the result is one file
   */
  private boolean compact(String reason, CompactionClaims.Claim claim) throws IOException {
    List<CompactionClaims.Claim> parts = claim.parts(core.options().merging().filesMax());
    MemoryRoom room = environment.largeBlocks();
    boolean isDivisible = parts.size() > 1 && parts.size() < claim.layers().size();
    MemoryRoom.Share memory = isDivisible ? room.openWithin() : room.open();
    try {
      compact(reason, claim, memory);
      return true;
    } catch (SteleException e) {
      if (!memory.isTooMuch()) {
        throw e;
      }
      LOG.info("The {} of {} goes on in parts: {}", reason, core.spec().id(), e.getMessage());
    } finally {
      memory.close();
    }
    for (CompactionClaims.Claim part : parts) {
      if (part.layers().size() > 1) {
        try (MemoryRoom.Share ofPart = room.open()) {
          compact(reason, part, ofPart);
        }
      }
    }
    return false;
  }

  private void compact(String reason, CompactionClaims.Claim claim, MemoryClaim memory)
      throws IOException {
    List<TabletFile> chosen = claim.files();
    ReadOptions options = ReadOptions.compaction(chosen.size(), memory);
    List<CellCursor> cursors = new ArrayList<>();
    for (TabletFile file : chosen) {
      cursors.add(file.cursor(core.spec().extent(), options, TabletFile.UNPINNED));
    }
    CompactionWriter.Coverage coverage = claim.coverage();
    long time = dropTime(coverage.maxSequence());
    CompactionWriter.Output output =
        writer.write(
            new CompactionWriter.Inputs(
                cursors,
                claim.hasOldest() ? CellSieve.Past.WHOLE : CellSieve.Past.UNSEEN,
                chosen.stream().anyMatch(TabletFile::hasTombstones),
                operations(chosen),
                this::keepPace,
                time),
            coverage,
            claim.rules());
    committing.lock();
    try {
      if (!core.pins().allow(coverage, claim.rules(), time)) {
        writer.discard(output);
        throw SteleException.retryLater(
            "tablet " + core.spec().id() + " was pinned during the " + reason + ": it is void");
      }
      if (!isOurs(chosen)) {
        writer.discard(output);
        throw SteleException.retryLater(
            "rows or families of tablet "
                + core.spec().id()
                + " were cleared during the "
                + reason
                + ": it is void");
      }
      commit(
          reason,
          output,
          chosen,
          0,
          before -> before.compacted(chosen, output.files(), output.readableFrom()));
    } finally {
      committing.unlock();
    }
    core.counters().mergingAndMajorCompactions.increment();
  }

  /**
   * Whether none of the files was replaced meanwhile, because rows were cleared or families erased.
   */
  private boolean isOurs(List<TabletFile> files) {
    return core.current().peek().files().containsAll(files);
  }

  /** The operations in the blocks of these files, without those that were forgotten since. */
  private Bytes operations(List<TabletFile> chosen) throws IOException {
    OperationWindow operations = core.window().ofSameLength();
    for (TabletFile file : chosen) {
      file.restoreOperations(operations);
    }
    operations.forgetAs(core.window());
    return operations.encodeWritten();
  }

  // Checked each time, because files may accumulate while a compaction waits.
  private void keepPace(long bytes) throws IOException {
    if (!hasLayers(core.options().merging().stackMax())) {
      environment.pace().passed(bytes);
    }
  }

  /** Makes a compaction durable, then visible. */
  private void commit(
      String reason,
      CompactionWriter.Output output,
      List<TabletFile> removed,
      long boundary,
      UnaryOperator<TabletState> change)
      throws IOException {
    committing.lock();
    try {
      ManifestEdit edit =
          edit(reason, boundary)
              .add(output.refs())
              .remove(removed.stream().map(TabletFile::ref).toList())
              .build();
      commit(edit, output);
      try {
        core.current().swap(change);
      } finally {
        output.files().forEach(TabletFile::release); // Now the state holds it.
      }
    } finally {
      committing.unlock();
    }
  }

  /** Commits an edit that names new files. If the edit certainly failed, the files are deleted. */
  private void commit(ManifestEdit edit, CompactionWriter.Output output) throws IOException {
    try {
      commit(edit);
    } catch (IOException e) {
      writer.discard(output);
      throw e;
    } catch (SteleException e) {
      if (e.code() == SteleException.Code.RETRY_LATER) {
        writer.discard(output);
      } else { // The manifest may name the new file, so it stays.
        output.files().forEach(TabletFile::release);
      }
      throw e;
    } catch (RuntimeException | Error e) {
      output.files().forEach(TabletFile::release);
      throw e;
    }
  }

  /** An edit after which everything up to {@code boundary}, or more, is in the files. */
  private ManifestEdit.Builder edit(String reason, long boundary) {
    long redoPoint = Math.max(core.current().peek().redoPoint(), boundary);
    return ManifestEdit.builder(reason)
        .reach(redoPoint, core.clock().highest())
        .coversReplay(redoPoint >= replayedTo);
  }

  /** Commits an edit. A failure stops the tablet, unless it is certain that nothing was changed. */
  private void commit(ManifestEdit edit) throws IOException {
    try {
      core.health().check();
      environment.manifest().commit(edit);
    } catch (SteleException e) {
      if (e.code() != SteleException.Code.RETRY_LATER) {
        core.health().stop(e);
      }
      throw e;
    } catch (RuntimeException | Error e) {
      core.health().stop(e);
      throw e;
    }
  }

  private void await(CompletableFuture<Void> durable) throws IOException {
    try {
      environment.runtime().await(durable);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "waiting for the log before a minor compaction");
    } catch (ExecutionException e) {
      throw new IOException(
          "a minor compaction was stopped: the log failed with records that it would write",
          e.getCause());
    }
  }
}
