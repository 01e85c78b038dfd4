package io.stele.tablet;

import io.stele.config.MemoryPlan;
import io.stele.format.CellCursor;
import io.stele.model.Bytes;
import io.stele.model.SteleException;
import io.stele.runtime.MemoryRoom;
import io.stele.sstable.ReadOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Merging and major compactions of one tablet: each <em>picks</em> files, <em>writes</em> new ones
 * in their place, <em>commits</em> them to the manifest, and <em>swaps</em> the state.
 *
 * <p>One that fails before its commit changes nothing, and deletes the files it began. (After a
 * crash the sweep finds such files: their names contain the tablet's epoch, and no record names
 * them.)
 *
 * <p>At most one runs at a time for each {@link FileStack}, at the same time as a minor compaction.
 * Safe for use by any number of threads.
 */
final class Rewriter {
  private static final Logger LOG = LoggerFactory.getLogger(Rewriter.class);

  private static final int CROWDED = 2;

  private final TabletCore core;
  private final TabletEnvironment environment;
  private final CompactionWriter writer;
  private final CompactionPicker picker;
  private final CompactionClaims claims;
  private final ManifestEdits edits;
  private final CompactionCommit commit;
  private volatile boolean aborted;

  /** The rewrites of a tablet's files. */
  Rewriter(TabletCore core, CompactionWriter writer, ManifestEdits edits, CompactionCommit commit) {
    this.core = core;
    this.environment = core.environment();
    this.writer = writer;
    this.picker = new CompactionPicker(core.options());
    this.claims = new CompactionClaims(core);
    this.edits = edits;
    this.commit = commit;
  }

  /** See {@link Tablet#abortRewrites}. */
  void abort() {
    aborted = true;
  }

  /** See {@link Tablet#allowRewrites}. */
  void allow() {
    aborted = false;
  }

  /** See {@link Tablet#areRewritesAborted}. */
  boolean isAborted() {
    return aborted;
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
              commit.commit(
                  reason,
                  new CompactionCommit.Result(output, coverage, claim.rules()),
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
    if (aborted) {
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
}
