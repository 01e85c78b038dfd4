package io.stele.tablet;

import io.stele.model.SteleException;
import io.stele.record.ManifestEdit;
import io.stele.runtime.IoCallable;
import io.stele.runtime.IoRunnable;
import java.io.IOException;
import java.util.concurrent.locks.Lock;

/**
 * Commits edits of a tablet's manifest, one at a time.
 *
 * <p>A change runs {@link #alone}, from before it decides what to commit until the state says the
 * same. Safe for use by any number of threads.
 */
final class ManifestEdits {
  private final TabletCore core;
  private final CompactionWriter writer;
  private final long replayedTo;
  private final Lock lock; // Held over I/O.

  /**
   * Edits of a tablet's manifest.
   *
   * @param replayedTo the highest sequence number that was replayed when the tablet was opened
   */
  ManifestEdits(TabletCore core, CompactionWriter writer, long replayedTo) {
    this.core = core;
    this.writer = writer;
    this.replayedTo = replayedTo;
    this.lock = core.environment().runtime().newLock();
  }

  /** Makes a change that has no result; see {@link #alone(IoCallable)}. */
  void alone(IoRunnable change) throws IOException {
    alone(
        () -> {
          change.run();
          return true;
        });
  }

  /** Makes a change, while no other is made of those that commit edits. */
  <T> T alone(IoCallable<T> change) throws IOException {
    lock.lock();
    try {
      return change.call();
    } finally {
      lock.unlock();
    }
  }

  /** An edit after which everything up to {@code boundary}, or more, is in the files. */
  ManifestEdit.Builder edit(String reason, long boundary) {
    long redoPoint = Math.max(core.current().peek().redoPoint(), boundary);
    return ManifestEdit.builder(reason)
        .reach(redoPoint, core.clock().highest())
        .coversReplay(redoPoint >= replayedTo);
  }

  /** Commits an edit that names new files. If the edit certainly failed, the files are deleted. */
  void commit(ManifestEdit edit, CompactionWriter.Output output) throws IOException {
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

  /** Commits an edit. A failure stops the tablet, unless it is certain that nothing was changed. */
  void commit(ManifestEdit edit) throws IOException {
    try {
      core.health().check();
      core.environment().manifest().commit(edit);
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
}
