package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.sstable.ReadOptions;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * Minor, merging and major compactions of one tablet. Each is a call that <em>picks</em> its
 * inputs, <em>writes</em> a new file, <em>commits</em> it to the manifest, <em>swaps</em> the
 * snapshot.
 *
 * <p>Until the commit nothing has changed, and a file that was begun is deleted (after a crash the
 * sweep finds it: it has the tablet's epoch in its name and no record names it). After the commit
 * only the swap is left, which cannot fail unless the tablet was closed meanwhile. Of the commit
 * itself the outcome must be known, or the tablet stops.
 *
 * <p>One minor compaction runs at a time, and beside it one of the others; commits are one by one.
 * Safe for use by any number of threads.
 */
final class Compactor {
  private final RowRange extent;
  private final TabletEnvironment environment;
  private final Snapshots snapshots;
  private final WritePath writes;
  private final OperationWindow window;
  private final Supplier<SchemaRules> rules;
  private final TabletClock clock;
  private final Health health;
  private final Counters counters;
  private final CompactionWriter writer;
  private final long replayedTo;
  private final ReentrantLock minor = new ReentrantLock();
  private final ReentrantLock larger = new ReentrantLock();
  private final ReentrantLock committing = new ReentrantLock();

  Compactor(
      RowRange extent,
      TabletEnvironment environment,
      Snapshots snapshots,
      WritePath writes,
      OperationWindow window,
      Supplier<SchemaRules> rules,
      TabletClock clock,
      Health health,
      Counters counters,
      CompactionWriter writer,
      long replayedTo) {
    this.extent = extent;
    this.environment = environment;
    this.snapshots = snapshots;
    this.writes = writes;
    this.window = window;
    this.rules = rules;
    this.clock = clock;
    this.health = health;
    this.counters = counters;
    this.writer = writer;
    this.replayedTo = replayedTo;
  }

  /** Writes all memtables to one file; false where there is nothing in them. */
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

  /** Merges files of similar size; false where there are not enough of them. */
  boolean mergingCompact() throws IOException {
    larger.lock();
    try {
      health.check();
      Snapshot snapshot = snapshots.acquire();
      try {
        Optional<CompactionPicker.Pick> pick = pick(snapshot);
        if (pick.isEmpty()) {
          return false;
        }
        int from = pick.get().from();
        int to = pick.get().to();
        compact("merging compaction", snapshot, snapshot.files().subList(from, to));
        return true;
      } finally {
        snapshot.release();
      }
    } finally {
      larger.unlock();
    }
  }

  /** Writes all files again as one; false where there are none. */
  boolean majorCompact() throws IOException {
    larger.lock();
    try {
      health.check();
      Snapshot snapshot = snapshots.acquire();
      try {
        if (snapshot.files().isEmpty()) {
          return false;
        }
        compact("major compaction", snapshot, snapshot.files());
        return true;
      } finally {
        snapshot.release();
      }
    } finally {
      larger.unlock();
    }
  }

  /** Whether {@link #mergingCompact} would find something to do. */
  boolean wantsMerging() {
    return pick(snapshots.peek()).isPresent();
  }

  private Optional<CompactionPicker.Pick> pick(Snapshot snapshot) {
    long[] bytes = snapshot.files().stream().mapToLong(TabletFile::bytes).toArray();
    return CompactionPicker.pick(bytes, environment.options());
  }

  private void minorCompact(Snapshot snapshot, List<Snapshot.Frozen> frozen) throws IOException {
    long boundary = frozen.get(0).boundary();
    CompactionWriter.Output output =
        writer.write(
            new CompactionWriter.Inputs(
                frozen.stream().map(one -> one.memtable().cursor(Long.MAX_VALUE)).toList(),
                snapshot.files().isEmpty() ? CellSieve.Past.WHOLE : CellSieve.Past.UNSEEN,
                frozen.stream().anyMatch(one -> one.memtable().hasTombstones()),
                window.encode(boundary, clock.now()),
                snapshot.redoPoint() + 1,
                boundary),
            rules.get());
    commit(
        "minor compaction",
        output,
        List.of(),
        boundary,
        now -> now.minorCompacted(frozen, output.files(), output.readableFrom()));
    counters.minorCompactions.increment();
    environment.log().release(boundary);
  }

  private void compact(String reason, Snapshot snapshot, List<TabletFile> chosen)
      throws IOException {
    TabletFile newest = chosen.get(0);
    TabletFile oldest = chosen.get(chosen.size() - 1);
    boolean whole = oldest == snapshot.files().get(snapshot.files().size() - 1);
    OperationWindow operations = window.ofSameLength();
    for (TabletFile file : chosen) {
      Optional<Bytes> block = file.table().metaBlock(OperationWindow.META_BLOCK);
      if (block.isPresent()) {
        operations.restore(block.get());
      }
    }
    List<CellCursor> cursors = new ArrayList<>();
    for (TabletFile file : chosen) {
      cursors.add(file.cursor(extent, ReadOptions.COMPACTION));
    }
    CompactionWriter.Output output =
        writer.write(
            new CompactionWriter.Inputs(
                cursors,
                whole ? CellSieve.Past.WHOLE : CellSieve.Past.UNSEEN,
                chosen.stream().anyMatch(TabletFile::hasTombstones),
                operations.encode(Long.MAX_VALUE, clock.now()),
                oldest.ref().minSequence(),
                newest.ref().maxSequence()),
            rules.get());
    commit(
        reason,
        output,
        chosen,
        0,
        now -> now.compacted(chosen, output.files(), output.readableFrom()));
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
