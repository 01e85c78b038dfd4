package io.stele.client;

import io.stele.metadata.TabletLocation;
import io.stele.model.Bytes;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

/**
 * A read of rows by their keys. The keys of one tablet are asked for together, and many tablets at
 * the same time.
 *
 * <p>One run only. {@link #run} does not block; the steps of locating follow one another, those of
 * reading share only collections that are safe for it.
 */
final class KeyedRead {
  /** Each may have a page of almost 1 MiB on its way. */
  private static final int READS_AT_ONCE = 32;

  private final Tablets tablets;
  private final TableRef table;
  private final RowQuery query;
  private final long rowBytesMax;
  private final Deadline deadline;
  private final NavigableSet<Bytes> unlocated;
  private final Queue<RowQuery> reads = new ConcurrentLinkedQueue<>();
  private final Map<Bytes, Row> found = new ConcurrentSkipListMap<>();

  /**
   * A read.
   *
   * @param keys the rows
   * @param query what of the rows to return; its ranges and row limit are ignored
   * @param rowBytesMax a row with more bytes than this fails the read
   * @param deadline when it ends
   */
  KeyedRead(
      Tablets tablets,
      TableRef table,
      Collection<Bytes> keys,
      RowQuery query,
      long rowBytesMax,
      Deadline deadline) {
    this.tablets = tablets;
    this.table = table;
    this.query = query.limit(Long.MAX_VALUE);
    this.rowBytesMax = rowBytesMax;
    this.deadline = deadline;
    this.unlocated = new TreeSet<>(keys);
  }

  /** The rows that there are, by their keys in ascending order. */
  CompletableFuture<Map<Bytes, Row>> run() {
    return Futures.repeat(this::locate)
        .thenCompose(
            located ->
                CompletableFuture.allOf(
                    Stream.generate(this::readInTurn)
                        .limit(Math.min(reads.size(), READS_AT_ONCE))
                        .toArray(CompletableFuture[]::new)))
        .thenApply(all -> Collections.unmodifiableMap(found));
  }

  /** Gathers the keys of the next tablet; has a result when there are no more. */
  private CompletableFuture<Optional<Boolean>> locate() {
    if (unlocated.isEmpty()) {
      return CompletableFuture.completedFuture(Optional.of(true));
    }
    return tablets
        .locate(table.id(), unlocated.first(), deadline)
        .thenApply(TabletLocation::extent)
        // A read looks for its tablets itself, and tries again.
        .exceptionally(notLocated -> RowRange.ALL)
        .thenApply(
            extent -> {
              NavigableSet<Bytes> together =
                  extent.end().isEmpty() ? unlocated : unlocated.headSet(extent.end(), false);
              reads.add(query.withRanges(together.stream().map(RowRange::single).toList()));
              together.clear();
              return Optional.empty();
            });
  }

  /** Makes reads, one after another, until none is left or one has failed. */
  private CompletableFuture<Boolean> readInTurn() {
    return Futures.repeat(
            () -> {
              Optional<RowQuery> next = Optional.ofNullable(reads.poll());
              return next.isEmpty()
                  ? CompletableFuture.completedFuture(Optional.of(true))
                  : read(next.get()).thenApply(done -> Optional.<Boolean>empty());
            })
        .whenComplete((done, failure) -> reads.clear());
  }

  private CompletableFuture<Boolean> read(RowQuery rows) {
    AtomicReference<Scan> scan = new AtomicReference<>(Scan.of(rows, rowBytesMax));
    return Futures.repeat(
        () ->
            Objects.requireNonNull(scan.get())
                .read(tablets, table, rows, deadline)
                .thenApply(
                    page -> {
                      page.rows().forEach(row -> found.put(row.key(), row));
                      scan.set(page.next());
                      return page.next().isDone() ? Optional.of(true) : Optional.empty();
                    }));
  }
}
