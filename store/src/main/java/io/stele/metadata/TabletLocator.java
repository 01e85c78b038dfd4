package io.stele.metadata;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.model.Bytes;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.RejectedExecutionException;

/**
 * Finds the tablet that has a row, in three levels: the lock service knows the root tablet, its
 * rows tell where METADATA's tablets are, and theirs where all others are.
 *
 * <p>What was found is kept until {@link #invalidate}d: it may be out of date, and the server asked
 * then says so. The lock service is asked only when the root tablet is not where it was.
 *
 * <p>Safe for use by any number of threads.
 */
public final class TabletLocator implements AutoCloseable {
  private static final int ROWS_AHEAD = 16;
  private static final Bytes ROOT_KEY = MetadataKeys.row(TableId.ROOT, Bytes.EMPTY);

  private final RootRecordRows root;
  private final TabletAccess access;
  // By key of the METADATA row: the tablet with a row is the first at or above the row's lookup
  // key.
  private final ConcurrentSkipListMap<Bytes, TabletLocation> known = new ConcurrentSkipListMap<>();
  private final ConcurrentMap<Bytes, CompletableFuture<TabletLocation>> searches =
      new ConcurrentHashMap<>();
  private final WorkerPool lockServiceReader;

  TabletLocator(ProcessRuntime runtime, LockService locks, TabletAccess access) {
    this.root = new RootRecordRows(runtime, locks);
    this.access = access;
    this.lockServiceReader = runtime.pool("tablet-locator", 1);
  }

  /**
   * The tablet with {@code row} in it, as known or as METADATA has it now.
   *
   * <p>The future fails with RETRY_LATER while nobody serves the tablet, or METADATA has none yet;
   * NOT_FOUND where the table has no tablets.
   */
  public CompletableFuture<TabletLocation> locate(TableId table, Bytes row, Deadline deadline) {
    Optional<TabletLocation> found = cached(table, row);
    if (found.isPresent()) {
      return CompletableFuture.completedFuture(found.get());
    }
    Bytes key = table.equals(TableId.ROOT) ? ROOT_KEY : MetadataKeys.lookup(table, row);
    CompletableFuture<TabletLocation> search = new CompletableFuture<>();
    CompletableFuture<TabletLocation> other = searches.putIfAbsent(key, search);
    if (other != null) {
      return other;
    }
    (table.equals(TableId.ROOT)
            ? searchRoot()
            : search(table, row, key, new ArrayList<>(), deadline))
        .whenComplete(
            (location, failure) -> {
              searches.remove(key, search);
              if (failure != null) {
                search.completeExceptionally(Futures.cause(failure));
              } else {
                search.complete(location);
              }
            });
    return search;
  }

  /** What is known without asking. */
  public Optional<TabletLocation> cached(TableId table, Bytes row) {
    Map.Entry<Bytes, TabletLocation> entry =
        known.ceilingEntry(table.equals(TableId.ROOT) ? ROOT_KEY : MetadataKeys.lookup(table, row));
    return Optional.ofNullable(entry)
        .map(Map.Entry::getValue)
        .filter(
            location -> location.tablet().table().equals(table) && location.extent().contains(row));
  }

  /** Forgets {@code location}: the tablet was not there. */
  public void invalidate(TabletLocation location) {
    known.remove(key(location), location);
  }

  /** Forgets all tablets of {@code table}. */
  public void invalidate(TableId table) {
    RowRange rows = MetadataKeys.table(table);
    known.subMap(rows.start(), rows.end()).clear();
  }

  private CompletableFuture<TabletLocation> searchRoot() {
    try {
      return CompletableFuture.supplyAsync(this::readRoot, lockServiceReader);
    } catch (RejectedExecutionException e) {
      return CompletableFuture.failedFuture(new IOException("this locator is closed", e));
    }
  }

  private TabletLocation readRoot() {
    try {
      List<Row> rows = root.scan(RowRange.ALL, 1);
      TabletLocation location =
          rows.isEmpty()
              ? null
              : RecordCodec.decode(rows.get(0), LockPaths.ROOT)
                  .flatMap(TabletRecord::location)
                  .orElse(null);
      if (location == null) {
        throw SteleException.retryLater("the root tablet is not served at this moment");
      }
      known.put(ROOT_KEY, location);
      return location;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Goes through METADATA from {@code from} on, over its tablets' ends, to the first record that
   * counts without a doubt.
   *
   * @param marked records met so far, all of them marked
   */
  private CompletableFuture<TabletLocation> search(
      TableId table, Bytes row, Bytes from, List<TabletRecord> marked, Deadline deadline) {
    TableId records = MetadataKeys.recordsOf(table);
    Bytes end = MetadataKeys.table(table).end();
    RowQuery query =
        RowQuery.ALL
            .range(new RowRange(from, end))
            .family(RecordCodec.EXTENT)
            .family(RecordCodec.ASSIGNMENT)
            .family(RecordCodec.SPLIT)
            .versions(1)
            .limit(ROWS_AHEAD);
    return access
        .rows(records, from, query, deadline)
        .thenCompose(
            page -> {
              try {
                List<TabletRecord> inOrder = new ArrayList<>(marked);
                for (Row found : page.rows()) {
                  RecordCodec.decode(found, records.value()).ifPresent(inOrder::add);
                }
                int settled = lastUnmarked(inOrder) + 1;
                List<TabletRecord> counting = Tilings.counting(inOrder.subList(0, settled));
                if (!counting.isEmpty()) {
                  return CompletableFuture.completedFuture(remember(table, row, counting));
                }
                Optional<Bytes> next =
                    (page.rows().size() < ROWS_AHEAD
                            ? page.next()
                            : Optional.of(page.rows().get(ROWS_AHEAD - 1).key().successor()))
                        .filter(key -> key.compareTo(end) < 0);
                if (next.isPresent()) {
                  return search(table, row, next.get(), inOrder, deadline);
                }
                throw table.isSystem()
                    ? SteleException.retryLater(
                        "METADATA has no tablets yet: the cluster is being started, try again")
                    : SteleException.notFound(
                        "table " + table + " has no tablets: it was dropped, or never was");
              } catch (IOException e) {
                throw new CompletionException(e);
              }
            });
  }

  private static int lastUnmarked(List<TabletRecord> inOrder) {
    int last = inOrder.size() - 1;
    while (last >= 0 && inOrder.get(last).tentative().isPresent()) {
      last--;
    }
    return last;
  }

  private TabletLocation remember(TableId table, Bytes row, List<TabletRecord> counting) {
    for (TabletRecord record : counting) {
      record.location().ifPresent(location -> known.put(key(location), location));
    }
    TabletRecord first = counting.get(0);
    return Optional.of(first)
        .filter(record -> record.extent().contains(row))
        .flatMap(TabletRecord::location)
        .orElseThrow(
            () ->
                SteleException.retryLater(
                    "the tablet of table "
                        + table
                        + " with row \""
                        + row
                        + "\" is not served at this moment ("
                        + first.assignment()
                        + ")"));
  }

  private static Bytes key(TabletLocation location) {
    return location.tablet().equals(TabletId.ROOT)
        ? ROOT_KEY
        : MetadataKeys.row(location.tablet().table(), location.extent().end());
  }

  @Override
  public void close() {
    lockServiceReader.close();
  }
}
