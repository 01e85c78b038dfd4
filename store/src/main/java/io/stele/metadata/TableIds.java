package io.stele.metadata;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.model.TableId;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.util.Collection;
import java.util.Optional;

/**
 * The ids of tables, {@code t1}, {@code t2} and so on: no two tables ever have the same. A node of
 * the lock service counts them. Safe for use by any number of threads.
 */
final class TableIds {
  private static final int ATTEMPTS_MAX = 100;

  /** More tables are not made between two copies of the lock service's nodes. */
  private static final long SKIPPED = 10_000;

  private final ProcessRuntime runtime;
  private final LockService locks;

  TableIds(ProcessRuntime runtime, LockService locks) {
    this.runtime = runtime;
    this.locks = locks;
  }

  /** An id that no table ever had. */
  TableId next() throws IOException {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      Optional<VersionedData> last = locks.read(LockPaths.TABLE_IDS);
      try {
        if (last.isEmpty()) {
          // The counter may have been lost.
          locks.create(LockPaths.TABLE_IDS, counter(highest(locks.children(LockPaths.TABLES))));
          continue;
        }
        long next = number(last.get().data()) + 1;
        TableId id = new TableId("t" + next);
        if (locks.write(LockPaths.TABLE_IDS, counter(next), last.get().version()).isPresent()
            && locks.read(LockPaths.table(id)).isEmpty()) {
          return id;
        }
      } catch (SteleException e) {
        if (e.code() != Code.OUTCOME_UNKNOWN && e.code() != Code.ALREADY_EXISTS) {
          throw e;
        } // Another number does as well.
      }
    }
    throw SteleException.retryLater(
        "could not allocate a table id: another writer won every attempt");
  }

  /**
   * Counts on from a copy of the counter, if there is no counter. Tables may have been made since
   * it was copied, so many ids are left out.
   *
   * @param copied the counter's data; empty if there was none
   * @param ids that tables have
   */
  void restore(Optional<Bytes> copied, Collection<String> ids) throws IOException {
    if (locks.read(LockPaths.TABLE_IDS).isEmpty()) {
      long last = Math.max(highest(ids), copied.isEmpty() ? 0 : number(copied.get()));
      locks.create(LockPaths.TABLE_IDS, counter(last + SKIPPED));
    }
  }

  private static long highest(Collection<String> ids) {
    return ids.stream()
        .filter(id -> id.matches("t[0-9]{1,18}"))
        .mapToLong(id -> Long.parseLong(id.substring(1)))
        .max()
        .orElse(0);
  }

  /** The number of the newest id, of the counter's data. */
  static long number(Bytes counter) throws CorruptionException {
    String text = counter.toUtf8();
    try {
      return Long.parseLong(text.substring(0, Math.max(0, text.indexOf(' '))));
    } catch (NumberFormatException e) {
      throw new CorruptionException(
          "ZooKeeper node " + LockPaths.TABLE_IDS, 0, "it has no number: " + text, e);
    }
  }

  // The second word distinguishes writers of the same number.
  private Bytes counter(long number) {
    return Bytes.of(number + " " + UniqueName.of(runtime));
  }
}
