package io.stele.tablet;

import io.stele.config.MemoryPlan;
import io.stele.runtime.Futures;
import io.stele.runtime.IoCallable;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.Lock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Minor compactions of one tablet: each writes all memtables to files, so that the log need not
 * keep their records.
 *
 * <p>One that fails before its commit changes nothing, and deletes the files it began. (After a
 * crash the sweep finds such files: their names contain the tablet's epoch, and no record names
 * them.)
 *
 * <p>One runs at a time. Safe for use by any number of threads.
 */
final class MinorCompactor {
  private static final Logger LOG = LoggerFactory.getLogger(MinorCompactor.class);

  private final TabletCore core;
  private final TabletEnvironment environment;
  private final Sequencer sequencer;
  private final CompactionWriter writer;
  private final CompactionCommit commit;
  private final Lock lock; // Held over I/O.

  /** The minor compactions of a tablet. */
  MinorCompactor(
      TabletCore core, Sequencer sequencer, CompactionWriter writer, CompactionCommit commit) {
    this.core = core;
    this.environment = core.environment();
    this.sequencer = sequencer;
    this.writer = writer;
    this.commit = commit;
    this.lock = environment.runtime().newLock();
  }

  /** Writes all memtables to SSTables; false if they are empty. */
  boolean compact() throws IOException {
    return between(this::writeMemtables);
  }

  /**
   * Makes a change while no minor compaction runs, so that no file gets newer operations. The
   * change may {@link #writeMemtables} itself.
   */
  <T> T between(IoCallable<T> change) throws IOException {
    lock.lock();
    try {
      return change.call();
    } finally {
      lock.unlock();
    }
  }

  /** Makes a minor compaction, {@link #between between others}; false if nothing is new. */
  boolean writeMemtables() throws IOException {
    core.health().check();
    boolean wrote = writeFormer();
    sequencer.freeze();
    return writeFrozen() || wrote;
  }

  /**
   * Like {@link #writeMemtables}, and divides the changes that are in files then from later ones.
   *
   * @return a timestamp between theirs, as {@link Sequencer#freezeForPin} says
   */
  long writeMemtablesForPin() throws IOException {
    core.health().check();
    writeFormer();
    long timestamp = sequencer.freezeForPin();
    writeFrozen();
    return timestamp;
  }

  /** Writes the memtables of calls that failed if they are several: or there would be ever more. */
  private boolean writeFormer() throws IOException {
    return core.current().peek().frozen().size() > 1 && writeFrozen();
  }

  private boolean writeFrozen() throws IOException {
    TabletState state = core.current().acquire();
    try {
      List<TabletState.Frozen> frozen = state.frozen();
      if (frozen.isEmpty()) {
        return false;
      }
      await(frozen.get(0).durable());
      while (!compact(state, frozen)) {
        LOG.info("The schema of {} was altered during a minor compaction", core.spec().id());
      }
      return true;
    } finally {
      state.release();
    }
  }

  /** False if nothing was done, because the schema was altered meanwhile. */
  private boolean compact(TabletState state, List<TabletState.Frozen> frozen) throws IOException {
    long boundary = frozen.get(0).boundary();
    SchemaRules rules = core.rules();
    CompactionWriter.Coverage coverage =
        new CompactionWriter.Coverage(
            state.redoPoint() + 1, boundary, boundary, rules.families(), core.clock().now());
    CompactionWriter.Output output =
        writer.write(
            new CompactionWriter.Inputs(
                () -> frozen.stream().map(part -> part.memtable().cursor(Long.MAX_VALUE)).toList(),
                state.files().isEmpty() ? VersionFilter.Past.WHOLE : VersionFilter.Past.UNSEEN,
                frozen.stream().anyMatch(part -> part.memtable().hasTombstones()),
                core.window().encodeRecent(state.redoPoint(), boundary),
                CompactionPace.UNLIMITED,
                core.clock().whenDropping()),
            coverage,
            rules,
            MemoryPlan.MINOR_GROUPS);
    boolean done =
        commit.commit(
            "minor compaction",
            new CompactionCommit.Result(output, coverage, rules),
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
