package io.stele.tablet;

import io.stele.config.MemoryPlan;
import io.stele.format.CellCursor;
import io.stele.model.Bytes;
import io.stele.model.SteleException;
import io.stele.record.ManifestEdit;
import io.stele.runtime.Futures;
import io.stele.runtime.IoCallable;
import io.stele.runtime.MemoryRoom;
import io.stele.sstable.ReadOptions;
import java.io.IOException;
import java.time.Duration;
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
 * state. A <em>rewrite</em> is a merging or major compaction: its inputs are files.
 *
 * <p>A compaction that fails before its commit changes nothing, and deletes the files it began.
 * (After a crash the sweep finds such files: their names contain the tablet's epoch, and no record
 * names them.) After the commit only the swap remains, which fails only if the tablet was closed in
 * between. If the outcome of the commit is unknown, the tablet stops.
 *
 * <p>One minor compaction runs at a time, and at the same time at most one rewrite for each {@link
 * FileStack}. Commits run one at a time. Safe for use by any number of threads.
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
  private final ManifestEdits edits;
  private final Lock minor; // Held over I/O.
  private volatile boolean rewritesAborted;
  private volatile Optional<Written> committing = Optional.empty();

  /**
   * What a compaction has written, and how.
   *
   * @param rules by which garbage was left out
   */
  private record Written(
      CompactionWriter.Output output, CompactionWriter.Coverage coverage, SchemaRules rules) {
    /** Whether what was left out, if anything, is surely garbage by the rules of {@code now}. */
    boolean suits(SchemaRules now) {
      long known = coverage.known();
      return output.readableFrom() == 0
          || now.at(known).confirm(rules.at(known), coverage.families());
    }
  }

  /** The compactions of a tablet. */
  Compactor(TabletCore core, Sequencer sequencer, CompactionWriter writer, ManifestEdits edits) {
    this.core = core;
    this.environment = core.environment();
    this.sequencer = sequencer;
    this.writer = writer;
    this.picker = new CompactionPicker(core.options());
    this.claims = new CompactionClaims(core);
    this.edits = edits;
    this.minor = environment.runtime().newLock();
  }

  /** Writes all memtables to SSTables; false if they are empty. */
  boolean minorCompact() throws IOException {
    return betweenMinors(this::writeMemtables);
  }

  /**
   * Makes a change while no minor compaction runs, so that no file gets newer operations. The
   * change may {@link #writeMemtables} itself.
   */
  <T> T betweenMinors(IoCallable<T> change) throws IOException {
    minor.lock();
    try {
      return change.call();
    } finally {
      minor.unlock();
    }
  }

  /** Makes a minor compaction, {@link #betweenMinors between others}; false if nothing is new. */
  boolean writeMemtables() throws IOException {
    core.health().check();
    sequencer.freeze();
    return writeFrozen();
  }

  /**
   * Like {@link #writeMemtables}, and divides the changes that are in files then from later ones.
   *
   * @return a timestamp between theirs, as {@link Sequencer#freezeForPin} says
   */
  long writeMemtablesForPin() throws IOException {
    core.health().check();
    long timestamp = sequencer.freezeForPin();
    writeFrozen();
    return timestamp;
  }

  private boolean writeFrozen() throws IOException {
    TabletState state = core.current().acquire();
    try {
      List<TabletState.Frozen> frozen = state.frozen();
      if (frozen.isEmpty()) {
        return false;
      }
      await(frozen.get(0).durable());
      while (!minorCompact(state, frozen)) {
        LOG.info("The schema of {} was altered during a minor compaction", core.spec().id());
      }
      return true;
    } finally {
      state.release();
    }
  }

  /** See {@link Tablet#abortRewrites}. */
  void abortRewrites() {
    rewritesAborted = true;
  }

  /** See {@link Tablet#allowRewrites}. */
  void allowRewrites() {
    rewritesAborted = false;
  }

  /** See {@link Tablet#areRewritesAborted}. */
  boolean areRewritesAborted() {
    return rewritesAborted;
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
              isWhole &= rewrite("major compaction", ofPart);
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

  /** See {@link Tablet#mayCommitLoss}. */
  boolean mayCommitLoss() {
    return committing.filter(written -> !written.suits(core.rules())).isPresent();
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
      rewrite(reason, claim.get());
      done = true;
    } finally {
      claims.release(claim.get(), done);
    }
    return true;
  }

  /** False if nothing was done, because the schema was altered meanwhile. */
  private boolean minorCompact(TabletState state, List<TabletState.Frozen> frozen)
      throws IOException {
    long boundary = frozen.get(0).boundary();
    SchemaRules rules = core.rules();
    CompactionWriter.Coverage coverage =
        new CompactionWriter.Coverage(
            state.redoPoint() + 1, boundary, boundary, rules.families(), core.clock().now());
    CompactionWriter.Output output =
        writer.write(
            new CompactionWriter.Inputs(
                () -> frozen.stream().map(one -> one.memtable().cursor(Long.MAX_VALUE)).toList(),
                state.files().isEmpty() ? VersionFilter.Past.WHOLE : VersionFilter.Past.UNSEEN,
                frozen.stream().anyMatch(one -> one.memtable().hasTombstones()),
                core.window().encodeRecent(state.redoPoint(), boundary),
                CompactionPace.UNLIMITED,
                core.clock().whenDropping()),
            coverage,
            rules,
            MemoryPlan.MINOR_GROUPS);
    boolean done =
        commit(
            "minor compaction",
            new Written(output, coverage, rules),
            List.of(),
            boundary,
            before -> before.minorCompacted(frozen, output));
    if (!done) {
      return false;
    }
    core.window().moveToWritten(boundary);
    environment.compactions().minor().add(output.files());
    environment.log().release(boundary);
    return true;
  }

  /**
   * Rewrites the claimed files as one file; or as several, if they are too many to be read at once,
   * or one block of each of them together is too large for the available memory. There are then
   * fewer files than before, so that another compaction may make them one.
   *
   * @return whether the result is one file
   */
  private boolean rewrite(String reason, CompactionClaims.Claim claim) throws IOException {
    if (claim.files().size() > ReadOptions.COMPACTION_FILES_MAX) {
      List<CompactionClaims.Claim> parts = claim.parts(ReadOptions.COMPACTION_FILES_MAX);
      if (isFewer(parts, claim)) {
        rewriteParts(reason, parts);
        return false;
      }
    }
    List<CompactionClaims.Claim> parts = claim.parts(core.options().merging().filesMax());
    MemoryRoom room = environment.largeBlocks();
    MemoryRoom.Share memory = isFewer(parts, claim) ? room.openWithin() : room.open();
    try {
      rewriteAsOne(reason, claim, memory);
      return true;
    } catch (SteleException e) {
      if (!memory.isTooMuch()) {
        throw e;
      }
      LOG.info("The {} of {} continues in parts: {}", reason, core.spec().id(), e.getMessage());
    } finally {
      memory.close();
    }
    rewriteParts(reason, parts);
    return false;
  }

  /** Whether to rewrite each of these parts as one file makes the claim's files fewer. */
  private static boolean isFewer(List<CompactionClaims.Claim> parts, CompactionClaims.Claim claim) {
    return parts.size() > 1 && parts.size() < claim.layers().size();
  }

  private void rewriteParts(String reason, List<CompactionClaims.Claim> parts) throws IOException {
    for (CompactionClaims.Claim part : parts) {
      if (part.layers().size() > 1) {
        try (MemoryRoom.Share ofPart = environment.largeBlocks().open()) {
          rewriteAsOne(reason, part, ofPart);
        }
      }
    }
  }

  /** Rewrites the claimed files as one file. */
  private void rewriteAsOne(String reason, CompactionClaims.Claim claim, MemoryRoom.Share memory)
      throws IOException {
    List<TabletFile> chosen = claim.files();
    CompactionWriter.Coverage coverage = claim.coverage();
    long time = dropTime(coverage.maxSequence());
    CompactionWriter.Output output =
        writer.write(
            new CompactionWriter.Inputs(
                () -> cursors(claim, memory),
                claim.hasOldest() ? VersionFilter.Past.WHOLE : VersionFilter.Past.UNSEEN,
                chosen.stream().anyMatch(TabletFile::hasTombstones),
                operations(chosen),
                this::keepPace,
                time),
            coverage,
            claim.rules(),
            MemoryPlan.REWRITE_GROUPS);
    edits.alone(
        () -> {
          if (!core.pins().allow(coverage, claim.rules(), time)) {
            writer.discard(output);
            throw voided("it was pinned during the " + reason);
          }
          if (!areCurrent(chosen)) {
            writer.discard(output);
            throw voided("rows or families of it were cleared during the " + reason);
          }
          boolean done =
              commit(
                  reason,
                  new Written(output, coverage, claim.rules()),
                  chosen,
                  0,
                  before -> before.compacted(chosen, output));
          if (!done) {
            throw voided("its schema was altered during the " + reason);
          }
        });
    environment.compactions().rewriting().add(output.files());
  }

  private SteleException voided(String why) {
    return SteleException.retryLater(
        "a compaction of tablet " + core.spec().id() + " is void: " + why);
  }

  /** Over the cells of the files; the cursors opened before were closed. */
  private List<CellCursor> cursors(CompactionClaims.Claim claim, MemoryRoom.Share memory) {
    memory.reuse();
    ReadOptions options = ReadOptions.compaction(claim.files().size(), memory);
    return claim.files().stream()
        .map(file -> file.cursorToCompact(core.spec().extent(), options, claim.rules()))
        .toList();
  }

  /**
   * Whether none of the files was replaced meanwhile, because rows were cleared or families erased.
   */
  private boolean areCurrent(List<TabletFile> files) {
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

  private void keepPace(long bytes) throws IOException {
    if (rewritesAborted) {
      throw SteleException.retryLater(
          "tablet "
              + core.spec().id()
              + " is about to leave this server or to be split: its"
              + " compactions end");
    }
    // Files may have accumulated since the last step.
    if (!hasLayers(core.options().merging().stackMax())) {
      environment.pace().passed(bytes);
    }
  }

  /**
   * Makes a compaction durable, then visible; false if it is void: it left out cells, and policies
   * have been altered since, so that these may be visible.
   */
  private boolean commit(
      String reason,
      Written written,
      List<TabletFile> removed,
      long boundary,
      UnaryOperator<TabletState> change)
      throws IOException {
    return edits.alone(
        () -> {
          committing = Optional.of(written); // First: whoever alters the schema looks for it after.
          try {
            if (!written.suits(core.rules())) {
              writer.discard(written.output());
              return false;
            }
            ManifestEdit edit =
                edits
                    .edit(reason, boundary)
                    .add(written.output().refs())
                    .remove(removed.stream().map(TabletFile::ref).toList())
                    .build();
            commit(edit, written.output(), change);
            return true;
          } finally {
            committing = Optional.empty();
          }
        });
  }

  private void commit(
      ManifestEdit edit, CompactionWriter.Output output, UnaryOperator<TabletState> change)
      throws IOException {
    edits.commit(edit, output);
    try {
      core.current().swap(change);
    } finally {
      output.files().forEach(TabletFile::release); // Now the state holds it.
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
