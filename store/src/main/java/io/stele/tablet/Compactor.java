package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.model.Bytes;
import io.stele.model.SteleException;
import io.stele.sstable.ReadOptions;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * Minor, merging and major compactions of one tablet. Each is a call that <em>picks</em> its
 * inputs, <em>writes</em> new files, <em>commits</em> them to the manifest, <em>swaps</em> the
 * snapshot.
 *
 * <p>Until the commit nothing has changed, and files that were begun are deleted (after a crash the
 * sweep finds them: they have the tablet's epoch in their names and no record names them). After
 * the commit only the swap is left, which cannot fail unless the tablet was closed meanwhile. Of
 * the commit itself the outcome must be known, or the tablet stops.
 *
 * <p>One minor compaction runs at a time, and beside it one larger one for each {@link FileStack};
 * commits are one by one. Safe for use by any number of threads.
 */
final class Compactor {
  private static final int CROWDED = 2;

  private final TabletEnvironment environment;
  private final TabletSpec spec;
  private final Snapshots snapshots;
  private final WritePath writes;
  private final OperationWindow window;
  private final Supplier<SchemaRules> rules;
  private final TabletClock clock;
  private final Health health;
  private final Counters counters;
  private final CompactionWriter writer;
  private final CompactionPicker picker;
  private final long replayedTo;
  private final StackClaims claims;
  private final ReentrantLock minor = new ReentrantLock();
  private final ReentrantLock committing = new ReentrantLock();

  Compactor(
      TabletSpec spec,
      TabletEnvironment environment,
      Snapshots snapshots,
      WritePath writes,
      OperationWindow window,
      Supplier<SchemaRules> rules,
      TabletClock clock,
      Health health,
      Counters counters,
      long replayedTo) {
    this.spec = spec;
    this.environment = environment;
    this.snapshots = snapshots;
    this.writes = writes;
    this.window = window;
    this.rules = rules;
    this.clock = clock;
    this.health = health;
    this.counters = counters;
    this.writer = new CompactionWriter(spec.id(), spec.epoch(), spec.extent(), environment, clock);
    this.picker = new CompactionPicker(environment.options());
    this.replayedTo = replayedTo;
    this.claims = new StackClaims(snapshots, rules);
  }

  /** Writes all memtables to SSTables; false where there is nothing in them. */
  boolean minorCompact() throws IOException {
    minor.lock();
    try {
      health.check();
      writes.freeze();
      Snapshot snapshot = snapshots.acquire();
      try {
        List<Snapshot.Frozen> frozen = snapshot.frozen();
        if (frozen.isEmpty()) {
          return false;
        }
        await(frozen.get(0).durable());
        minorCompact(snapshot, frozen);
        return true;
      } finally {
        snapshot.release();
      }
    } finally {
      minor.unlock();
    }
  }

  /** Merges files of similar size, or of changed locality groups; false where there are none. */
  boolean mergingCompact() throws IOException {
    return compactOne("merging compaction", this::toMerge);
  }

  /** Rids one locality group of garbage; false where none has any that is {@link #isDue due}. */
  boolean collectGarbage(Duration interval) throws IOException {
    return compactOne("major compaction", stack -> toCollect(stack, interval));
  }

  /** Writes all files again, those of a locality group as one; false where there are none. */
  boolean majorCompact() throws IOException {
    health.check();
    List<StackClaims.Claim> all = claims.takeAll();
    try {
      for (StackClaims.Claim claim : all) {
        compact("major compaction", claim);
      }
    } finally {
      all.forEach(claims::release);
    }
    return !all.isEmpty();
  }

  /** Whether {@link #mergingCompact} would find something to do, if nothing else were done now. */
  boolean wantsMerging() {
    return wants(this::toMerge);
  }

  /** Whether {@link #collectGarbage} would find something to do. */
  boolean wantsToCollect(Duration interval) {
    return wants(stack -> toCollect(stack, interval));
  }

  /** Whether some stack has so many layers that more should wait. */
  boolean isCrowded() {
    return snapshots.peek().stacks(rules.get()).stream()
        .anyMatch(stack -> stack.layers().size() > CROWDED * environment.options().filesMax());
  }

  private boolean wants(Function<FileStack, Optional<List<FileStack.Layer>>> choice) {
    return snapshots.peek().stacks(rules.get()).stream()
        .anyMatch(stack -> choice.apply(stack).isPresent());
  }

  private Optional<List<FileStack.Layer>> toMerge(FileStack stack) {
    return picker.toMerge(stack, rules.get());
  }

  private Optional<List<FileStack.Layer>> toCollect(FileStack stack, Duration interval) {
    return picker.isDue(stack, rules.get(), clock.now(), interval)
        ? Optional.of(stack.layers())
        : Optional.empty();
  }

  private boolean compactOne(
      String reason, Function<FileStack, Optional<List<FileStack.Layer>>> choice)
      throws IOException {
    health.check();
    Optional<StackClaims.Claim> claim = claims.take(choice);
    if (claim.isEmpty()) {
      return false;
    }
    try {
      compact(reason, claim.get());
      return true;
    } finally {
      claims.release(claim.get());
    }
  }

  private void minorCompact(Snapshot snapshot, List<Snapshot.Frozen> frozen) throws IOException {
    long boundary = frozen.get(0).boundary();
    SchemaRules now = rules.get();
    CompactionWriter.Output output =
        writer.write(
            new CompactionWriter.Inputs(
                frozen.stream().map(one -> one.memtable().cursor(Long.MAX_VALUE)).toList(),
                snapshot.files().isEmpty() ? CellSieve.Past.WHOLE : CellSieve.Past.UNSEEN,
                frozen.stream().anyMatch(one -> one.memtable().hasTombstones()),
                window.encode(boundary, clock.now()),
                snapshot.redoPoint() + 1,
                boundary,
                now.families(),
                clock.now(),
                CompactionPace.UNLIMITED),
            now);
    commit(
        "minor compaction",
        output,
        List.of(),
        boundary,
        before -> before.minorCompacted(frozen, output.files(), output.readableFrom()));
    counters.minorCompactions.increment();
    environment.log().release(boundary);
  }

  private void compact(String reason, StackClaims.Claim claim) throws IOException {
    List<TabletFile> chosen = claim.files();
    OperationWindow operations = window.ofSameLength();
    for (TabletFile file : chosen) {
      Optional<Bytes> block = file.table().metaBlock(OperationWindow.META_BLOCK);
      if (block.isPresent()) {
        operations.restore(block.get());
      }
    }
    List<CellCursor> cursors = new ArrayList<>();
    for (TabletFile file : chosen) {
      cursors.add(file.cursor(spec.extent(), ReadOptions.COMPACTION));
    }
    boolean tooMany = claim.stack().layers().size() > environment.options().filesMax();
    CompactionWriter.Output output =
        writer.write(
            new CompactionWriter.Inputs(
                cursors,
                claim.hasOldest() ? CellSieve.Past.WHOLE : CellSieve.Past.UNSEEN,
                chosen.stream().anyMatch(TabletFile::hasTombstones),
                operations.encode(Long.MAX_VALUE, clock.now()),
                chosen.stream().mapToLong(file -> file.ref().minSequence()).min().orElseThrow(),
                chosen.stream().mapToLong(file -> file.ref().maxSequence()).max().orElseThrow(),
                claim.families(),
                claim.stack().collectedMicros(),
                tooMany ? CompactionPace.UNLIMITED : environment.pace()),
            rules.get());
    commit(
        reason,
        output,
        chosen,
        0,
        before -> before.compacted(chosen, output.files(), output.readableFrom()));
    counters.largerCompactions.increment();
  }

  /** Makes a compaction durable, then visible. */
  private void commit(
      String reason,
      CompactionWriter.Output output,
      List<TabletFile> removed,
      long boundary,
      UnaryOperator<Snapshot> change)
      throws IOException {
    committing.lock();
    try {
      long redoPoint = Math.max(snapshots.peek().redoPoint(), boundary);
      ManifestEdit edit =
          new ManifestEdit(
              reason,
              output.refs(),
              removed.stream().map(file -> file.ref().path()).toList(),
              redoPoint,
              clock.highest(),
              redoPoint >= replayedTo);
      try {
        health.check();
        environment.manifest().commit(edit);
      } catch (IOException e) {
        writer.discard(output);
        throw e;
      } catch (SteleException e) {
        if (e.code() == SteleException.Code.RETRY_LATER) {
          writer.discard(output);
        } else {
          health.stop(e); // It may name the new file: that is left where it is.
          output.files().forEach(TabletFile::release);
        }
        throw e;
      } catch (RuntimeException | Error e) {
        health.stop(e);
        output.files().forEach(TabletFile::release);
        throw e;
      }
      try {
        snapshots.swap(change);
      } finally {
        output.files().forEach(TabletFile::release); // Now the snapshot holds it.
      }
    } finally {
      committing.unlock();
    }
  }

  private static void await(CompletableFuture<Void> durable) throws IOException {
    try {
      durable.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw (InterruptedIOException)
          new InterruptedIOException("a minor compaction was interrupted").initCause(e);
    } catch (ExecutionException e) {
      throw new IOException(
          "a minor compaction cannot go on: the log failed with what it would write", e.getCause());
    }
  }
}
