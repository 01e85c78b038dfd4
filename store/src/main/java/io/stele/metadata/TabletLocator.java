package io.stele.metadata;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.runtime.Deadline;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.ValuesInUse;
import io.stele.runtime.WorkerPool;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;

/**
 * Finds the tablet that has a row, in three levels: the lock service knows the root tablet, its
 * rows tell where METADATA's tablets are, and their rows tell where all others are.
 *
 * <p>Locations are kept until they are forgotten ({@link #forget}). A location may be out of date;
 * the server then says so. The lock service is asked only when the root tablet is no longer at its
 * known location. Each table's {@link TabletDirectory} limits how often a tablet that is not served
 * is looked up.
 *
 * <p>Safe for use by any number of threads.
 */
public final class TabletLocator implements AutoCloseable {
  private static final int ROWS_AHEAD = 16;
  private static final Duration READ_MAX = Duration.ofSeconds(10);

  /** A table that is not asked for any more may be gone: what is known of it is dropped then. */
  private static final Duration UNUSED_MAX = Duration.ofHours(1);

  private final ProcessRuntime runtime;
  private final RootRecordRows root;
  private final TabletAccess access;
  private final ValuesInUse<TableId, TabletDirectory> directories;
  private final WorkerPool lockServiceReader;
  private volatile boolean closed;

  TabletLocator(ProcessRuntime runtime, LockService locks, TabletAccess access) {
    this.runtime = runtime;
    this.root = new RootRecordRows(runtime, locks, READ_MAX);
    this.access = access;
    this.directories =
        new ValuesInUse<>(
            runtime,
            UNUSED_MAX,
            id -> new TabletDirectory(runtime, id, row -> records(id, row)),
            TabletDirectory::isIdle);
    this.lockServiceReader = runtime.pool("tablet-locator", 1);
  }

  /**
   * The tablet that contains {@code row}: at once if its location is known, otherwise once it is
   * served.
   *
   * <p>The future fails with RETRY_LATER if no server serves the tablet before the deadline, and
   * with NOT_FOUND if the table has no tablets.
   */
  public CompletableFuture<TabletLocation> locate(TableId table, Bytes row, Deadline deadline) {
    return closed
        ? CompletableFuture.failedFuture(
            new IllegalStateException("this connection to the cluster is closed"))
        : directory(table).locate(row, deadline);
  }

  /**
   * Whether another server than {@code location} says has the tablet with its first row, as far as
   * METADATA could be read now; for callers that wait for an answer from there.
   */
  CompletableFuture<Boolean> isElsewhere(TabletLocation location) {
    TabletDirectory directory = directory(location.tablet().table());
    return directory
        .check(location)
        .thenApply(
            read ->
                directory
                    .cached(location.extent().start())
                    .filter(now -> !now.server().equals(location.server()))
                    .isPresent());
  }

  /**
   * A request to {@code location} failed and will be sent again. If the tablet is not there, its
   * location is forgotten. A server that has only said "try again" for a while may have lost the
   * tablet and, cut off from the lock service, not know it: then the tablet's record is read, and
   * the location stays in use meanwhile.
   */
  public void doubt(TabletLocation location, Attempts.Decision.Again next) {
    TabletDirectory directory = directory(location.tablet().table());
    if (next.elsewhere()) {
      directory.forget(location);
    } else if (next.lasting()) {
      directory.check(location);
    }
  }

  /** Forgets {@code location}: the tablet was not there. */
  public void forget(TabletLocation location) {
    directory(location.tablet().table()).forget(location);
  }

  /** Forgets all tablets of {@code table}. */
  public void forget(TableId table) {
    directory(table).forget();
  }

  private TabletDirectory directory(TableId table) {
    return directories.get(table);
  }

  private CompletableFuture<List<TabletRecord>> records(TableId table, Bytes row) {
    if (!table.equals(TableId.ROOT)) {
      Deadline deadline = Deadline.after(runtime, READ_MAX);
      return records(table, MetadataKeys.lookup(table, row), new ArrayList<>(), deadline);
    }
    try {
      return CompletableFuture.supplyAsync(this::rootRecord, lockServiceReader);
    } catch (RejectedExecutionException e) {
      return CompletableFuture.failedFuture(new IOException("this locator is closed", e));
    }
  }

  private List<TabletRecord> rootRecord() {
    try {
      List<Row> rows = root.scan(RowRange.ALL, 1);
      if (!rows.isEmpty()) {
        Optional<TabletRecord> record = RecordCodec.decodePlace(rows.get(0), LockPaths.ROOT);
        if (record.isPresent()) {
          return List.of(record.get());
        }
      }
      throw SteleException.retryLater(
          "there is no root tablet yet: the cluster is starting, try again");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Reads METADATA from {@code from} on, by its tablets' ends, up to the first record that is
   * certainly valid.
   *
   * @param tentative records found so far, all of them tentative
   */
  private CompletableFuture<List<TabletRecord>> records(
      TableId table, Bytes from, List<TabletRecord> tentative, Deadline deadline) {
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
              List<TabletRecord> inOrder = new ArrayList<>(tentative);
              Optional<CompletionException> damage = decode(page, records, inOrder);
              List<TabletRecord> valid =
                  ValidRecords.of(inOrder.subList(0, lastNotTentative(inOrder) + 1));
              if (!valid.isEmpty()) {
                return CompletableFuture.completedFuture(valid);
              }
              if (damage.isPresent()) {
                throw damage.get();
              }
              Optional<Bytes> next =
                  (page.rows().size() < ROWS_AHEAD
                          ? page.next()
                          : Optional.of(page.rows().get(ROWS_AHEAD - 1).key().successor()))
                      .filter(key -> key.compareTo(end) < 0);
              if (next.isPresent()) {
                return records(table, next.get(), inOrder, deadline);
              }
              throw table.isSystem()
                  ? SteleException.retryLater(
                      "METADATA has no tablets yet: the cluster is starting, try again")
                  : SteleException.notFound(
                      "table " + table + " has no tablets: it was dropped or never existed");
            });
  }

  /**
   * Adds the records of a page, up to the first that cannot be read: that one does not keep those
   * before it from being found.
   *
   * @return what is wrong with that one
   */
  private static Optional<CompletionException> decode(
      TabletAccess.Rows page, TableId records, List<TabletRecord> inOrder) {
    try {
      for (Row found : page.rows()) {
        RecordCodec.decodePlace(found, records.value()).ifPresent(inOrder::add);
      }
      return Optional.empty();
    } catch (CorruptionException | NewerFormatException e) {
      return Optional.of(new CompletionException(e));
    }
  }

  private static int lastNotTentative(List<TabletRecord> inOrder) {
    int last = inOrder.size() - 1;
    while (last >= 0 && inOrder.get(last).tentative().isPresent()) {
      last--;
    }
    return last;
  }

  @Override
  public void close() {
    closed = true;
    directories.values().forEach(TabletDirectory::close);
    lockServiceReader.close();
  }
}
