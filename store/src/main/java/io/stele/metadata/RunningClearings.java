package io.stele.metadata;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.SteleException;
import java.io.IOException;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The changes that clear rows of tables, listed so that commits of jobs find those in progress. A
 * change clears tablet after tablet: a job that commits in between would be cleared in some tablets
 * and stay in others.
 *
 * <p>Each has a node in the lock service. The node decides nothing: whether the change is in
 * progress is read from its table's name. So a node that stays too long does no harm. Safe for use
 * by any number of threads.
 */
final class RunningClearings {
  private static final Logger LOG = LoggerFactory.getLogger(RunningClearings.class);

  private final LockService locks;
  private final TableNames names;

  RunningClearings(LockService locks, TableNames names) {
    this.locks = locks;
    this.names = names;
  }

  /** Lists a change in progress, unless it is listed. */
  void add(String table, SchemaChange change) throws IOException {
    try {
      locks.create(LockPaths.clearing(change.id()), Bytes.of(change.sequence() + " " + table));
    } catch (SteleException e) {
      if (e.code() != SteleException.Code.ALREADY_EXISTS) {
        throw e;
      }
    }
  }

  /** Removes a change that has ended. */
  void remove(String id) throws IOException {
    Optional<VersionedData> node = locks.read(LockPaths.clearing(id));
    if (node.isPresent()) {
      locks.delete(LockPaths.clearing(id), node.get().version());
    }
  }

  /** A table from which rows are being cleared; changes that have ended are removed. */
  Optional<String> table() throws IOException {
    for (String id : locks.children(LockPaths.CLEARINGS)) {
      Optional<VersionedData> node = locks.read(LockPaths.clearing(id));
      Optional<String> table = node.isEmpty() ? Optional.empty() : running(id, node.get().data());
      if (table.isPresent()) {
        return table;
      }
      forget(id);
    }
    return Optional.empty();
  }

  private void forget(String id) throws IOException {
    try {
      remove(id);
    } catch (SteleException e) { // Whoever only looks must not fail by this.
      LOG.info("The change {} has ended; the next commit removes its node: {}", id, e.toString());
    }
  }

  private Optional<String> running(String id, Bytes data) throws IOException {
    String[] words = data.toUtf8().split(" ", 2);
    try {
      return names.isRunning(words[1], Long.parseLong(words[0]))
          ? Optional.of(words[1])
          : Optional.empty();
    } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
      LOG.error("Node {} is damaged and is removed: {}", LockPaths.clearing(id), data, e);
      return Optional.empty();
    } catch (CorruptionException e) { // Then no server clears anything for it.
      LOG.error("The change {} cannot be read; jobs do not wait for it", id, e);
      return Optional.empty();
    }
  }
}
